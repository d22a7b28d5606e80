"""A real session with a real memory under the search screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.session import Session
from foundation.paths import Workspace
from memory.memory import Memory
from tests.agent.sessions import open_session


@pytest.fixture
def session(workspace: Workspace, tmp_path: Path) -> Iterator[Session]:
    """A real session, which answers from memory alone."""
    opened = open_session(workspace, tmp_path)
    yield opened
    opened.memory.close()


@pytest.fixture
def memory(session: Session) -> Memory:
    return session.memory
