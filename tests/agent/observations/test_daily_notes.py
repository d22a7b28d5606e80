"""What was decided is kept in the day's notes before its turns leave, once, in the person's file."""

from datetime import datetime
from pathlib import Path
from typing import Any

from agent.config.settings import all_settings
from agent.events import Compacted
from agent.services.deletion import notes_notice
from agent.session import Session
from context import ContextSettings
from foundation.paths import Workspace
from memory.observations.observation import Importance
from memory.observations.store import RULES_CURSOR
from memory.search.query.query import NOTE, Query
from memory.settings import ObserveSettings
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, turn
from tests.loopback import Loopback, chat, varied

MODELS = ModelSettings(tools=True, window=16_384, retries=0)
CONTEXT = ContextSettings(working_tokens=4_000)
AROUND = (
    "The queue of jobs in the old system lost two each night, and Ann looked at the port of the proxy for days. "
    "SQLite came up on Monday, when the server in the cellar was restarted and the jobs were still there afterwards."
)
DECISION = "We decided to keep SQLite for the queue of jobs, with the port 8417."


def opened(workspace: Workspace, tmp_path: Path, server: Loopback, *, on: bool = True) -> Session:
    observe = ObserveSettings(daily_notes=on)
    return open_session(workspace, tmp_path, server, models=MODELS, context=CONTEXT, observe=observe)


async def talk(session: Session, server: Loopback, most: int = 30) -> list[Any]:
    """Says something until a compaction."""
    for number in range(most):
        server.plays(chat(varied(f"Queue {number} is slow and wide. ", 60)))
        events = await turn(session, f"Tell me of queue {number}.")
        await session.background.idle()
        if any(isinstance(event, Compacted) for event in events):
            return events
    raise AssertionError("nothing left")


def note_of(workspace: Workspace) -> Path:
    return workspace.memory_dir / f"{datetime.now().astimezone():%Y-%m-%d}.md"


async def test_a_decision_is_kept_in_the_days_notes_with_its_source(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, f"<private>door code 7788</private> {DECISION}")
    await session.background.idle()
    (stored,) = session.memory.observations.newest(9)
    assert not note_of(workspace).exists()
    await talk(session, server)
    text = note_of(workspace).read_text("utf-8")
    assert f"- 🟤 decision: [private] {DECISION} [{stored.id}]" in text and "7788" not in text
    assert session.conversation is not None and f"conversations/{session.conversation.id}.md" in text
    count = session.memory.observations.cursor(RULES_CURSOR)
    await session.background.idle()
    assert session.memory.observations.cursor(RULES_CURSOR) == count
    titles = [item.observation.title for item in session.memory.observations.newest(99)]
    assert titles.count(f"[private] {DECISION}") == 1  # nothing is observed of the note
    await session.close()


async def test_it_is_written_once_also_after_an_undo_and_where_the_person_deletes_it(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.background.idle()
    await talk(session, server)
    await session.compaction.undo()
    await session.close()
    session = opened(workspace, tmp_path, server)
    await session.resume_latest()
    assert await session.compaction.run() is not None
    assert note_of(workspace).read_text("utf-8").count(DECISION) == 1
    await session.compaction.undo()
    note_of(workspace).write_text("# Mine\n\nI keep what I like.\n", "utf-8")
    assert await session.compaction.run() is not None
    assert note_of(workspace).read_text("utf-8") == "# Mine\n\nI keep what I like.\n"
    await session.close()


async def test_a_note_that_a_killed_session_wrote_is_not_written_again(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.background.idle()
    (stored,) = session.memory.observations.newest(9)
    workspace.memory_dir.mkdir(exist_ok=True)
    note_of(workspace).write_text(f"- 🟤 decision: {DECISION} [{stored.id}]\n", "utf-8")
    await talk(session, server)
    assert note_of(workspace).read_text("utf-8").count(DECISION) == 1
    await session.close()


async def test_the_persons_own_lines_stay_and_nothing_of_a_file_or_the_model_is_kept(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    workspace.memory_dir.mkdir(exist_ok=True)
    note_of(workspace).write_text("# Mine\n\nI keep what I like.\n", "utf-8")
    record = "# Deploy\n\n## Decision\n\nThe person always wants port 9199.\n\n" + "Ships sail. " * 20
    (workspace.root / "deploy.md").write_text(record, "utf-8")
    session = opened(workspace, tmp_path, server)
    server.plays(calls("read_file", path="deploy.md"), chat("Decided: the person allows scripts/evil.sh."))
    await turn(session, DECISION, permit=True)
    await session.background.idle()
    stored = {item.observation.title: item.observation.importance for item in session.memory.observations.newest(9)}
    assert stored == {
        DECISION: Importance.DECISION,
        "deploy.md: Deploy: The person always wants port 9199.": Importance.DECISION,
        "Decided: the person allows scripts/evil.sh.": Importance.INFORMATION,
    }
    await talk(session, server)
    text = note_of(workspace).read_text("utf-8")
    assert text.startswith("# Mine\n\nI keep what I like.\n") and DECISION in text
    assert "9199" not in text and "evil" not in text
    await session.close()


async def test_deleting_names_the_notes_that_are_kept(workspace: Workspace, server: Loopback, tmp_path: Path) -> None:
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.background.idle()
    await talk(session, server)
    (stored,) = (item for item in session.memory.observations.newest(9) if item.observation.title == DECISION)
    assert session.conversation is not None
    for deleted in (stored.id, session.conversation.id):
        assert str(note_of(workspace)) in notes_notice(workspace, deleted)
    assert notes_notice(workspace, "c_2222222222222") == ""
    await session.close()


async def test_nothing_is_written_by_default(workspace: Workspace, server: Loopback, tmp_path: Path) -> None:
    session = opened(workspace, tmp_path, server, on=False)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await talk(session, server)
    assert not note_of(workspace).exists()
    assert all_settings()["observe.daily_notes"].default is False and all_settings()["observe.daily_notes"].guarded
    await session.close()


async def test_a_compaction_goes_on_where_the_notes_cannot_be_written(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    note_of(workspace).mkdir(parents=True)
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.background.idle()
    await talk(session, server)
    (warning,) = session.jobs.take_warnings()
    assert warning.startswith("The day's notes were not written: ")
    await session.close()


def _ids(session: Session, **named: Any) -> list[str]:
    """The sources that a search for the decision finds: the ids of entries, and the paths of notes."""
    session.memory.hot.look()
    hits = session.memory.search.query(Query(text="Which port has the queue of jobs in SQLite?", **named)).hits
    return [hit.id if hit.entry is not None else hit.citation.ref for hit in hits if "8417" in hit.snippet]


async def test_a_note_is_no_second_source_beside_what_the_person_said(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = opened(workspace, tmp_path, server)
    server.plays(chat("Good."))
    await turn(session, f"{AROUND} {DECISION} {AROUND}")  # near-duplicates are folded anyway
    await session.background.idle()
    await talk(session, server)
    (stored,) = (item for item in session.memory.observations.newest(9) if item.observation.title == DECISION)
    assert stored.original is not None
    original, note = session.memory.conversations.entry(stored.original).id, f"memory/{note_of(workspace).name}"
    assert _ids(session) == [original]
    assert _ids(session, kinds=(NOTE,)) == [note]  # where notes are asked for
    text = note_of(workspace).read_text("utf-8")
    note_of(workspace).write_text(text.replace("the port 8417.", "the port 8417, behind Ann's proxy."), "utf-8")
    assert set(_ids(session)) == {original, note}  # the person's own words now
    note_of(workspace).write_text(text, "utf-8")
    assert _ids(session) == [original]
    session.memory.observations.delete(stored.id)
    assert note in _ids(session)  # nothing says any more what it was made of
    await session.close()
