"""A real session with a real memory under the search screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.memory import Memory


@pytest.fixture
def session(workspace: Workspace, tmp_path: Path) -> Iterator[Session]:
    """A real session, which answers from memory alone."""
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(workspace, environment)
    opened = Session.open(workspace, Config(environment=environment), clock=SystemClock())
    yield opened
    opened.memory.close()


@pytest.fixture
def memory(session: Session) -> Memory:
    return session.memory
