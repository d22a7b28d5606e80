from collections.abc import Callable, Iterator

import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from memory.search.vectors.vectors import Vectors
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.fake_embedder import FakeEmbedder

Opens = Callable[..., Memory]


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def opens(workspace: Workspace, clock: FakeClock) -> Iterator[Opens]:
    """`opens(embedder, before)`: another memory of the same workspace, as another process has it."""
    opened: list[Memory] = []

    def one(now: FakeEmbedder | None = None, before: FakeEmbedder | None = None) -> Memory:
        embedding = EmbedderSet(lambda: now, lambda: before)
        opened.append(Memory.open(workspace, clock, embedding=embedding))
        return opened[-1]

    yield one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opens: Opens, embedder: FakeEmbedder) -> Memory:
    return opens(embedder)


@pytest.fixture
def talk(memory: Memory) -> Talk:
    return Talk(memory)


@pytest.fixture
def vectors(memory: Memory) -> Vectors:
    return memory.search.vectors
