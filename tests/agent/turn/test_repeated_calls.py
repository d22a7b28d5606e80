"""A model that makes one call again and again: it is told, the person is asked, and without one the turn ends."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import (
    AnswerStored,
    CallLimitReached,
    Notice,
    PermissionDenied,
    PermissionRequested,
    SessionEvent,
    Stopped,
    ToolFinished,
    TurnFailed,
)
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.tools.port import ToolSettings
from agent.tools.registry import ToolOutput
from agent.turn.call_limits import REPEATS_ASKED, REPEATS_TOLD, RepeatedCalls
from foundation.paths import Workspace
from models.messages import ToolCall
from models.settings import ModelSettings
from tests.agent.sessions import asked, open_session, several_calls, turn
from tests.loopback import Loopback, Reply, chat

READ = ("read_file", {"path": "cart.py"})
GO_ON, NO = PermissionAnswer(True), PermissionAnswer(False)


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    opened = open_session(
        workspace,
        tmp_path,
        server,
        project=(tmp_path / "project",),
        models=ModelSettings(tools=True, window=30_000, retries=0),
        tools=ToolSettings(sandbox=False),
    )
    yield opened
    await opened.close()


def of(seen: list[SessionEvent], kind: type) -> list[Any]:
    return [event for event in seen if isinstance(event, kind)]


def reads(count: int) -> list[Reply]:
    return [several_calls(READ) for _ in range(count)]


async def test_the_model_and_the_person_are_told_of_a_call_that_repeats_itself(
    session: Session, server: Loopback
) -> None:
    server.plays(*reads(REPEATS_TOLD + 1), chat("I stop."))
    seen = await turn(session, "Look")
    shown = [result.shown for result in of(seen, ToolFinished)]
    assert not any("in a row" in text for text in shown[: REPEATS_TOLD - 1])
    assert "made 5 times in a row, with the same arguments and the same result" in shown[REPEATS_TOLD - 1]
    assert "made 6 times in a row" in shown[-1]
    assert [notice.text for notice in of(seen, Notice)] == [
        "read_file was called 5 times in a row, with the same arguments and the same result. The model was informed."
    ]
    assert "made 5 times in a row" in asked(server)[REPEATS_TOLD].json["messages"][-1]["content"]
    assert isinstance(seen[-1], AnswerStored)


async def test_other_calls_between_and_other_arguments_are_no_repetition(session: Session, server: Loopback) -> None:
    other = several_calls(("find_files", {"pattern": "*.py"}))
    server.plays(
        *reads(4), other, *reads(4), several_calls(("read_file", {"path": "cart.py", "first_line": 2})), chat("Done.")
    )
    seen = await turn(session, "Look")
    assert not of(seen, Notice)
    assert not any("in a row" in result.shown for result in of(seen, ToolFinished))


async def test_after_ten_the_person_is_asked_and_after_ten_more_again(session: Session, server: Loopback) -> None:
    server.plays(*reads(2 * REPEATS_ASKED))
    seen = await turn(session, "Look", further=[GO_ON, NO])
    first, second = of(seen, CallLimitReached)
    assert first.question == (
        "read_file was called 10 times in a row, with the same arguments and the same result. Continue for another 10?"
    )
    assert second.made == 2 * REPEATS_ASKED
    assert isinstance(seen[-1], Stopped)


async def test_without_a_person_the_turn_ends(session: Session, server: Loopback) -> None:
    server.plays(*reads(REPEATS_ASKED))
    seen = await turn(session, "Look")
    assert isinstance(seen[-1], TurnFailed) and seen[-1].code == "repeated_calls"


async def test_repetitions_in_one_answer_end_at_the_same_limit(session: Session, server: Loopback) -> None:
    server.plays(several_calls(*[("run_command", {"command": "true"})] * 30), chat("I stop."))
    seen = await turn(session, "Look", permit=False, further=[GO_ON])
    results = of(seen, ToolFinished)
    assert len(results) == 30, "each call has its result"
    assert sum("may make no more tool calls" in result.shown for result in results) == 30 - REPEATS_ASKED
    assert len(of(seen, PermissionRequested)) == REPEATS_ASKED
    assert isinstance(seen[-1], AnswerStored)


async def test_a_call_that_is_declined_again_and_again_is_a_repetition(session: Session, server: Loopback) -> None:
    server.plays(*[several_calls(("run_command", {"command": "true"}))] * REPEATS_ASKED)
    seen = await turn(session, "Look", permit=False, further=[NO])
    assert len(of(seen, PermissionDenied)) == REPEATS_ASKED
    assert len(of(seen, CallLimitReached)) == 1


async def test_a_command_that_only_takes_another_time_is_a_repetition(session: Session, server: Loopback) -> None:
    command = "python3 -c \"import time; print('1 failed in', time.perf_counter(), 's')\""
    server.plays(*[several_calls(("run_command", {"command": command}))] * REPEATS_TOLD, chat("I stop."))
    seen = await turn(session, "Look", permit=True)
    assert "in a row" in of(seen, ToolFinished)[-1].shown


def repeated(*pairs: tuple[str, str]) -> RepeatedCalls:
    """After calls with these arguments and results."""
    counted = RepeatedCalls()
    for arguments, result in pairs:
        counted.take(ToolCall("c", "command_output", arguments), ToolOutput(result, result))
    return counted


def test_waiting_for_a_command_that_runs_is_no_repetition() -> None:
    assert repeated(*[('{"handle": "c1"}', "[runs for 3.1 s; no new output]\n")] * 30).count == 1
    assert repeated(*[('{"handle": "c1"}', "[exit 0 after 3.1 s; no new output]\n")] * 30).count == 30


def test_the_order_and_the_spaces_of_arguments_make_no_difference() -> None:
    assert repeated(('{"a": 1, "b": 2}', "x"), ('{"b":2,"a":1}', "x")).count == 2
    assert repeated(('{"a": 1}', "x"), ('{"a": 2}', "x")).count == 1
    assert repeated(("{", "x"), ("{", "x")).count == 2
