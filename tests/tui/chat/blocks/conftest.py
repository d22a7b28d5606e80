"""A real session whose server answers by a script, over a project with two files."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent.config.settings import ToolSettings
from agent.permissions.mode import PermissionMode
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.loopback import Loopback
from tests.tui.chat.blocks.scripts import LINES, Script


@pytest.fixture
def server() -> Iterator[Script]:
    with Loopback() as opened:
        yield Script(opened)


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Script) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "list.txt").write_text("\n".join(LINES), encoding="utf-8")
    (project / "calc.py").write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    tools = ToolSettings(mode=PermissionMode.EDIT)
    opened = open_session(workspace, tmp_path, server.server, project=[project], tools=tools)
    yield opened
    await opened.close()
