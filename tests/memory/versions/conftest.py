"""The memory of a workspace, with the system's clock."""

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.memory import Memory


@pytest.fixture
def memory(workspace: Workspace) -> Memory:
    return Memory.open(workspace, SystemClock())
