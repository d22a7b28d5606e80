"""A hot memory in a workspace of its own."""

import pytest

from foundation.paths import Workspace
from memory.hot import HotMemory
from tests.fakes import FakeClock


@pytest.fixture
def hot(workspace: Workspace, clock: FakeClock) -> HotMemory:
    return HotMemory(workspace, clock)
