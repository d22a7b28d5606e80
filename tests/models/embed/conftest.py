from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from models.embed.open import open_embedder
from models.embed.port import Embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings
from tests.models.embed.embedding_server import embedding_llama
from tests.scripted_models import scripted_gguf

Opened = Callable[..., Embedder]


@pytest.fixture
def opened(hasty: ModelSettings) -> Iterator[Opened]:
    """`opened("onnx:…", batch=4)`: closed with the test."""
    found: list[Embedder] = []

    def one(name: str, **settings: Any) -> Embedder:
        known = EmbedSettings(**{"timeout": 8.0, "query_timeout": 8.0, **settings})
        embedder = open_embedder(name, settings=known, models=hasty, env={})
        assert embedder is not None
        found.append(embedder)
        return embedder

    yield one
    for embedder in found:
        embedder.close()


@pytest.fixture(scope="session")
def embeddings_at_llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real llama.cpp server that embeds: its address. A text's vector is how often each byte occurs in it."""
    with embedding_llama(scripted_gguf(tmp_path_factory.mktemp("gguf") / "bag.gguf", "so")) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "model"
