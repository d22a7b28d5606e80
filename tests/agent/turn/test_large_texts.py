"""Texts too large for the request: archived at once, the beginning in view, the rest recalled; nothing is lost."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import Archiving, Notice, Recall, SessionEvent, Stopped, TurnFailed
from agent.services.deletion import attached_archives
from agent.session import Session
from context import Attachment
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.archive.vault import Vault
from memory.errors import StoreFull
from memory.records import EntryDraft, EntryKind
from models.excerpts import Excerpt, line_count, split_excerpt
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import open_session
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, chat

LINES = [f"{n}: the ferry passes the lighthouse and the garden of stone number {n * 7}." for n in range(1, 1201)]
LINES[899] = "900: The codeword of the expedition is quartz-lantern, agreed with Captain Okafor."
TEXT = "\n".join(LINES) + "\n"
QUESTION = "What is the codeword of the expedition?"


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(window=8_000, retries=0))
    yield opened
    await opened.close()


async def turn(session: Session, text: str, *files: Attachment, pastes: tuple[str, ...] = ()) -> list[SessionEvent]:
    seen = [event async for event in session.send(text, files, pastes=pastes)]
    assert_in_order(seen)
    return seen


def file(text: str = TEXT) -> Attachment:
    return Attachment("report.txt", "text/plain", text.encode())


def sent(server: Loopback) -> str:
    """The last message of the last request."""
    return str(server.posts[-1].json["messages"][-1]["content"])


def notices(events: list[SessionEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def archived(session: Session) -> list[str]:
    vault = session.memory.vault
    return ["".join(vault.read_page(page.id).text for page in vault.pages(row.seq)) for row in vault.archives()]


async def test_a_file_too_large_is_archived_and_the_message_says_which_lines_went_along(
    session: Session, server: Loopback
) -> None:
    server.plays(chat("Ok."))
    events = await turn(session, QUESTION, file())
    assert [event.names for event in events if isinstance(event, Archiving)] == [("report.txt",)]
    (said,) = notices(events)
    match = re.fullmatch(r"report\.txt: lines 1–(\d+) of 1,200 sent, all recallable \(#1\)\.", said)
    assert match is not None
    last = int(match[1])
    assert LINES[last - 1] in sent(server) and LINES[last] not in sent(server)
    assert f"… (lines 1–{last} of 1,200; the rest is not in this request" in sent(server)
    assert await archived(session) == [TEXT]
    assert session.memory.vault.archives()[0].label == "report.txt"


async def test_the_same_message_and_the_next_find_what_is_not_in_view(session: Session, server: Loopback) -> None:
    server.plays(chat("Ok."), chat("Ok."))
    (recall,) = [event for event in await turn(session, QUESTION, file()) if isinstance(event, Recall)]
    assert any(LINES[899] in span.text for span in recall.recalled)
    session.new()
    (recall,) = [event for event in await turn(session, "Who is Captain Okafor?") if isinstance(event, Recall)]
    assert any(LINES[899] in span.text for span in recall.recalled)


async def test_what_an_attachment_shows_is_not_recalled_beside_it(session: Session, server: Loopback) -> None:
    server.plays(chat("Ok."), chat("Ok."))
    lines = [*LINES[:5], "The codeword of the gardeners is copper-ladder.", *LINES[5:]]
    events = await turn(session, "What is the codeword of the gardeners?", file("\n".join(lines)))
    events += await turn(session, "Say it again: the codeword of the gardeners?")
    spans = [span for event in events if isinstance(event, Recall) for span in event.recalled]
    assert not any(lines[5] in span.text for span in spans)


async def test_a_pasted_text_too_large_leaves_its_line_count_in_the_message(session: Session, server: Loopback) -> None:
    server.plays(chat("Ok."))
    events = await turn(session, f"{QUESTION}\n\n{TEXT}", pastes=(TEXT,))
    (message,) = [entry for entry in await session.branch.history() if entry.role.value == "user"]
    assert re.fullmatch(rf"{re.escape(QUESTION)}\n\n\[Pasted text \S+ \S+ · 1,200 lines\]", message.text or "")
    assert await archived(session) == [TEXT]
    assert "sent, all recallable (#1)" in notices(events)[0]
    (recall,) = [event for event in events if isinstance(event, Recall)]
    assert any(LINES[899] in span.text for span in recall.recalled)


async def test_a_typed_text_too_large_keeps_its_ends_where_a_question_may_be(
    session: Session, server: Loopback
) -> None:
    server.plays(chat("Ok."))
    await turn(session, f"{TEXT}{QUESTION}")
    (message,) = [entry for entry in await session.branch.history() if entry.role.value == "user"]
    assert message.text is not None and message.text.endswith(QUESTION) and message.text.startswith(LINES[0])
    assert len(message.text) < 800
    (text,) = await archived(session)
    before, _, after = message.text.partition("[Pasted text")
    assert (before + text + after.partition("]")[2]) == TEXT + QUESTION


async def test_a_paste_that_fits_stays_in_the_message(session: Session, server: Loopback) -> None:
    server.plays(chat("Ok."))
    paste = "\n".join(LINES[:60])
    await turn(session, f"{QUESTION}\n\n{paste}", pastes=(paste,))
    assert sent(server).endswith(paste) and await archived(session) == []


async def test_a_file_attached_again_is_not_archived_again(session: Session, server: Loopback) -> None:
    server.plays(*[chat("Ok.")] * 3)
    await turn(session, QUESTION, file())
    assert "(#1)" in notices(await turn(session, "And now?", file()))[-1]
    assert "(#1)" not in notices(await turn(session, "Changed.", file(TEXT + "one more\n")))[-1]
    assert [row.label for row in session.memory.vault.archives()].count("report.txt") == 2


async def test_private_text_is_neither_archived_nor_stored_where_a_cut_parts_it(
    session: Session, server: Loopback
) -> None:
    server.plays(chat("Ok."))
    lines = [*LINES[:3], "<private>zanzibar", *LINES[3:1100], "zanzibar</private>", *LINES[1100:]]
    await turn(session, QUESTION, file("\n".join(lines)))
    assert LINES[2] in sent(server) and LINES[3] not in sent(server)
    everything = "".join(await archived(session)) + str([entry.sent for entry in await session.branch.history()])
    assert "zanzibar" not in everything and LINES[500] not in everything
    assert LINES[1150] in everything


async def test_a_private_span_across_the_ends_of_a_paste_keeps_it_in_the_message(
    session: Session, server: Loopback
) -> None:
    events = await turn(session, f"<private>{TEXT}</private> {QUESTION}", pastes=(TEXT,))
    assert isinstance(events[-1], TurnFailed) and await archived(session) == []
    (message,) = await session.branch.history()
    assert message.text is not None and "ferry" not in message.text


async def test_a_paste_that_cannot_be_archived_is_stored_whole(
    session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StoreFull("Full", "No space left on the disk.")

    monkeypatch.setattr(Vault, "archive_text", refuse)
    events = await turn(session, f"{QUESTION}\n\n{TEXT}", pastes=(TEXT,))
    assert notices(events) == ["The text could not be archived: No space left on the disk."]
    failed = events[-1]
    assert isinstance(failed, TurnFailed) and "The message is saved" in failed.hint
    (message,) = await session.branch.history()
    assert message.text == f"{QUESTION}\n\n{TEXT}"


async def test_a_file_that_cannot_be_archived_goes_with_its_beginning(
    session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Vault, "archive_text", refuse)
    server.plays(chat("Ok."))
    trouble, said = notices(await turn(session, QUESTION, file()))
    assert trouble == "report.txt could not be archived: No space left on device"
    assert said.endswith("of 1,200 sent, the rest is not sent.")
    assert LINES[0] in sent(server)


async def test_stopped_while_it_archives_the_message_is_stored_whole(session: Session, server: Loopback) -> None:
    seen: list[SessionEvent] = []
    async for event in session.send(f"{QUESTION}\n\n{TEXT}", pastes=(TEXT,)):
        seen.append(event)
        if isinstance(event, Archiving):
            session.stop()
    assert isinstance(seen[-1], Stopped) and await archived(session) == []
    (message,) = await session.branch.history()
    assert message.text == f"{QUESTION}\n\n{TEXT}"


async def test_the_preview_of_a_paste_too_large_archives_nothing(session: Session) -> None:
    report = await session.context_report(f"{TEXT}{QUESTION}")
    assert report.layers[3].dropped and await archived(session) == []


@pytest.mark.parametrize(
    "excerpt", [Excerpt(618, 5000), Excerpt(1, 1, partial=True, ref="#12"), Excerpt(0, 7, ref="#3")]
)
def test_the_note_of_an_excerpt_is_read_back(excerpt: Excerpt) -> None:
    assert split_excerpt(f"one\ntwo\n{excerpt.note}") == ("one\ntwo", excerpt)


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3), ("\n", 1)])
def test_lines_are_counted_as_an_editor_counts_them(text: str, lines: int) -> None:
    assert line_count(text) == lines


async def test_the_archives_of_its_attachments_are_deleted_with_a_conversation(
    session: Session, server: Loopback
) -> None:
    server.plays(chat("Ok."))
    await turn(session, QUESTION, file())
    assert session.conversation is not None
    (archive,) = attached_archives(session.memory, session.conversation)
    assert session.memory.vault.archives()[0].conversation == archive


async def test_an_imported_message_names_no_archive_of_ours(session: Session, server: Loopback) -> None:
    server.plays(chat("Ok."))
    await turn(session, QUESTION, file())
    memory = session.memory
    imported = memory.cold.new_conversation(clear("foreign"), source=clear("chatgpt"))
    archive = memory.conversations.at(memory.vault.archives()[0].conversation or 0)
    memory.conversations.append(
        EntryDraft(
            conversation=imported.seq,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=clear("x"),
            meta=cleared_fields({"archives": [archive.id]}),
        )
    )
    assert attached_archives(memory, memory.conversations.at(imported.seq)) == []
