"""Conversations to test with."""

from collections.abc import Iterator

import pytest

from foundation.paths import Workspace
from tests.context.conversation import Talk
from tests.fakes import FakeClock


@pytest.fixture
def talk(workspace: Workspace, clock: FakeClock) -> Iterator[Talk]:
    held = Talk(workspace, clock)
    yield held
    held.close()


@pytest.fixture
def small_talk(workspace: Workspace, clock: FakeClock) -> Iterator[Talk]:
    """The same with a window of 2,048 tokens."""
    held = Talk(workspace, clock, window=2048)
    yield held
    held.close()
