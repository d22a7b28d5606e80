"""A benchmark's vectors are made once, whatever runs again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.proof.embedding import KeptEmbedder


class FakeEmbedder:
    """A vector from a text's length, and whether it is a question; remembers what it was asked."""

    name, remote = "fake", False

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.asked.extend((text, query) for text in texts)
        return np.array([[len(text), query] for text in texts], np.float32).reshape(-1, 2)

    def close(self) -> None: ...


def test_a_text_is_embedded_once_in_one_run_and_in_the_next(tmp_path: Path) -> None:
    fake = FakeEmbedder()
    kept = KeptEmbedder(fake, tmp_path / "cache" / "vectors.db")
    first = kept.embed(["a", "bb", "a"])
    kept.close()
    again = KeptEmbedder(fake, tmp_path / "cache" / "vectors.db")
    assert np.array_equal(again.embed(["bb", "ccc", "a"]), [[2, 0], [3, 0], [1, 0]])
    assert np.array_equal(first, [[1, 0], [2, 0], [1, 0]])
    assert sorted(text for text, _ in fake.asked) == ["a", "bb", "ccc"]
    again.close()


def test_a_question_has_another_vector_than_the_same_words_as_a_text(tmp_path: Path) -> None:
    kept = KeptEmbedder(FakeEmbedder(), tmp_path / "vectors.db")
    assert kept.embed(["x"]).tolist() == [[1, 0]]
    assert kept.embed(["x"], query=True).tolist() == [[1, 1]]
    kept.close()


def test_another_embedder_has_vectors_of_its_own_and_no_text_has_none(tmp_path: Path) -> None:
    one, other = FakeEmbedder(), FakeEmbedder()
    other.name = "other"
    for fake in (one, other):
        kept = KeptEmbedder(fake, tmp_path / "vectors.db")
        kept.embed(["x"])
        assert kept.embed([]).shape == (0, 2)
        kept.close()
    assert one.asked == other.asked == [("x", False)]
