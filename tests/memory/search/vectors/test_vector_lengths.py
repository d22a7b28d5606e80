"""An embedder that returns vectors of changing lengths."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.search.vectors.embedders import CANARY
from memory.search.vectors.vectors import Vectors
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.fake_embedder import FakeEmbedder


def test_an_embedder_whose_vectors_change_their_length_ends_the_run(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("tea", "boiler", "ferry"):
        talk.say(word)

    def changing(texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.eye(len(texts), 64 if CANARY in texts else 32, dtype=np.float32)

    monkeypatch.setattr(embedder, "embed", changing)
    filled = vectors.fill()
    assert (filled.made, filled.done) == (0, False)
    assert "32 numbers a text" in filled.trouble
