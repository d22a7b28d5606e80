"""The whole way with real embedders: a llama.cpp server, and onnxruntime; one after the other."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from models.embed.open import open_embedder
from models.embed.port import Embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings
from tests.memory.search.conversation import Talk
from tests.models.embed.embedding_server import embedding_llama
from tests.models.embed.tiny_models import bag_onnx
from tests.scripted_models import scripted_gguf


def opened(name: str) -> Embedder:
    found = open_embedder(name, settings=EmbedSettings(), models=ModelSettings(), env={})
    assert found is not None
    return found


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with embedding_llama(scripted_gguf(tmp_path_factory.mktemp("gguf") / "bag.gguf", "so")) as address:
        yield address


def best(memory: Memory, question: str) -> str:
    asked = memory.search.vectors.ask(question)
    assert asked is not None, memory.search.vectors.trouble
    entries, cosines = asked.nearest(1, lambda entries: np.ones(len(entries), bool))
    assert 0 < cosines[0] <= 1.001
    return memory.cold.entry(int(entries[0])).text or ""


def test_one_embedder_after_another(workspace: Workspace, llama: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    server, folder = f"openai:bag@{llama}/v1", f"onnx:{bag_onnx(tmp_path / 'bag')}"
    with_server = Memory.open(workspace, embedding=EmbedderSet(lambda: opened(server)))
    talk = Talk(with_server)
    for text in ("the boiler of the ferry", "tea and coffee", "lisbon, 白色 ships", "the warranty"):
        talk.say(text)
    assert with_server.search.vectors.fill().made == 4
    assert best(with_server, "coffee and tea") == "tea and coffee"
    assert best(with_server, "白色") == "lisbon, 白色 ships"  # bytes: this model knows no words
    with_server.close()

    both = Memory.open(workspace, embedding=EmbedderSet(lambda: opened(folder), lambda: opened(server)))
    assert best(both, "白色") == "lisbon, 白色 ships"  # the old one's vectors serve
    assert both.search.vectors.fill().made == 4
    assert best(both, "warranty") == "the warranty"
    both.close()
