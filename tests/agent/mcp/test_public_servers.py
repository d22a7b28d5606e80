"""Public servers, installed by hand: MCP_SERVERS_BIN names the folders of their programs, as PATH does.

uv venv v && uv pip install --python v/bin/python mcp-server-time mcp-server-git
npm install --prefix n @modelcontextprotocol/server-everything
MCP_SERVERS_BIN=$PWD/v/bin:$PWD/n/node_modules/.bin python -m pytest -m soak tests/agent/mcp/test_public_servers.py
"""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent.tools.port import ToolFailure
from tests.agent.mcp.conftest import Start

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]
FOLDERS = os.environ.get("MCP_SERVERS_BIN", "")


def program(name: str) -> str:
    """The server's program; the test is skipped where it is not installed."""
    found = shutil.which(name, path=FOLDERS) if FOLDERS else None
    if found is None:
        pytest.skip(f"{name} is not in MCP_SERVERS_BIN; see the top of {Path(__file__).name}")
    return found


def test_mcp_server_time(start: Start) -> None:
    running = start({"time": {"command": program("mcp-server-time"), "args": ["--local-timezone", "UTC"]}})
    assert sorted(running.tools) == ["time__convert_time", "time__get_current_time"]
    assert "Asia/Tokyo" in running.call("time__get_current_time", timezone="Asia/Tokyo")
    with pytest.raises(ToolFailure):
        running.call("time__get_current_time", timezone="Nowhere/Nowhere")
    report(running)


def test_mcp_server_git(start: Start, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "a.txt").write_text("hello\n")
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*name, "commit", "-qm", "First"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    running = start({"git": {"command": program("mcp-server-git"), "args": ["--repository", str(repository)]}})
    assert "First" in running.call("git__git_log", repo_path=str(repository))
    (repository / "a.txt").write_text("hello\n" + "line\n" * 60_000)
    assert len(running.call("git__git_diff_unstaged", repo_path=str(repository))) > 300_000
    with pytest.raises(ToolFailure):
        running.call("git__git_log", repo_path="/no/such/repository")
    report(running)


def test_server_everything(start: Start) -> None:
    running = start({"everything": {"command": program("mcp-server-everything"), "args": ["stdio"]}})
    assert "everything__echo" in running.tools
    assert "hello" in running.call("everything__echo", message="hello")
    assert "5" in running.call("everything__get-sum", a=2, b=3)
    image = next(name for name in running.tools if "image" in name)
    assert "not shown" in running.call(image)
    long = next(name for name in running.tools if "long" in name)
    assert running.call(long, duration=2, steps=4)
    assert running.progress
    for name in sorted(running.tools):  # none of the others may hang or break the connection
        with contextlib.suppress(ToolFailure):
            running.call(name)
    assert "again" in running.call("everything__echo", message="again")
    report(running)


def report(running: Any) -> None:
    for status in running.servers.statuses():
        print(f"{status.name}: {status.protocol}, {len(status.tools)} tools, {status.tokens} tokens")
