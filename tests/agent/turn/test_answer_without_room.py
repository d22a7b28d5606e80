"""An answer that ends while SQLite has no room: it is kept in memory, and stored whole once there is room.

The limit of pages is SQLite's own: small rows fit, the answer does not, and the error is that of a full disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agent.background.scheduler import UNSTORED
from agent.events import ContextReady, Notice, SessionEvent, Stopped, TextDelta, TurnFailed
from agent.session import Session
from agent.turn import storage_notices
from agent.turn.ports import TurnInput
from foundation.paths import Workspace
from memory.cold.sql import fetch
from memory.errors import StoreFull
from memory.records import Entry
from memory.tool_calls import may_have_run, tool_calls
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import open_session, several_calls
from tests.loopback import Loopback, Pause, Stall, chat, data, delta, stream

MODELS = ModelSettings(tools=True, window=200_000, retries=0)
SPARE = 5  # pages: for small rows, not for an answer
PIECES = [  # hardly compressible
    f"word{number} " + " ".join(sha256(f"{number} {line}".encode()).hexdigest() for line in range(40)) + "\n"
    for number in range(40)
]
WHOLE = "".join(PIECES)


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=MODELS)
    yield opened
    await limit(opened, 0)
    await opened.close()


async def limit(session: Session, spare: int) -> None:
    """Leaves so many pages to the store; 0: as many as it wants."""

    def set_limit() -> None:
        def work(db: Any) -> None:
            ((pages,),) = fetch(db, "PRAGMA page_count")
            fetch(db, f"PRAGMA max_page_count = {pages + spare if spare else 1_000_000_000}")

        session.memory.cold._writer.run_bare(work)  # noqa: SLF001 - a full disk, as SQLite tells it

    await asyncio.to_thread(set_limit)


async def turn(
    session: Session, text: str, at_event: Callable[[SessionEvent], bool] = lambda _: False, *, full: bool = True
) -> list[Any]:
    """The events of a turn that has no room from its answer on; it is stopped at the event that `at_event` names."""
    seen: list[SessionEvent] = []
    async for event in session.send(text):
        seen.append(event)
        if full and isinstance(event, ContextReady):
            await limit(session, SPARE)
        if at_event(event):
            session.stop()
    return seen


async def answers(session: Session) -> list[tuple[Entry, str]]:
    """The answers of the conversation with their texts, oldest first."""
    found = [entry for entry in await session.branch.history() if entry.role is Role.ASSISTANT]
    return [(entry, (await asyncio.to_thread(session.memory.passage, entry)).text) for entry in found]


async def room_again(session: Session) -> None:
    await limit(session, 0)
    async with asyncio.timeout(30):
        while session.jobs.answers.due() or session.working:
            await asyncio.sleep(0.01)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.background.scheduler.RETRY_S", 0.02)


@pytest.mark.usefixtures("fast")
async def test_a_whole_answer_is_stored_whole_with_its_mirror_once_there_is_room(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    told: list[str] = []
    session.jobs.answers.on_notice = told.append
    server.plays(chat(*PIECES))
    seen = await turn(session, "Tell me all.")
    assert isinstance(failed := seen[-1], TurnFailed)
    assert "your message is saved," in failed.message
    assert "the answer is then stored" in failed.hint
    assert failed.hint.endswith("/retry asks again.")
    await session.background.idle()
    assert session.working == UNSTORED
    ((before, _),) = await answers(session)
    assert not before.complete
    await room_again(session)
    ((answer, text),) = await answers(session)
    assert (answer.seq, answer.complete, text) == (before.seq, True, WHOLE)
    assert told == ["There is free space again: the unsaved answer is now stored."]
    await session.background.idle()
    (mirror,) = workspace.conversations.glob("*.md")
    assert "word39 " in mirror.read_text("utf-8")


async def test_an_answer_is_stored_before_the_next_message(session: Session, server: Loopback) -> None:
    server.plays(chat(*PIECES), chat("Yes."))
    await turn(session, "Tell me all.")
    await limit(session, 0)
    await turn(session, "Is that all?", full=False)
    (first, text), (_, second) = await answers(session)
    assert (first.complete, text, second) == (True, WHOLE, "Yes.")


async def test_an_answer_that_was_never_given_room_is_stored_as_the_session_closes(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server, models=MODELS)
    server.plays(chat(*PIECES))
    await turn(session, "Tell me all.")
    await session.background.idle()
    assert session.conversation
    ref = session.conversation.id
    await limit(session, 0)
    await session.close()
    again = open_session(workspace, tmp_path, server, models=MODELS)
    await again.resume(ref)
    assert [text for _, text in await answers(again)] == [WHOLE]
    await again.close()


@pytest.mark.usefixtures("fast")
async def test_a_notice_comes_while_it_streams_and_the_stream_goes_on_and_is_stored_at_the_next_flush(
    session: Session, server: Loopback
) -> None:
    pieces = [step for piece in PIECES for step in (data(delta(content=piece)), Pause(0.05))]
    server.plays(stream(*pieces, data(delta(content="END")), Stall()))
    seen: list[SessionEvent] = []
    async for event in session.send("Tell me all."):
        seen.append(event)
        if isinstance(event, ContextReady):
            await limit(session, SPARE)
        elif event == Notice("warning", storage_notices.FULL):
            await limit(session, 0)
        elif isinstance(event, TextDelta) and event.text.endswith("END"):
            session.stop()
    notices = [event.text for event in seen if isinstance(event, Notice)]
    assert notices == [storage_notices.FULL, storage_notices.STORED]
    assert isinstance(seen[-1], Stopped)
    assert [text for _, text in await answers(session)] == [f"{WHOLE}END"]


@pytest.mark.usefixtures("fast")
async def test_an_answer_that_was_stopped_keeps_what_the_screen_showed_and_no_hidden_words(
    session: Session, server: Loopback
) -> None:
    server.plays(stream(*(data(delta(content=piece)) for piece in [*PIECES, "ZORKMID42 ", "end"]), Stall()))
    seen = await turn(
        session,
        "It is <private>ZORKMID42</private>. Say all.",
        lambda event: isinstance(event, TextDelta) and event.text.endswith("end"),
    )
    assert isinstance(seen[-1], TurnFailed)
    kept: Any = session.jobs.answers._unstored[0]  # noqa: SLF001 - what is kept in memory meanwhile
    assert "word0" in repr(vars(kept.func.__self__))
    assert "ZORKMID" not in repr((vars(kept.func.__self__), kept.keywords))
    await room_again(session)
    ((answer, text),) = await answers(session)
    assert (answer.complete, answer.meta["stopped"], text) == (False, True, f"{WHOLE}[private] end")


@pytest.mark.usefixtures("fast")
async def test_calls_of_an_answer_that_had_no_room_are_stored_as_not_run(session: Session, server: Loopback) -> None:
    server.plays(several_calls(("search_memory", {"query": "tea"}), before=WHOLE))
    assert isinstance((await turn(session, "Which tea?"))[-1], TurnFailed)
    await room_again(session)
    ((answer, text),) = await answers(session)
    assert (len(tool_calls(answer)), may_have_run(answer), text) == (1, False, WHOLE)


async def test_a_message_sent_into_the_turn_is_not_said_to_be_kept_before_it_is(
    session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Person:
        waits = False

        async def take(self) -> TurnInput | None:
            self.waits = False
            return TurnInput("Only green ones.", steers=True)

    def refuse(*_: object, **__: object) -> None:
        raise StoreFull("No space is left", "Nothing was written;")

    session.steering = person = Person()
    server.plays(stream(data(delta(content="Black ")), Stall()))
    seen: list[SessionEvent] = []
    async for event in session.send("Which tea?"):
        seen.append(event)
        if isinstance(event, TextDelta):
            person.waits = True
            monkeypatch.setattr(session.context, "reload", refuse)
            session.steer()
    monkeypatch.undo()
    assert isinstance(failed := seen[-1], TurnFailed)
    assert failed.message == "Nothing was written;"
