from collections.abc import Iterator

import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    yield opened
    opened.close()


@pytest.fixture
def talk(memory: Memory) -> Talk:
    return Talk(memory)
