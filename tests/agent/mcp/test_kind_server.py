"""A well-behaved server of the SDK, over stdio and HTTP."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ServerSource
from agent.permissions.action import Access
from agent.tools.port import ToolFailure
from tests.agent.mcp.conftest import ECHO, KIND, SERVERS, Start

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / "kind_server.py"), "http", str(port)], stderr=subprocess.DEVNULL
    )
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait()


@pytest.fixture(params=["stdio", "http"])
def definition(request: pytest.FixtureRequest) -> dict[str, object]:
    return KIND if request.param == "stdio" else {"type": "http", "url": request.getfixturevalue("address")}


def test_its_tools_are_listed_called_and_fail_as_they_do(definition: dict[str, object], start: Start) -> None:
    running = start({"kind": definition})
    assert sorted(running.tools) == [
        f"kind__{name}" for name in ("add", "fail", "large", "picture", "slow", "variables")
    ]
    assert running.tools["kind__add"].definition.parameters["properties"]["b"] == {
        "type": "integer",
        "description": "The second summand",
    }
    assert running.call("kind__add", a=2, b=3) == "5"
    large = running.call("kind__large", lines=10_000)
    assert large.splitlines()[-1] == "line 10000 of the large output"
    assert len(large) == 298_893
    assert "not shown" in running.call("kind__picture")
    with pytest.raises(ToolFailure, match="fail"):
        running.call("kind__fail")
    assert running.call("kind__slow", seconds=0.1) == "done"
    assert "step 0\n" in running.progress


def test_a_call_asks_leaves_the_machine_and_a_permission_is_for_the_tool(start: Start) -> None:
    action = start({"echo": ECHO}).tools["echo__echo"].action({"a": 1})
    assert (action.tool, action.access, action.subject, action.is_for_tool) == (
        "echo__echo",
        Access.NETWORK,
        '{"a": 1}',
        True,
    )


def test_the_environment_has_no_key_but_its_own_and_that_is_redacted(start: Start) -> None:
    environment = {**os.environ, "OPENAI_API_KEY": "sk-of-somebody", "MY_TOKEN": "abcdef-012345", "PLAIN": "x"}
    running = start({"kind": {**KIND, "env": {"TOKEN": "${MY_TOKEN}", "DEBUG": "yes"}}}, environment=environment)
    got = json.loads(running.call("kind__variables"))
    assert "OPENAI_API_KEY" not in got
    assert "PLAIN" not in got
    assert got["DEBUG"] == "yes"
    assert got["TOKEN"].startswith("[redacted")
    assert "PATH" in got


def test_only_the_chosen_tools_are_offered(start: Start) -> None:
    running = start({"kind": {**KIND, "includeTools": ["add", "fail"], "excludeTools": ["fail"]}})
    assert list(running.tools) == ["kind__add"]


def test_a_value_of_its_configuration_is_hidden_in_its_progress_too(start: Start) -> None:
    running = start({"kind": {**KIND, "env": {"TOKEN": "step 1"}}})
    running.call("kind__slow", seconds=0.1)
    assert running.progress[:2] == ["step 0\n", "[redacted: a value of this server's configuration]\n"]


def test_a_server_of_the_project_is_judged_again_before_each_start(prepare: Start, tmp_path: Path) -> None:
    running = prepare({"echo": ECHO}, source=ServerSource.PROJECT)
    running.servers.answer("echo", allowed=True)
    running.start()
    assert running.call("echo__echo", text="x") == "x"
    ConsentStore(tmp_path / "user-config").record(running.servers.find("echo"), allowed=False)  # another session
    running.servers.restart("echo")
    assert running.state("echo")[0] == "not trusted"
    with pytest.raises(ToolFailure, match="not trusted"):
        running.call("echo__echo", text="x")


def test_no_process_is_left(start: Start, tmp_path: Path) -> None:
    running = start({"kind": KIND})
    pid = running.servers._servers["kind"].connection.process.process.pid  # type: ignore[union-attr]  # noqa: SLF001
    os.kill(pid, 0)
    running.servers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
