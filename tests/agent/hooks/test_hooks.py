"""Hooks: what they are given, what their answers mean, and that a failing one stops nothing."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from agent.config.config import Config, read_config
from agent.config.workspaces import prepare_workspace
from agent.events import AnswerStored, Notice, PermissionDenied, PermissionRequested, ToolFinished
from agent.hooks.hooks import SessionHooks
from agent.hooks.run import run_hook
from agent.hooks.settings import HookCommand, HookMatcher, HookSettings
from agent.permissions.action import PermissionAnswer
from agent.permissions.mode import PermissionMode
from agent.services.trust import trust_scripts
from agent.session import Session
from agent.tools.files.project import ProjectFolders
from agent.tools.registry import ToolOutput
from foundation.paths import Workspace
from models.messages import ToolCall
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, only, told
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, chat, varied

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell"),
    pytest.mark.timeout(60),
]

Open = Callable[..., Session]
DENY = (
    """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", """
    """"permissionDecisionReason": "Not on Mondays."}}'"""
)
BLOCK = """echo '{"decision": "block", "reason": "Not on Mondays."}'"""


def on(command: str, matcher: str = "", timeout: float = 60) -> tuple[HookMatcher, ...]:
    return (HookMatcher((HookCommand(command, timeout=timeout),), matcher),)


@pytest.fixture
async def open_session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Open]:
    environment = {**os.environ, "PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "MY_API_KEY": "k-123456789"}
    prepare_workspace(workspace, environment)
    opened: list[Session] = []

    def open_with(**hooks: Any) -> Session:
        config = Config(
            model=f"openai:m@{server.address}/v1",
            environment=environment,
            models=ModelSettings(tools=True, window=16_000),
            hooks=HookSettings(**hooks),
        )
        opened.append(Session.open(workspace, config))
        return opened[-1]

    yield open_with
    for session in opened:
        await session.close()


async def turn(session: Session, text: str, grant: bool = True) -> list[Any]:
    seen: list[Any] = []
    async for event in session.send(text):
        seen.append(event)
        if isinstance(event, PermissionRequested):
            event.answer.set_result(PermissionAnswer(grant))
    assert_in_order(seen)
    return seen


async def test_each_event_has_its_fields_and_no_keys(
    open_session: Open, server: Loopback, workspace: Workspace
) -> None:
    log = workspace.root / "log"
    keep = f"cat >> {log}; echo >> {log}; env | grep -c MY_API_KEY >> {log}.keys; true"
    session = open_session(
        session_start=on(keep), user_prompt_submit=on(keep), pre_tool_use=on(keep), post_tool_use=on(keep),
        pre_compact=on(keep), stop=on(keep), session_end=on(keep),
    )  # fmt: skip
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat(varied("It says Hello. ", 200)))
    await turn(session, "Read it. <private>Not this.</private>")
    for _ in range(3):
        server.plays(chat(varied("And so on. ", 200)))
        await turn(session, "More")
    assert await session.compaction.run()
    await session.close()
    seen = [json.loads(line) for line in log.read_text().splitlines() if line]
    names = [message["hook_event_name"] for message in seen]
    assert names[:5] == ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
    assert names.count("SessionStart") == 1 and names[-2:] == ["PreCompact", "SessionEnd"]
    assert {message["session_id"] for message in seen} == {seen[0]["session_id"]}
    assert {message["cwd"] for message in seen} == {str(workspace.root)}
    assert seen[0]["source"] == "startup"
    assert seen[1]["prompt"].startswith("Read it.") and "Not this" not in log.read_text()
    assert seen[2]["tool_name"] == "read_file"
    assert seen[2]["tool_input"] == {"path": "a.txt", "file_path": str(workspace.root / "a.txt")}
    assert seen[3]["tool_response"] == {"content": "Hello", "success": True}
    assert seen[-2]["trigger"] == "manual"
    assert set(Path(f"{log}.keys").read_text().split()) == {"0"}


@pytest.mark.parametrize("command", [DENY, BLOCK, "echo 'Not on Mondays.' >&2; exit 2"])
@pytest.mark.parametrize("matcher", ["", "*", "read_file", "Read", "read_.*|Edit"])
async def test_a_hook_denies_a_call_and_the_model_reads_why(
    open_session: Open, server: Loopback, workspace: Workspace, command: str, matcher: str
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat("No then."))
    seen = await turn(open_session(pre_tool_use=on(command, matcher)), "Read it")
    assert "Not on Mondays." in told(server)["content"] and "Hello" not in told(server)["content"]
    assert only(seen, PermissionDenied) and only(seen, AnswerStored)


async def test_a_matcher_of_another_tool_leaves_the_call(
    open_session: Open, server: Loopback, workspace: Workspace
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat("So."))
    matchers = (*on("exit 2", "Bash|Edit"), *on("exit 2", "read"), *on("exit 2", "_file"), *on("exit 2", "["))
    seen = await turn(open_session(pre_tool_use=matchers), "Read it")
    assert told(server)["content"] == "Hello"
    assert "`[` is not a valid regular expression" in only(seen, Notice).text


def _says(decision: str) -> str:
    return f"""echo '{{"hookSpecificOutput": {{"permissionDecision": "{decision}"}}}}'"""


async def test_a_hook_has_the_person_asked_and_allows_no_note(
    open_session: Open, server: Loopback, workspace: Workspace
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat("So."))
    asked_of_person = await turn(open_session(pre_tool_use=on(_says("ask"))), "Read it", grant=False)
    assert only(asked_of_person, PermissionRequested).once_only
    server.plays(calls("remember", note="Tea at four."), chat("So."))
    seen = await turn(open_session(pre_tool_use=on(_says("allow"))), "Remember", grant=False)
    assert only(seen, PermissionRequested), "a note asks whatever a hook says"


@pytest.mark.parametrize(
    ("decisions", "asked_of_person", "is_read"),
    [(("allow", "deny"), False, False), (("deny", "ask"), False, False), (("allow", "ask"), True, False)],
)
@pytest.mark.parametrize("step", [1, -1])
async def test_of_several_hooks_the_strictest_decides(
    open_session: Open,
    server: Loopback,
    workspace: Workspace,
    decisions: tuple[str, ...],
    asked_of_person: bool,
    is_read: bool,
    step: int,
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat("So."))
    hooks = tuple(matcher for decision in decisions[::step] for matcher in on(_says(decision)))
    seen = await turn(open_session(pre_tool_use=hooks), "Read it", grant=False)
    assert any(isinstance(event, PermissionRequested) for event in seen) is asked_of_person
    assert (told(server)["content"] == "Hello") is is_read


@pytest.mark.parametrize(
    ("command", "timeout", "words"),
    [("echo Oops >&2; exit 1", 60, "exit 1. Oops"), ("sleep 30", 0.3, "0.3 s"), ("/no/such/program", 60, "exit 127")],
)
async def test_a_failing_hook_is_reported_and_stops_nothing(
    open_session: Open, server: Loopback, workspace: Workspace, command: str, timeout: float, words: str
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    hooks = on(command, timeout=timeout)
    session = open_session(
        session_start=hooks, user_prompt_submit=hooks, pre_tool_use=hooks, post_tool_use=hooks, stop=hooks
    )
    server.plays(calls("read_file", path="a.txt"), chat("It says Hello."))
    seen = await turn(session, "Read it")
    assert only(seen, AnswerStored).text == "It says Hello."
    assert told(server)["content"] == "Hello"
    notices = [event.text for event in seen if isinstance(event, Notice)]
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        assert any(event in text and words in text for text in notices), (event, notices)


async def test_text_of_a_hook_is_marked_and_not_stored_as_said(open_session: Open, server: Loopback) -> None:
    more = (
        """echo '{"hookSpecificOutput": {"additionalContext": "It rains 下雨."}, "systemMessage": "Weather added"}'"""
    )
    server.plays(chat("So."), chat("So."))
    session = open_session(session_start=on("echo The branch is main."), user_prompt_submit=on(more))
    seen = await turn(session, "Hello")
    content = asked(server)[-1].json["messages"][-1]["content"]
    words = content if isinstance(content, str) else "".join(part["text"] for part in content)
    assert "<palimpsest-hook-" in words and "The branch is main.\nIt rains 下雨." in words
    assert [event.text for event in seen if isinstance(event, Notice)] == ["Weather added"]
    ((entry, text),) = await session.branch.own_messages(5)
    assert text == "Hello" and not session.memory.search.query(_query("rains")).hits
    assert entry


async def test_a_hook_that_objects_to_a_message_is_reported_and_stops_nothing(
    open_session: Open, server: Loopback
) -> None:
    server.plays(chat("So."))
    seen = await turn(open_session(user_prompt_submit=on("echo No tea. >&2; exit 2")), "Tea?")
    assert "A UserPromptSubmit hook objected, but the message is sent anyway: No tea." in only(seen, Notice).text
    assert only(seen, AnswerStored).text == "So."


async def test_what_hooks_add_to_a_message_is_bounded(open_session: Open, server: Loopback) -> None:
    server.plays(chat("So."))
    await turn(open_session(user_prompt_submit=on("head -c 9000 /dev/zero | tr '\\0' x")), "Hello")
    text = json.dumps(asked(server)[-1].json["messages"][-1])
    assert text.count("x" * 4_000) == 1 and "x" * 4_001 not in text and "5,000 more characters" in text


def _query(text: str) -> Any:
    from memory.search import Query

    return Query(text=text)


async def test_what_a_hook_says_after_a_call_is_shown_and_the_output_stored_as_it_was(
    open_session: Open, server: Loopback, workspace: Workspace
) -> None:
    (workspace.root / "a.txt").write_text("Hello")
    server.plays(calls("read_file", path="a.txt"), chat("So."))
    session = open_session(post_tool_use=on("echo 'Format it.' >&2; exit 2"))
    seen = await turn(session, "Read it")
    assert told(server)["content"] == "Hello\n\n[A hook of the user adds:]\nFormat it."
    entry = session.memory.cold.find(only(seen, ToolFinished).entry)
    assert session.memory.passage(entry).text == "Hello"


def test_hooks_at_the_end_of_a_session_have_less_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hooks.hooks.END_SECONDS", 0.2)
    hooks = SessionHooks(
        HookSettings(session_end=on("sleep 30")), os.environ, tmp_path, conversation=lambda: "", mode=lambda: "ask"
    )
    hooks.end()
    (notice,) = hooks.take_notices()
    assert "SessionEnd" in notice and "0.2 s" in notice


def test_private_text_reaches_no_hook(tmp_path: Path) -> None:
    keep = on("cat >> log; echo >> log")
    settings = HookSettings(user_prompt_submit=keep, post_tool_use=keep, stop=keep)
    hooks = SessionHooks(settings, os.environ, tmp_path, conversation=lambda: "", mode=lambda: "ask")
    hidden = "Open. <private>Nobody reads this.</private>"
    hooks.before_message(hidden)
    call = ToolCall(id="call_1", name="read_file", arguments='{"path": "a.txt"}')
    hooks.after_tool(call, ToolOutput(hidden, hidden), lambda: False)
    hooks.after_answer(hidden)
    assert hooks.take_notices() == ()
    log = (tmp_path / "log").read_text()
    assert log.count("Open.") == 3 and "Nobody reads" not in log


async def test_a_command_in_the_sandbox_cannot_write_what_runs_outside_it(
    open_session: Open, workspace: Workspace
) -> None:
    for name in ("check.sh", "server.py"):
        (workspace.root / name).write_text("mine\n")
    servers = {"mcpServers": {"own": {"command": "python3", "args": ["server.py"]}}}
    (workspace.root / ".mcp.json").write_text(json.dumps(servers))
    session = open_session(stop=on("sh check.sh"))
    if not (await asyncio.to_thread(lambda: session.commands.sandbox.state)).holds:
        pytest.skip("no sandbox here")
    attack = "echo x > check.sh; echo x > server.py; echo x > free.py"
    await asyncio.to_thread(session.commands.run, attack, 8, Event(), lambda _: None)
    assert [(workspace.root / name).read_text() for name in ("check.sh", "server.py")] == ["mine\n"] * 2
    assert (workspace.root / "free.py").exists()


@pytest.mark.parametrize(
    ("path", "asks"),
    [("./sub/../check.sh", True), ("link.sh", True), ("bin/run it.sh", True), ("sub/check.sh", False)],
)
def test_changing_a_hooks_script_asks(tmp_path: Path, path: str, asks: bool) -> None:
    for name in ("check.sh", "bin/run it.sh", "sub/check.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("true\n")
    (tmp_path / "link.sh").symlink_to("check.sh")
    settings = HookSettings(stop=on("sh check.sh; 'bin/run it.sh'"))
    hooks = SessionHooks(settings, os.environ, tmp_path, conversation=lambda: "", mode=lambda: "ask")
    project = ProjectFolders((tmp_path,))
    project.programs = hooks.scripts.files
    assert ("outside the sandbox" in project.changing_concern(project.locate(path))) == asks


def test_hooks_are_those_of_the_user_and_of_a_trusted_workspace(workspace: Workspace, tmp_path: Path) -> None:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config")}
    hook = "hooks:\n  PreToolUse:\n  - matcher: Bash\n    hooks:\n    - {{type: command, command: {}}}\n"
    (tmp_path / "user-config").mkdir()
    (tmp_path / "user-config" / "config.yaml").write_text(hook.format("mine"))
    prepare_workspace(workspace, environment)

    def commands() -> list[str]:
        matchers = read_config(workspace, environment, {}).config.hooks.pre_tool_use
        return [command.command for matcher in matchers for command in matcher.hooks]

    assert commands() == ["mine"]
    workspace.config.write_text(hook.format("theirs"))
    assert commands() == ["mine"], "what changed since it was trusted is not in force"
    from foundation.workspace_trust import trust_store

    trust_store(environment).trust(workspace, "")
    assert commands() == ["mine", "theirs"]


def test_no_hook_runs_where_there_is_none(tmp_path: Path) -> None:
    hooks = SessionHooks(HookSettings(), {}, tmp_path / "gone", conversation=lambda: "", mode=lambda: "ask")
    assert hooks.before_message("Hello") == "" and hooks.take_notices() == ()
    assert asyncio.run(asyncio.to_thread(hooks.end)) is None


@pytest.mark.parametrize("event", ["post_tool_use", "pre_tool_use"])
async def test_a_script_of_a_hook_that_changed_in_the_session_is_not_run(
    open_session: Open, server: Loopback, workspace: Workspace, tmp_path: Path, event: str
) -> None:
    script = workspace.root / "check.sh"
    script.write_text("true\n")
    session = open_session(**{event: on('sh "$CLAUDE_PROJECT_DIR"/check.sh')})
    session.permissions.set_mode(PermissionMode.EDIT)
    arguments = {"path": "check.sh", "content": f"touch {tmp_path}/escaped\n"}
    server.plays(calls("read_file", path="check.sh"), calls("write_file", **arguments), chat("Done."))
    seen = await turn(session, "go", grant=False)
    assert only(seen, PermissionRequested).reason == "check.sh is run by a hook or an MCP server, outside the sandbox."
    script.write_text(arguments["content"])  # as a command in the sandbox can
    server.plays(calls("list_files", path="."), chat("Done."))
    seen = await turn(session, "go on")
    assert "check.sh changed since it was trusted" in " ".join(
        event.text for event in seen if isinstance(event, Notice)
    )
    assert len([event for event in seen if isinstance(event, PermissionRequested)]) == (event == "pre_tool_use")
    assert not (tmp_path / "escaped").exists()


CHANGES = {
    "written": "echo other > check.sh",
    "made where there was none": "echo x > later.sh",
    "behind a link": "echo other > other.sh; ln -sf other.sh linked.sh",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_script_that_changed_is_off_in_later_sessions_until_it_is_trusted(tmp_path: Path, change: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("check.sh", "real.sh"):
        (project / name).write_text("echo ran\n")
    (project / "linked.sh").symlink_to("real.sh")
    command = (
        "[ -f log ] || touch log; sh check.sh; sh linked.sh; test -e later.sh && sh later.sh; echo ran | tee -a log"
    )
    settings = HookSettings(stop=on(f"({command}) >> log"))

    def notices() -> str:
        hooks = SessionHooks(settings, os.environ, project, conversation=lambda: "", mode=lambda: "ask")
        hooks.after_answer("x")
        return " ".join(hooks.take_notices())

    def runs() -> bool:
        (project / "log").unlink(missing_ok=True)
        assert ("so its hook is disabled" in notices()) != (project / "log").exists()
        return (project / "log").exists()

    assert runs() and runs()
    hooks = SessionHooks(settings, os.environ, project, conversation=lambda: "", mode=lambda: "ask")
    (project / "log").unlink()
    run_hook(HookCommand(CHANGES[change]), {}, project, dict(os.environ))
    hooks.after_answer("x")
    assert f"palimpsest trust {project}" in " ".join(hooks.take_notices())
    assert not runs() and not runs()
    trust_scripts(project, os.environ)
    assert runs()
    (tmp_path / "user-config/hook-scripts.json").write_text("{")
    assert runs(), "a damaged list knows nothing"
