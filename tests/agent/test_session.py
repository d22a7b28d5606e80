"""A session over a real store, with a model on loopback: its conversations, branches, history, model and end."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.events import AnswerStored, Compacted, SessionEvent, Stopped, TextDelta, UserStored
from agent.session import Session
from agent.turn.recorder import AnswerRecorder
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.errors import NotFound, StoreClosed
from memory.memory import Memory
from memory.records import Entry
from models.messages import Role
from models.settings import ModelSettings
from tests.loopback import Loopback, Stall, chat, data, delta, stream

LONG = "The boiler's pressure is 1.4 bar and its valve is by the window. " * 12


@pytest.fixture
def config(server: Loopback, tmp_path: Path) -> Config:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    models = ModelSettings(window=8_000, retries=0)
    return Config(model=f"openai:m@{server.address}/v1", environment=environment, models=models)


@pytest.fixture
async def session(workspace: Workspace, config: Config) -> AsyncIterator[Session]:
    prepare_workspace(workspace, config.environment)
    opened = Session.open(workspace, config)
    yield opened
    await opened.close()


async def say(session: Session, server: Loopback, text: str, answer: str = "Yes.") -> str:
    """A whole turn; gives the answer's entry."""
    server.plays(chat(answer))
    seen = [event async for event in session.send(text)]
    assert isinstance(seen[-1], AnswerStored), seen[-1]
    return seen[-1].entry


async def texts(session: Session, limit: int = 99) -> list[str | None]:
    return [entry.text for entry in await session.branch.history(limit)]


# ── conversations ──


async def test_a_new_conversation_is_stored_with_its_first_message(session: Session, server: Loopback) -> None:
    assert session.conversation is None and await session.branch.history() == []
    await say(session, server, "How is the boiler?\nAnd the roof?")
    assert session.conversation is not None and session.conversation.title == "How is the boiler?"
    session.new("Garden")
    assert session.conversation is None and session.report is None
    assert len(await session.branch.recent(9)) == 1
    await say(session, server, "When are the roses cut?")
    assert session.conversation.title == "Garden"
    session.new()
    await say(session, server, "Who sells slate?")
    assert session.conversation.title == "Who sells slate?"
    assert [found.title for found in await session.branch.recent(2)] == ["Who sells slate?", "Garden"]


async def test_a_conversation_is_resumed_by_id_by_the_beginning_of_its_id_and_by_title(
    session: Session, server: Loopback
) -> None:
    await say(session, server, "House")
    house = session.conversation
    session.new()
    await say(session, server, "Garden")
    assert house is not None
    for ref in (house.id, house.id[:-2], "House"):
        session.new()
        assert (await session.resume(ref)).id == house.id
        assert session.conversation is not None and session.conversation.id == house.id
    assert await texts(session) == ["House", "Yes."]
    session.new()
    latest = await session.resume_latest()
    assert latest is not None and latest.title == "Garden"


async def test_an_unknown_conversation_is_not_resumed_and_the_current_one_stays(
    session: Session, server: Loopback
) -> None:
    assert await session.resume_latest() is None
    await say(session, server, "House")
    before = session.conversation
    with pytest.raises(NotFound):
        await session.resume("Harbour")
    assert session.conversation is before


async def test_an_ambiguous_beginning_of_an_id_is_not_resumed(session: Session, server: Loopback) -> None:
    await say(session, server, "House")
    session.new()
    await say(session, server, "Garden")
    with pytest.raises(NotFound):
        await session.resume("c_")


async def test_a_conversation_is_renamed_in_the_store(session: Session, server: Loopback) -> None:
    with pytest.raises(TemporaryFailure):
        await session.branch.rename(as_given("Too early"))
    await say(session, server, "House")
    assert (await session.branch.rename(as_given("Trip"))).title == "Trip"
    session.new()
    assert (await session.resume("Trip")).title == "Trip"


# ── branches and history ──


async def test_a_branch_replaces_a_message_and_keeps_the_old_branch(session: Session, server: Loopback) -> None:
    await say(session, server, "One", "First")
    await say(session, server, "Two", "Second")
    (two, _), _one = await session.branch.own_messages(9)
    assert (await session.branch.branch_from(two.id)).text == "Two"
    assert await texts(session) == ["One", "First"]
    await say(session, server, "Deux", "Deuxième")
    assert await texts(session) == ["One", "First", "Deux", "Deuxième"]
    assert session.memory.cold.find(two.id).text == "Two"


async def test_nothing_is_stored_of_a_branch_before_its_message_is(session: Session, server: Loopback) -> None:
    await say(session, server, "One", "First")
    await say(session, server, "Two", "Second")
    assert session.conversation is not None
    stored, seq = session.memory.conversations, session.conversation.seq
    leaf = stored.at(seq).leaf
    (two, _), _one = await session.branch.own_messages(9)
    await session.branch.branch_from(two.id)
    assert stored.at(seq).leaf == leaf
    assert session.branch.take_back() and not session.branch.take_back()
    assert await texts(session) == ["One", "First", "Two", "Second"]
    await session.branch.branch_from(two.id)
    await session.resume(session.conversation.id)  # as after a restart
    assert await texts(session) == ["One", "First", "Two", "Second"]
    await session.branch.branch_from(two.id)
    first = stored.entry(two.parent or 0).seq
    assert (await session.context_report("Deux")).total_tokens < 8_000
    async for _ in session.branch.rewriting(_no_events(), lambda: two):  # a turn that ends before its message is stored
        pass
    assert stored.at(seq).leaf == leaf and session.branch.rewritten == two
    await say(session, server, "Deux", "Deuxième")
    assert await texts(session) == ["One", "First", "Deux", "Deuxième"] and session.branch.rewritten is None
    assert first in [entry.seq for entry in stored.path(stored.at(seq).leaf or 0)]


async def _no_events() -> AsyncGenerator[SessionEvent, None]:
    for event in ():
        yield event


async def test_a_branch_begins_at_a_message_of_the_users_alone(session: Session, server: Loopback) -> None:
    with pytest.raises(TemporaryFailure):
        await session.branch.branch_from("e_1")
    answer = await say(session, server, "One", "First")
    with pytest.raises(Misuse):
        await session.branch.branch_from(answer)
    with pytest.raises(NotFound):
        await session.branch.branch_from("e_zzzzzzzz")
    assert await texts(session) == ["One", "First"]


async def test_history_is_paged_from_the_end(session: Session, server: Loopback) -> None:
    for number in range(3):
        await say(session, server, f"Question {number}", f"Answer {number}")
    last = await session.branch.history(3)
    assert [entry.text for entry in last] == ["Answer 1", "Question 2", "Answer 2"]
    before = await session.branch.history(2, last[0].seq)
    assert [entry.text for entry in before] == ["Answer 0", "Question 1"]
    assert [entry.text for entry in await session.branch.history(9, before[0].seq)] == ["Question 0"]


async def test_own_messages_and_answers_come_newest_first(session: Session, server: Loopback) -> None:
    assert await session.branch.own_messages(9) == [] and await session.branch.answers(9) == []
    for number in range(3):
        await say(session, server, f"Question {number}", f"Answer {number}")
    assert [text for _, text in await session.branch.own_messages(2)] == ["Question 2", "Question 1"]
    assert await session.branch.answers(2) == ["Answer 2", "Answer 1"]


# ── the model ──


async def test_another_model_is_used_from_the_next_message_on(session: Session, server: Loopback) -> None:
    await say(session, server, "House")
    assert await session.restore_model() == ""
    first = session.profile.spec
    assert (await session.use_model("offline")).spec == "offline"
    async for _ in session.send("And now?"):
        pass
    assert await session.restore_model() == ""
    await session.use_model(first)
    assert "/model offline switches back" in await session.restore_model()


async def test_a_model_that_is_none_leaves_the_old_one_in_use(session: Session) -> None:
    before = session.model
    with pytest.raises(PalimpsestError):
        await session.use_model("nobody:nothing")
    assert session.model is before


# ── compaction ──


async def test_compact_does_what_the_outlook_says(session: Session, server: Loopback) -> None:
    with pytest.raises(TemporaryFailure):
        await session.compaction.run()
    for number in range(4):
        await say(session, server, f"{number}: {LONG}", LONG)
    outlook = await session.compaction.preview()
    assert outlook is not None and len(await session.branch.history(99)) == 8
    pages: list[int] = []
    receipt = await session.compaction.run(pages.append, label="Boiler")
    assert receipt is not None
    assert (receipt.entries, receipt.turns, receipt.pages) == (outlook.entries, outlook.turns, outlook.pages)
    assert receipt.tokens_before == outlook.tokens_before and receipt.archived == "Boiler"
    assert (receipt.tokens_after, receipt.summary_tokens) == (outlook.tokens_after, outlook.summary_tokens)
    assert pages[-1] == receipt.pages
    assert session.conversation is not None and session.conversation.leaf == receipt.summary_seq
    assert (await session.branch.history(1))[0].id == receipt.summary_entry
    assert [text for _, text in await session.branch.own_messages(9)][-1] == f"0: {LONG}"  # every word is still there


async def test_there_is_nothing_to_compact_while_a_turn_runs(session: Session, server: Loopback) -> None:
    for number in range(3):
        await say(session, server, f"{number}: {LONG}", LONG)
    events = session.send("And now?")
    assert isinstance(await anext(events), UserStored) and session.busy
    assert await session.compaction.preview() is None and await session.compaction.run() is None
    await events.aclose()
    assert await session.compaction.preview() is not None


async def test_a_turn_compacts_as_much_as_its_request_announced(session: Session, server: Loopback) -> None:
    for number in range(40):
        server.plays(chat(LONG))
        announced = await session.context_report(f"{number}: {LONG}")
        seen = [event async for event in session.send(f"{number}: {LONG}")]
        receipts = [event.receipt for event in seen if isinstance(event, Compacted)]
        if receipts:
            dropped = [one.name for layer in announced.layers for one in layer.dropped]
            assert f"{receipts[0].entries} older entries" in dropped
            return
    pytest.fail("a window of 8,000 tokens held it all")


# ── the end ──


async def test_closing_in_mid_turn_keeps_what_came(
    session: Session, server: Loopback, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    abandon = AnswerRecorder.abandon

    def slow(recorder: AnswerRecorder, **meta: Any) -> Entry | None:
        time.sleep(0.2)  # a slow disk: the store must not be closed meanwhile
        return abandon(recorder, **meta)

    monkeypatch.setattr(AnswerRecorder, "abandon", slow)
    server.plays(stream(data(delta(content="So ")), data(delta(content="far")), Stall()))
    told = asyncio.Event()
    seen: list[object] = []

    async def read() -> None:
        async for event in session.send("Tell me"):
            seen.append(event)
            if isinstance(event, TextDelta) and event.text == "far":
                told.set()

    reading = asyncio.create_task(read())
    await told.wait()
    await session.close()
    await reading
    assert isinstance(seen[-1], Stopped) and seen[-1].text == "So far"
    with pytest.raises(StoreClosed):
        await session.branch.history()
    memory = Memory.open(workspace)
    try:
        latest = memory.cold.latest()
        assert latest is not None and latest.leaf is not None
        kept = [(entry.role, entry.text) for entry in memory.cold.path(latest.leaf)]
        assert kept == [(Role.ASSISTANT, "So far"), (Role.USER, "Tell me")]
    finally:
        memory.close()


async def test_a_request_of_a_model_on_this_machine_costs_nothing_whatever_ends_it(
    session: Session, server: Loopback
) -> None:
    server.plays(stream(data(delta(content="So ")), data(delta(content="far")), Stall()))
    told = session.send("Tell me")
    async for event in told:
        if isinstance(event, TextDelta):
            break
    await told.aclose()  # as after a broken pipe
    (row,) = session.memory.spending()
    assert row.cost == {"local": True}
