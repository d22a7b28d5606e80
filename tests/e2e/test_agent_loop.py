"""An agent's work against a real llama.cpp server: a failing test of a small project is made to pass.

The model searches, reads, edits, runs, reads the failure, edits and runs again. Its choices depend on what the tools
gave, as its template reads the results. Headless and in a terminal; with permission by rule and by key, declined with a
reason, and stopped in the middle of a command.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.recording_proxy import RecordingProxy
from tests.paths import ROOT
from tests.servers import Scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(240),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

TEST = "python3 -m unittest -q"
SLEEP = "2971.25"
CART = "def total(prices, discount):\n    return sum(prices) * discount\n"
CART_TEST = """import unittest
from cart import total


class TotalTest(unittest.TestCase):
    def test_a_discount_is_taken_off(self):
        self.assertEqual(total([10, 20], 0.1), 27.0)

    def test_nothing_costs_nothing(self):
        self.assertEqual(total([], 0.5), 0)
"""


def _call(name: str, **arguments: str) -> str:
    return f"Next: {name}. <tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


RULES = (
    ("is_result and 'The user declined' in result", "Understood: nothing was run."),
    ("is_result and 'Nobody could be asked' in result", "Nobody was there to allow it."),
    (
        "'wait' in message and not is_result",
        _call("run_command", command=f"echo begun; setsid sleep {SLEEP} & sleep {SLEEP}"),
    ),
    ("'wait' in message", "It was stopped."),
    ("'passes' in message and results == 0", _call("search_files", pattern="def total")),
    ("'passes' in message and results == 1 and 'cart.py' in result", _call("read_file", path="cart.py")),
    (
        "'passes' in message and results == 2 and '* discount' in result",
        _call("edit_file", path="cart.py", old="* discount", new="- discount"),
    ),
    ("'passes' in message and results == 3", _call("run_command", command=TEST)),
    (
        "'passes' in message and results == 4 and 'FAILED' in result and '29.9' in result",
        _call("edit_file", path="cart.py", old="- discount", new="* (1 - discount)"),
    ),
    ("'passes' in message and results == 5", _call("run_command", command=TEST)),
    ("'passes' in message and results == 6 and 'exit 0' in result and 'OK' in result", "Both tests succeed now."),
    ("true", "Something else happened."),
)
TASK = "See that the test passes."


@pytest.fixture(scope="module")
def address(scripted_llama: Scripted) -> str:
    return scripted_llama(context=65_536, rules=RULES).address


@pytest.fixture
def proxy(address: str) -> Iterator[RecordingProxy]:
    with RecordingProxy(address) as recording:
        yield recording


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "cart.py").write_text(CART)
    (folder / "test_cart.py").write_text(CART_TEST)
    return folder


@pytest.fixture
def settings(tmp_path: Path, proxy: RecordingProxy) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"),
        "PALIMPSEST_DETECT": "off",
        "PALIMPSEST_MODELS_WINDOW": "15000",
        "PALIMPSEST_CONTEXT_RECALL": "false",
        "PALIMPSEST_MODELS_TOOL_CALLS": "native",  # the model is tiny, and its script expects them so
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def program(tmp_path: Path, proxy: RecordingProxy, *arguments: str) -> list[str]:
    model = f"openai:scripted@{proxy.address}/v1"
    return [sys.executable, "-m", "tui.main", "--workspace", str(tmp_path / "ws"), "--model", model, *arguments]


def headless(
    tmp_path: Path,
    proxy: RecordingProxy,
    project: Path,
    settings: dict[str, str],
    text: str,
    status: int = 0,
    **more: str,
) -> list[dict[str, object]]:
    done = subprocess.run(
        program(tmp_path, proxy, "-p", text, "--output-format", "stream-json"),
        cwd=project,
        env=os.environ | settings | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def allow(settings: dict[str, str], *rules: str) -> None:
    folder = Path(settings["PALIMPSEST_CONFIG_DIR"])
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "permissions.yaml").write_text("allow:\n" + "".join(f"- {json.dumps(rule)}\n" for rule in rules))


def left_running() -> list[str]:
    listed = subprocess.run(["ps", "-axo", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [row for row in listed.splitlines() if f"sleep {SLEEP}" in row and not row.startswith("Z")]


def soon_none() -> list[str]:
    until = time.monotonic() + 8
    while (left := left_running()) and time.monotonic() < until:
        time.sleep(0.1)
    return left


EXPECTED = ["search_files", "read_file", "edit_file", "run_command", "edit_file", "run_command"]


def passes(project: Path) -> bool:
    return (
        subprocess.run(
            [sys.executable, "-m", "unittest", "-q"], cwd=project, capture_output=True, check=False
        ).returncode
        == 0
    )


def test_the_test_fails_before(project: Path) -> None:
    assert not passes(project)


def test_headless_with_permission_by_rule(
    tmp_path: Path, proxy: RecordingProxy, project: Path, settings: dict[str, str]
) -> None:
    allow(settings, f"run_command({TEST})", "edit_file(*.py)")
    lines = headless(tmp_path, proxy, project, settings, TASK)
    assert [line["name"] for line in lines if line["type"] == "tool_call"] == EXPECTED
    assert str(lines[-1]["text"]).endswith("Both tests succeed now.")
    assert passes(project)
    assert "* (1 - discount)" in (project / "cart.py").read_text()


def test_headless_without_a_rule_nothing_changes(
    tmp_path: Path, proxy: RecordingProxy, project: Path, settings: dict[str, str]
) -> None:
    lines = headless(tmp_path, proxy, project, settings, TASK, status=3)  # an action was not permitted
    assert [line["name"] for line in lines if line["type"] == "tool_call"] == EXPECTED[:3]
    assert str(lines[-1]["text"]).endswith("Nobody was there to allow it.")
    assert (project / "cart.py").read_text() == CART


def test_headless_in_auto_the_sandbox_replaces_the_rules(
    tmp_path: Path, proxy: RecordingProxy, project: Path, settings: dict[str, str]
) -> None:
    from agent.tools.commands.sandbox import Sandbox, SandboxFolders

    sandbox = Sandbox(SandboxFolders(writable=[project], home=tmp_path / "home"))
    holds = sandbox.state.holds
    sandbox.close()
    if not holds:
        pytest.skip("no sandbox holds on this machine")
    lines = headless(tmp_path, proxy, project, settings, TASK, PALIMPSEST_TOOLS_MODE="auto")
    assert str(lines[-1]["text"]).endswith("Both tests succeed now.")
    assert passes(project)


@pytest.fixture
def terminal(tmp_path: Path, proxy: RecordingProxy, project: Path, settings: dict[str, str]) -> Iterator["Terminal"]:
    changed = f"import os, sys; os.chdir({str(project)!r}); sys.argv = ['palimpsest', *sys.argv[1:]]; "
    start = changed + "from tui.main import main; sys.exit(main())"
    opened = Terminal(
        *program(tmp_path, proxy)[3:], program=(sys.executable, "-c", start), columns=100, rows=40, **settings
    )
    opened.until(lambda text: "❯ Ask" in text, within=60)
    yield opened
    opened.close()


def permit(terminal: "Terminal", of: str) -> None:
    """Answers the dialog for the tool with its first answer."""
    terminal.until(lambda text: f"The model wants to use {of}" in text and "↑ ↓ choose" in text, within=60)
    terminal.settle(1.0)
    terminal.type("1")
    terminal.until(lambda text: f"The model wants to use {of}" not in text, within=20)


def say(terminal: "Terminal", text: str) -> None:
    terminal.type(text)
    terminal.settle(0.2)
    terminal.type("\r")


def test_in_a_terminal_with_permission_by_key(terminal: "Terminal", project: Path) -> None:
    say(terminal, TASK)
    permit(terminal, "edit_file")
    permit(terminal, "run_command")
    permit(terminal, "edit_file")
    permit(terminal, "run_command")
    screen = terminal.until(lambda text: "Both tests succeed now." in text, within=60)
    assert "exit 0 after" in screen
    assert passes(project)


def test_in_a_terminal_declined_with_a_reason(terminal: "Terminal", project: Path, proxy: RecordingProxy) -> None:
    say(terminal, "Just wait.")
    terminal.until(lambda text: "↑ ↓ choose" in text, within=60)
    terminal.settle(1.0)
    terminal.type("\x1b[A")  # up from nothing is the last answer: the reason
    terminal.settle(0.3)
    terminal.type("Ask Ben first.")
    terminal.settle(0.3)
    terminal.type("\r")
    terminal.until(lambda text: "Understood: nothing was run." in text, within=60)
    assert "The user declined: Ask Ben first." in proxy.chats[-1]["messages"][-1]["content"]
    assert (project / "cart.py").read_text() == CART


def test_in_a_terminal_stopped_in_mid_command(terminal: "Terminal", proxy: RecordingProxy) -> None:
    say(terminal, "Just wait.")
    permit(terminal, "run_command")
    terminal.until(lambda text: "run_command · begun" in text, within=60)
    assert left_running()
    terminal.type("\x1b")
    terminal.until(lambda text: "stopped" in text, within=60)
    assert soon_none() == []


@pytest.mark.parametrize("how", ["window", "SIGTERM", "SIGKILL"])
def test_a_terminal_that_goes_leaves_no_process(terminal: "Terminal", how: str) -> None:
    say(terminal, "Just wait.")
    permit(terminal, "run_command")
    terminal.until(lambda text: "run_command · begun" in text, within=60)
    assert left_running()
    if how == "window":
        terminal.close_terminal()
    else:
        os.kill(terminal.pid, 15 if how == "SIGTERM" else 9)
    assert soon_none() == []
