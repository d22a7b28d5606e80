"""What a model answers with nothing recalled and no tool run is its own answer, unverified: never exact evidence."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.services.recall import recall, recall_markdown
from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.trust import Trust
from memory.memory import Memory
from memory.origin import UNVERIFIED, UNVERIFIED_DOUBT
from memory.records import EntryDraft, EntryKind
from memory.search import Hit, Query
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session
from tests.loopback import Loopback, chat

INVENTED = "The meeting with the harbour office was on November 28."


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(tools=True, window=8_000, retries=0))
    yield opened
    await opened.close()


async def send(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


def hit_of(memory: Memory, text: str) -> Hit:
    return next(hit for hit in memory.search.query(Query(text=text)).hits if hit.role == "assistant")


async def test_an_answer_from_nothing_is_unverified_wherever_it_is_found(session: Session, server: Loopback) -> None:
    server.plays(chat(INVENTED), chat("I do not know."))
    await send(session, "When did we sit down with the harbour people?")
    hit = hit_of(session.memory, "meeting harbour office")
    assert (hit.trust, hit.snippet) == (Trust.APPROXIMATE, INVENTED)
    assert "· assistant, unverified ·" in str(hit.citation)
    exact = session.memory.search.query(Query(text="meeting harbour office", trust=Trust.EXACT)).hits
    assert {found.role for found in exact} == {"user"}
    for request in (hit.id, "meeting harbour office"):
        (passage,) = [found for found in recall(session.memory, request).hits if found.id == hit.id]
        assert (passage.trust, passage.warnings) == (Trust.APPROXIMATE, (UNVERIFIED_DOUBT,))
        assert UNVERIFIED_DOUBT in recall_markdown(session.memory, request)
    assert session.memory.passage(session.memory.conversations.entry(hit.entry or 0)).trust is Trust.EXACT  # its bytes
    session.new()
    await send(session, "When was the meeting with the harbour office?")
    sent = server.requests[-1].json["messages"][-1]["content"]
    assert ' trust="unverified">' in sent and f"assistant, unverified: {INVENTED}" in sent


@pytest.mark.parametrize("source", ["tool", "recall", "attachment"])
async def test_an_answer_with_a_source_is_not(session: Session, server: Loopback, tmp_path: Path, source: str) -> None:
    added = "The office has moved to pier 17, near the bakery Rossi."
    if source == "tool":
        server.plays(calls("read_file", path="nothing.txt"), chat(added))
        await send(session, "Where is the harbour office?")
    elif source == "recall":
        server.plays(chat("Noted."), chat(added))
        await send(session, "The harbour office is in Sète, at the old lighthouse.")
        session.new()
        await send(session, "Where is the harbour office in Sète, at which lighthouse?")
    else:
        from context.layers.message import load_attachment

        (tmp_path / "a.txt").write_text("pier")
        server.plays(chat(added))
        async for _ in session.send("Where is the office?", [load_attachment(tmp_path / "a.txt")]):
            pass
    assert hit_of(session.memory, "office pier bakery Rossi").trust is Trust.EXACT


async def test_an_older_answer_is_unverified_where_nothing_went_with_its_question(session: Session) -> None:
    memory = session.memory
    cold, conversation = memory.cold, memory.cold.new_conversation(clear("Old"))

    def said(role: Role, text: str, parent: int | None, **meta: object) -> int:
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=role,
            text=clear(text),
            meta=meta,
        )
        return cold.append(draft).seq

    question = said(Role.USER, "When was it?", None)
    old = said(Role.ASSISTANT, INVENTED, question)
    known = said(Role.ASSISTANT, "The meeting with the harbour office was in June.", question, **{UNVERIFIED: False})
    trusts = {hit.entry: hit.trust for hit in memory.search.query(Query(text="meeting harbour office")).hits}
    assert trusts == {old: Trust.APPROXIMATE, known: Trust.EXACT}


async def test_it_comes_behind_what_the_user_said_and_takes_nothing_away(session: Session, server: Loopback) -> None:
    decision = "Orders: the benchmarks say SQLite in WAL mode, one file to back up, so that is decided."
    asked = "Which database did we decide on for the orders?"
    invented = "The database that we decided on for the orders is `orders`."
    cold = session.memory.cold
    for title, texts in (
        ("Week 1", (decision, "Noted.")),
        ("Week 2", (asked, invented)),
        ("Week 3", (asked, invented)),
    ):
        conversation, parent = cold.new_conversation(clear(title)), None
        for role, text in zip((Role.USER, Role.ASSISTANT), texts, strict=True):
            meta = {UNVERIFIED: True} if role is Role.ASSISTANT else {}
            draft = EntryDraft(
                conversation=conversation.seq,
                parent=parent,
                kind=EntryKind.MESSAGE,
                role=role,
                text=clear(text),
                meta=meta,
            )
            parent = cold.append(draft).seq
    hits = [hit for hit in session.memory.search.query(Query(text=asked)).hits if hit.snippet != asked]
    assert [hit.snippet for hit in hits][:2] == [decision, invented] and hits[1].score > hits[0].score
    server.plays(chat("."))
    await send(session, asked)
    sent = server.requests[-1].json["messages"][-1]["content"]
    assert decision in sent and (invented not in sent or sent.index(decision) < sent.index(invented))
