"""A model that answers from memory adds no evidence: its answer and the results of its memory tools are derived."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import PermissionRequested
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from context.compaction.projection import summary_entries
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.origin import DERIVED_FROM, Origin
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, several_calls
from tests.loopback import Loopback, chat

KEY = "The greenhouse key hangs behind the blue door."


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(tools=True, window=8_000, retries=0))
    yield opened
    await opened.close()


async def send(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


async def test_after_many_answers_from_memory_the_person_is_cited(session: Session, server: Loopback) -> None:
    search = calls("search_memory", query="greenhouse key")
    said = chat(f"As you said: {KEY}")
    server.plays(chat("Noted."), search, chat(KEY), search, said, chat("The door is blue."))
    await send(session, KEY)
    session.new()
    await send(session, "Where is the greenhouse key?")
    session.new()
    await send(session, "And the greenhouse key, where does it hang?")
    await send(session, "What colour is the door?")

    hits = session.memory.search.query(Query(text="greenhouse key")).hits
    assert (hits[0].origin, hits[0].snippet) == (Origin.USER, KEY)
    assert {hit.origin for hit in hits} == {Origin.USER}
    answers = session.memory.search.query(Query(kinds=("message",), speaker="m", limit=20)).hits
    derived = {
        hit.snippet: session.memory.conversations.find_entry(hit.entry_id).meta.get(DERIVED_FROM)
        for hit in answers
        if hit.snippet  # not those that call a tool
    }
    source = hits[0].id
    assert derived == {
        "Noted.": None,
        KEY: [source],
        f"As you said: {KEY}": [source],
        "The door is blue.": [source],
    }


WORDINGS = (
    "greenhouse key",
    "Where is the key of the greenhouse?",
    "What hangs behind the blue door?",
    "key blue door",
)
ANSWERS = (
    "As you said: {}",
    "The key for your greenhouse is behind the blue door.",
    "Behind the blue door: that is where the greenhouse key hangs. The key is still there, as far as I know.",
    "You told me where it hangs. The greenhouse key hangs behind the blue door, so look behind the blue door.",
    "Your greenhouse key is hanging behind the blue door, ready for when you water the tomatoes.",
)


async def test_after_five_answers_from_memory_the_person_is_first_for_every_wording(
    session: Session, server: Loopback
) -> None:
    search = calls("search_memory", query="greenhouse key")
    server.plays(chat("Noted."), *(reply for answer in ANSWERS for reply in (search, chat(answer.format(KEY)))))
    await send(session, KEY)
    for number in range(len(ANSWERS)):
        session.new()
        await send(session, f"{WORDINGS[number % 3 + 1].rstrip('?')}, please?")
    first = {wording: session.memory.search.query(Query(text=wording)).hits[0] for wording in WORDINGS}
    assert {wording: hit.snippet for wording, hit in first.items()} == dict.fromkeys(WORDINGS, KEY)


async def test_what_announces_a_search_is_no_evidence(session: Session, server: Loopback) -> None:
    search = ("search_memory", {"query": "greenhouse key"})
    announced = "Let me search my memory for the greenhouse key, with search_memory."
    server.plays(chat("Noted."), several_calls(search, before=announced), chat(KEY))
    await send(session, KEY)
    session.new()
    await send(session, "Where is the greenhouse key?")
    hits = session.memory.search.query(Query(text="search memory greenhouse key")).hits
    assert announced not in [hit.snippet for hit in hits]
    answers = session.memory.search.query(Query(kinds=("message",), speaker="m", limit=20)).hits
    assert announced in [hit.snippet for hit in answers]


async def test_the_receipt_of_a_note_is_no_evidence(session: Session, server: Loopback) -> None:
    server.plays(calls("remember", note=KEY), chat("It is kept."))
    async for event in session.send("Please remember where the greenhouse key hangs."):
        if isinstance(event, PermissionRequested):
            event.answer.set_result(PermissionAnswer(True))
    (note,) = session.memory.hot.notes()
    (receipt,) = session.memory.search.query(Query(kinds=("tool_result",))).hits
    assert receipt.snippet == f"Remembered as {note.id}."
    assert receipt.id not in [hit.id for hit in session.memory.search.query(Query(text=f"remembered {note.id}")).hits]


async def test_what_a_model_adds_is_evidence(session: Session, server: Loopback) -> None:
    server.plays(chat("Noted. The lock takes a key of type Abus 65."))
    await send(session, KEY)
    hits = session.memory.search.query(Query(text="which type of key does the lock take")).hits
    assert Origin.ASSISTANT in [hit.origin for hit in hits]


async def test_a_malformed_call_and_its_correction_are_no_evidence(session: Session, server: Loopback) -> None:
    written = '{"name": "greenhouse", "arguments": {"key": "blue door"}}'
    server.plays(chat(written), chat("Behind the door."), chat("Noted."))
    await send(session, "Where is the greenhouse key?")
    conversations = session.memory.conversations
    latest = conversations.latest()
    assert latest is not None and latest.leaf is not None
    entries = conversations.branch(latest.leaf).entries
    correction = next(entry for entry in entries if entry.speaker == "greenhouse")
    assert correction.meta["malformed"] is True and not correction.is_evidence
    assert all(entry.is_evidence for entry in entries if entry is not correction)
    hits = session.memory.search.query(Query(text="There is no tool greenhouse", limit=20)).hits
    assert correction.id not in {hit.entry_id for hit in hits}
    assert all("no tool" not in entry.text for entry in summary_entries(entries, lambda entry: entry.text or ""))


async def test_a_written_call_of_an_earlier_version_is_not_recalled(session: Session, server: Loopback) -> None:
    written = '{"name": "greenhouse", "arguments": {"key": "blue door"}}'
    conversation = session.memory.conversations.new(clear("old"))
    draft = EntryDraft(
        conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.ASSISTANT, text=clear(written)
    )
    entry = session.memory.conversations.append(draft)
    assert not entry.is_evidence
    server.plays(chat("I do not know."))
    await send(session, "Where is the greenhouse key of the blue door?")
    (sent,) = [post.json for post in server.posts if post.path.endswith("/completions")]
    assert "arguments" not in str(sent["messages"][1:])
