"""What is told and shown of tool calls whose results were never stored."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, TurnFailed
from agent.session import Session
from agent.turn.store import StoredTurn
from context.layers.conversation import turn_messages
from foundation.paths import Workspace
from memory.records import Entry, EntryKind
from models.messages import Role, ToolResult
from models.settings import ModelSettings
from tests.agent.conftest import Run
from tests.agent.sessions import asked, open_session, several_calls, turn
from tests.loopback import Loopback, chat

UNKNOWN = "(interrupted: no result was stored; it may have run in part)"


@pytest.fixture
async def opened(root: Path, server: Loopback, tmp_path: Path) -> AsyncIterator[Any]:
    """Opens the session anew, as after the end of the program."""
    sessions: list[Session] = []
    models = ModelSettings(window=16_000, retries=0)

    async def anew(conversation: str = "") -> Session:
        for session in sessions:
            await session.close()
        sessions[:] = [open_session(Workspace(root), tmp_path, server, models=models, project=(tmp_path,))]
        if conversation:
            await sessions[0].resume(conversation)
        return sessions[0]

    yield anew
    await sessions[0].close()


def results(server: Loopback) -> list[tuple[str, str]]:
    """The tools' messages of the last request."""
    messages = asked(server)[-1].json["messages"]
    return [(one["tool_call_id"], one["content"]) for one in messages if one["role"] == "tool"]


async def broken_off(session: Session, monkeypatch: pytest.MonkeyPatch, after: int) -> str:
    """A turn that ends after so many of its results are stored; gives its conversation."""
    stored, store = [], StoredTurn.tool_result

    def breaks(turn: StoredTurn, *arguments: Any) -> Any:
        if len(stored) >= after:
            raise OSError(5, "gone")
        stored.append(1)
        return store(turn, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(StoredTurn, "tool_result", breaks)
        assert isinstance((await turn(session, "go", permit=True))[-1], TurnFailed)
    assert session.conversation is not None
    return session.conversation.id


async def test_a_call_that_began_is_told_as_interrupted_and_shown(
    opened: Any, server: Loopback, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    writes = ("write_file", {"path": "a.txt", "content": "a"})
    server.plays(several_calls(writes, ("run_command", {"command": "echo 推送 ``` 🚀"})))
    id_ = await broken_off(await opened(), monkeypatch, after=1)
    server.plays(chat("Let me look first."))
    session = await opened(id_)
    seen = await turn(session, "and now?")
    assert isinstance(seen[-1], AnswerStored)
    (_, written), second = results(server)
    assert "interrupted" not in written and second == ("call_1", UNKNOWN)
    shown = run("conversations", "show", id_).out
    assert "run_command: echo 推送 ``` 🚀" in shown
    assert shown.count(UNKNOWN) == 1


@pytest.mark.parametrize(
    ("complete", "reason", "told"),
    [(True, "tool_calls", UNKNOWN), (True, None, UNKNOWN), (True, "stop", "(not run)"), (False, None, "(not run)")],
)
def test_a_call_that_never_began_is_told_as_not_run(complete: bool, reason: str | None, told: str) -> None:
    meta = {"tool_calls": [{"id": "call_0", "name": "run_command", "arguments": "{}"}]}
    answer = Entry(
        seq=1,
        id="e_1",
        conversation="c_1",
        conversation_seq=1,
        parent=None,
        kind=EntryKind.MESSAGE,
        role=Role.ASSISTANT,
        time=datetime(2026, 11, 23, tzinfo=UTC),
        text="",
        chars=0,
        meta=meta | ({"reason": reason} if reason else {}),
        complete=complete,
    )
    (_, _, past) = turn_messages([answer], lambda _: "", {})
    assert past.message.parts == (ToolResult("call_0", "run_command", told, True),)
