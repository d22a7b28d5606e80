"""The tools run_command and command_output, alone and in a session: arguments, permission, what is stored, stopping."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from agent.events import AnswerStored, PermissionDenied, PermissionRequested, Stopped, ToolFinished, ToolProgress
from agent.permissions.action import Access, PermissionAnswer, Scope
from agent.permissions.mode import PermissionMode
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.session import Session
from agent.tools.commands.commands import Commands
from agent.tools.commands.run_command import CommandOutput, RunCommand
from agent.tools.port import ToolFailure, ToolRun, ToolSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, environment_of, only, open_session, told
from tests.agent.tools.commands.conftest import MakeCommands, running
from tests.loopback import Loopback, chat

RUN = ToolRun("e_test", threading.Event())


def test_the_whole_command_is_the_subject_and_the_detail(commands: Commands) -> None:
    action = RunCommand(commands).action({"command": "git status\nrm -rf x"})
    assert (action.access, action.subject, action.detail) == (
        Access.RUN,
        "git status\nrm -rf x",
        "git status\nrm -rf x",
    )
    assert action.summary == "run git status…"
    assert not action.concern


def test_leaving_the_sandbox_asks_whatever_the_rules(make_commands: MakeCommands, commands: Commands) -> None:
    sandboxed = make_commands(sandbox=True)
    concern = RunCommand(sandboxed).action({"command": "true", "sandbox": False}).concern
    assert bool(concern) == (sandboxed.sandbox.state.kind != "none")
    assert not RunCommand(commands).action({"command": "true", "sandbox": False}).concern, "there is none to leave"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": 3},
        {"command": "a\0b"},
        {"command": "x" * 100_001},
        {"command": "\ud800"},
        {"command": "true", "timeout": 0},
        {"command": "true", "timeout": "soon"},
        {"command": "true", "background": "yes"},
        {"command": "true", "sandbox": 0},
    ],
)
def test_malformed_arguments_are_refused_before_permission_is_asked(
    commands: Commands, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolFailure):
        RunCommand(commands).action(arguments)


def test_the_longest_command_runs(commands: Commands) -> None:
    told = RunCommand(commands).run({"command": "true " + "x" * 99_995}, RUN)
    assert told.startswith("[exit 0 ")


def test_a_time_limit_has_a_most(make_commands: MakeCommands) -> None:
    commands = make_commands(settings=ToolSettings(command_seconds=1))
    assert "time limit of 1 s" in RunCommand(commands).run({"command": "sleep 30"}, RUN)
    assert "exit 0" in RunCommand(commands).run({"command": "true", "timeout": 10**9}, RUN)


def test_a_handle_that_is_not_there_is_answered_with_those_that_are(commands: Commands) -> None:
    RunCommand(commands).run({"command": "sleep 30", "background": True}, RUN)
    with pytest.raises(ToolFailure, match=r"“c9”. There are: c1"):
        CommandOutput(commands).run({"handle": "c9"}, RUN)


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    (tmp_path / "project").mkdir()
    opened = open_session(
        workspace,
        tmp_path,
        server,
        project=[tmp_path / "project"],
        environment=environment_of(tmp_path) | {"HOME": str(tmp_path / "home")},
        models=ModelSettings(tools=True, window=16_000),
        tools=ToolSettings(result_chars=400),
    )
    yield opened
    await opened.close()


async def turn(session: Session, answer: PermissionAnswer | None = None) -> list[Any]:
    seen: list[Any] = []
    async for event in session.send("go"):
        seen.append(event)
        if isinstance(event, PermissionRequested):
            assert answer is not None, "nothing may be asked here"
            event.answer.set_result(answer)
    return seen


async def test_a_command_runs_with_permission_and_its_output_streams_and_is_stored_whole(
    session: Session, server: Loopback
) -> None:
    server.plays(calls("run_command", command="seq 1 2000; sleep 0.3; exit 4"), chat("Done."))
    seen = await turn(session, PermissionAnswer(True))
    assert only(seen, PermissionRequested).action.subject == "seq 1 2000; sleep 0.3; exit 4"
    assert "".join(event.text for event in seen if isinstance(event, ToolProgress)).endswith("2000\n")
    finished = only(seen, ToolFinished)
    assert finished.chars > 8_000
    shown = told(server)["content"]
    assert "[exit 4 after " in shown.splitlines()[1]
    assert shown.endswith("2000\n")
    assert len(shown) < 700
    assert "1000\n1001\n" in (session.memory.conversations.find_entry(finished.entry).text or "")


async def test_a_rule_allows_it_without_asking_and_another_denies(
    session: Session, server: Loopback, tmp_path: Path
) -> None:
    session.permissions.rules = RuleSet(
        [parse_rule(Verdict.ALLOW, "run_command(echo *)"), parse_rule(Verdict.DENY, "run_command(rm *)")]
    )
    server.plays(calls("run_command", command="echo one && echo two"), chat("."))
    assert not only(await turn(session), ToolFinished).failed
    assert told(server)["content"].endswith("]\none\ntwo\n")
    (tmp_path / "project" / "kept").touch()
    server.plays(calls("run_command", command="echo x; rm kept"), chat("."))
    seen = await turn(session)
    assert "deny run_command(rm *)" in only(seen, PermissionDenied).reason
    assert (tmp_path / "project" / "kept").exists()


async def test_a_permission_for_the_session_covers_the_same_command_alone(session: Session, server: Loopback) -> None:
    server.plays(calls("run_command", command="touch same"), chat("."))
    await turn(session, PermissionAnswer(True, Scope.SESSION))
    server.plays(calls("run_command", command="touch same"), chat("."))
    await turn(session)
    server.plays(calls("run_command", command="touch same; touch other"), chat("."))
    seen = await turn(session, PermissionAnswer(False, reason="Use make."))
    assert only(seen, PermissionRequested)
    assert told(server)["content"] == "Not done: run touch same; touch other. The user declined: Use make."


async def test_auto_runs_commands_where_the_sandbox_holds(session: Session, server: Loopback, tmp_path: Path) -> None:
    session.permissions.mode = PermissionMode.AUTO
    holds = await asyncio.to_thread(lambda: session.commands.sandbox.state.holds)
    server.plays(calls("run_command", command="echo x > made; echo y > ../outside"), chat("."))
    seen = await turn(session, PermissionAnswer(False))
    assert any(isinstance(event, PermissionRequested) for event in seen) == (not holds)
    assert (tmp_path / "project" / "made").exists() == holds
    assert not (tmp_path / "outside").exists()
    server.plays(calls("run_command", command="echo y > ../outside", sandbox=False), chat("."))
    assert only(await turn(session, PermissionAnswer(False)), PermissionRequested)


async def test_stopping_the_turn_ends_the_command_and_keeps_what_it_printed(session: Session, server: Loopback) -> None:
    server.plays(calls("run_command", command="echo begun; setsid sleep 2911.5 & sleep 2911.5"), chat("."))
    seen: list[Any] = []
    async for event in session.send("go"):
        seen.append(event)
        if isinstance(event, PermissionRequested):
            event.answer.set_result(PermissionAnswer(True))
        if isinstance(event, ToolProgress) and "begun" in event.text:
            session.stop()
    assert running("2911.5") == []
    assert "begun" in only(seen, ToolFinished).shown
    assert "stopped by the user" in only(seen, ToolFinished).shown
    assert isinstance(seen[-1], Stopped)


async def appears(word: str) -> bool:
    """Whether a process with this word runs within four seconds."""
    for _ in range(80):
        if running(word):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_background_command_lives_between_turns_and_ends_with_the_session(
    session: Session, server: Loopback
) -> None:
    server.plays(calls("run_command", command="echo up; sleep 2912.5", background=True), chat("."))
    assert "as c1;" in only(await turn(session, PermissionAnswer(True)), ToolFinished).shown
    assert await appears("sleep 2912.5")
    server.plays(calls("command_output", handle="c1", wait=1), chat("."))
    seen = await turn(session)
    assert "up\n" in only(seen, ToolFinished).shown
    assert isinstance(seen[-1], AnswerStored)
    assert [command.handle for command in session.commands.listed()] == ["c1"]
    await session.close()
    assert running("2912.5") == []
    assert len(asked(server)) == 4


async def test_the_model_reads_once_that_a_background_command_ended(session: Session, server: Loopback) -> None:
    server.plays(calls("run_command", command="echo up; exit 3", background=True), chat("."))
    await turn(session, PermissionAnswer(True))
    until = time.monotonic() + 20
    while not session.commands.listed()[0].ended and time.monotonic() < until:
        await asyncio.sleep(0.05)
    for _ in range(2):
        server.plays(chat("."))
        await turn(session)
    notes = [json.dumps(request.json["messages"][-1]["content"]) for request in asked(server)[-2:]]
    assert ["The background command c1 has ended: echo up; exit 3" in note for note in notes] == [True, False]
    assert "exit 3, 0 s. command_output reads what it printed." in notes[0]
    assert [command.handle for command in session.commands.take_ended()] == ["c1"], "the person is told as well"


async def test_the_slash_command_lists_background_commands_and_ends_one(session: Session) -> None:
    assert (await registry.run(session, "/jobs")) == TextResult("No background commands.")
    await asyncio.to_thread(session.commands.start, "echo `date`; sleep 2913.5")
    assert session.working == "1 command runs"
    listed = await registry.run(session, "/jobs")
    assert isinstance(listed, TextResult)
    assert listed.markdown.startswith("- c1: runs, 0 s: `` echo `date`; sleep 2913.5 ``")
    assert await registry.run(session, "/jobs stop c1") == TextResult("Stopped c1 and its child processes.")
    assert running("2913.5") == []
    assert session.working == ""
    assert isinstance(await registry.run(session, "/jobs stop c7"), CommandFailed)
    assert isinstance(await registry.run(session, "/jobs nonsense"), CommandFailed)


def test_what_a_background_command_fetches_is_from_the_network_too(commands: Commands) -> None:
    handles = [commands.start(command) for command in ("true || curl x", "true")]
    fetched = [CommandOutput(commands).action({"handle": handle}).is_from_network for handle in handles]
    assert fetched == [True, False]


def test_the_question_says_how_it_would_run(make_commands: MakeCommands, commands: Commands) -> None:
    assert RunCommand(commands).action({"command": "curl x"}).circumstances.startswith("No sandbox: it can write any")
    assert RunCommand(commands).action({"command": "curl x"}).is_from_network
    background = RunCommand(commands).action({"command": "curl x", "background": True})
    assert background.circumstances.endswith("It keeps running in the background, without a time limit.")
    confined = make_commands(sandbox=True)
    action = RunCommand(confined).action({"command": "curl x"})
    if confined.sandbox.state.no_network:
        assert action.circumstances.startswith(
            "In the sandbox: it can only write to the project and temporary folders, no net"
        )
        assert not action.is_from_network
        assert RunCommand(confined).action({"command": "curl x", "sandbox": False}).is_from_network


async def test_after_a_command_with_the_network_what_stays_in_the_sandbox_asks_nothing_more(
    session: Session, server: Loopback
) -> None:
    session.permissions.rules = RuleSet([parse_rule(Verdict.ALLOW, "run_command(touch *)")])
    fetch = {"command": "curl --version", "sandbox": False}
    server.plays(calls("run_command", **fetch), calls("run_command", command="touch x"), chat("."))
    asked_for = [
        event for event in await turn(session, PermissionAnswer(True)) if isinstance(event, PermissionRequested)
    ]
    assert [event.action.subject for event in asked_for] == ["curl --version"]


async def test_auto_asks_before_a_command_removes_what_undo_cannot_restore(session: Session, server: Loopback) -> None:
    session.permissions.mode = PermissionMode.AUTO
    server.plays(calls("run_command", command="git stash drop"), chat("."))
    seen = await turn(session, PermissionAnswer(False))
    assert only(seen, PermissionRequested).action.destroys


async def test_where_the_files_cannot_be_saved_no_command_runs_until_the_user_knows(
    session: Session, server: Loopback, tmp_path: Path
) -> None:
    place = tmp_path / "project" / "店.txt"
    place.write_text("kept")
    session.checkpoints.folder.mkdir(parents=True, exist_ok=True)
    (session.checkpoints.folder / "secured").write_text("no folder")
    server.plays(calls("run_command", command="rm 店.txt"), chat("."))
    seen = await turn(session, PermissionAnswer(True))
    assert "/undo" not in only(seen, PermissionRequested).reason
    assert place.exists() and only(seen, ToolFinished).failed
    server.plays(calls("run_command", command="rm 店.txt"), chat("."))
    seen = await turn(session, PermissionAnswer(True))
    assert only(seen, PermissionRequested).reason.endswith("/undo cannot restore what it may remove.")
    assert not place.exists()
