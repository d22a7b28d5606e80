"""A conversation that is deleted is gone, wherever the deletion was cut short, and never comes back from a pack."""

import errno
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foundation.privacy import as_given
from foundation.trust import Citation, Trust
from memory.archive.lifecycle.deletion import ConversationDeleter
from memory.archive.packs.tombstones import NAME, read_tombstones
from memory.cold import conversations, deletions
from memory.cold.sql import fetch
from memory.context_store import NewEpoch, SentRequest
from memory.errors import Damaged, StoreBusy, StoreFull
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import RecalledSpan, Role, Text
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import mend, problems, talk


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    from foundation.paths import Workspace

    memory = Memory.open(Workspace(tmp_path), clock, read_only=False)
    for title in ("The boiler", "The attic"):
        memory.vault.archive_entries(talk(memory, 4, title), label=title)
    yield memory
    memory.close()


def named(memory: Memory, title: str) -> int:
    return next(one.seq for one in memory.cold.conversations() if one.title == title)


def titles(memory: Memory) -> list[str]:
    return sorted(one.title for one in memory.cold.conversations(kind=None))


class Killed(BaseException):
    pass


def cut_short(monkeypatch: pytest.MonkeyPatch, memory: Memory, where: str) -> None:
    """The deletion of “The boiler” ends there as a killed process would."""

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        match where:
            case "noted":
                patched.setattr(ConversationDeleter, "run_deletion", killed)
            case "rows":
                patched.setattr("memory.archive.lifecycle.deletion.conversations.delete", killed)
            case "manifests":
                patched.setattr("memory.archive.lifecycle.deletion.seal", killed)
            case "pages":
                patched.setattr(memory.vault.deleter, "release", killed)
            case _:
                patched.setattr("memory.archive.lifecycle.deletion.finish_if_complete", killed)
        with pytest.raises(Killed):
            memory.vault.delete_conversation(named(memory, "The boiler"))


CUTS = ("noted", "rows", "manifests", "pages", "settled")


@pytest.mark.parametrize("where", CUTS)
def test_one_that_is_cut_short_is_told_of_and_finished_by_the_next_to_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    cut_short(monkeypatch, memory, where)
    assert any(line.startswith("deletion ") for line in problems(memory))
    memory.recover()
    assert (titles(memory), problems(memory)) == (["The attic"], [])
    assert [row.label for row in memory.vault.archives()] == ["The attic"]
    assert len([name for name in memory.vault.storage.names() if name.endswith(".pages")]) == 1
    memory.recover()
    assert problems(memory) == []


@pytest.mark.parametrize("where", ["pages", "settled"])
def test_what_was_deleted_does_not_come_back_when_the_database_is_lost(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    cut_short(monkeypatch, memory, where)
    memory = anew(memory)
    done = mend(memory)
    assert done.problems == ()
    assert titles(memory) == ["The attic"]
    left = memory.vault.pages()
    assert all(memory.vault.read_page(page.id).label == "The attic" for page in left)
    assert len([name for name in memory.vault.storage.names() if name.endswith(".pages")]) == 1
    memory.close()


def test_a_pack_that_no_manifest_tells_of_does_not_bring_it_back_either(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_short(monkeypatch, memory, "pages")
    for name in memory.vault.storage.names():
        if name.endswith(".manifest"):
            memory.vault.storage.delete(name)
    memory = anew(memory)
    assert mend(memory).problems == ()
    assert len(memory.cold.conversations()) == 1
    assert len([name for name in memory.vault.storage.names() if name.endswith(".pages")]) == 1
    assert list(memory.workspace.damaged.rglob("*.pages")) == []  # and no copy of it is kept
    memory.close()


def test_pages_that_an_older_program_left_behind_are_told_of_and_let_go(memory: Memory) -> None:
    seq = named(memory, "The boiler")
    memory.cold.write(lambda db: conversations.delete(db, seq))  # and there 0.1.0 was killed
    assert any(line.startswith("deletion #") for line in problems(memory))
    assert mend(memory).problems == ()
    assert (titles(memory), [row.label for row in memory.vault.archives()]) == (["The attic"], ["The attic"])


def test_brought_in_anew_it_stands_and_comes_back_from_its_packs(memory: Memory) -> None:
    again = memory.cold.new_conversation(as_given("Kept"), source="notes", id="c7")
    memory.vault.delete_conversation(again.seq)
    assert len(read_tombstones(memory.vault.storage, memory.vault.storage.names())) == 1
    again = memory.cold.new_conversation(as_given("Kept"), source="notes", id="c7")
    said = EntryDraft(
        conversation=again.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given("Stay. " * 9)
    )
    memory.vault.archive_entries([memory.cold.append(said)], label="Kept")
    assert read_tombstones(memory.vault.storage, memory.vault.storage.names()) == {}
    memory = anew(memory)
    assert mend(memory).problems == ()
    assert "Kept" in titles(memory)
    memory.close()


def test_an_index_built_anew_knows_what_was_deleted(memory: Memory) -> None:
    memory.vault.delete_conversation(named(memory, "The boiler"))
    known = memory.cold.read(deletions.deletions)
    memory = anew(memory)
    mend(memory)
    found = memory.cold.read(deletions.deletions)
    assert [(one.token, one.pages, one.finished) for one in found] == [(known[0].token, known[0].pages, True)]
    assert NAME in memory.vault.storage.names()
    body = memory.vault.storage.read(NAME)
    assert b"boiler" not in body
    memory.close()


def test_while_an_answer_is_written_nothing_is_noted(memory: Memory) -> None:
    seq = named(memory, "The attic")
    leaf = memory.cold.conversation_at(seq).leaf
    draft = EntryDraft(conversation=seq, parent=leaf, kind=EntryKind.MESSAGE, role=Role.ASSISTANT, text=as_given(""))
    answer = memory.cold.begin_answer(draft)
    with pytest.raises(StoreBusy):
        memory.vault.delete_conversation(seq)
    assert memory.cold.read(deletions.unfinished) == []
    answer.finish(as_given("done"))


def test_what_could_not_be_let_go_of_is_tried_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise Damaged("Away", "The disk is not there.", "")

    with monkeypatch.context() as patched:
        patched.setattr(memory.vault.deleter, "release", away)
        assert not memory.vault.delete_conversation(named(memory, "The boiler")).finished
    memory.recover()
    assert problems(memory) == []


def test_passages_that_others_were_sent_go_with_it(memory: Memory) -> None:
    gone, stays = named(memory, "The boiler"), named(memory, "The attic")
    name = {seq: memory.cold.conversation_at(seq).id for seq in (gone, stays)}

    def passage(seq: int) -> RecalledSpan:
        citation = Citation(kind="entry", ref="e_x", title="The boiler", conversation=name[seq])
        return RecalledSpan("the valve is behind the panel", citation, Trust.EXACT)

    entry = next(memory.cold.path(memory.cold.conversation_at(stays).leaf or 0))
    parts = (Text("told", "skill"), passage(gone), passage(stays))
    sent = SentRequest(answers=entry.seq, digest=b"[]", epoch=NewEpoch(1, "", b"{}"), sent_with=entry.seq, parts=parts)
    memory.context_store.record(stays, sent)
    memory.vault.delete_conversation(gone)
    told, blank, kept = memory.cold.entry(entry.seq).sent
    assert (told, kept) == (Text("told", "skill"), passage(stays))
    assert isinstance(blank, RecalledSpan)
    assert (blank.text, blank.citation.title, blank.citation.ref) == ("[deleted]", "", "e_x")
    assert (memory.context_store.epoch(stays), memory.context_store.last_request(stays)) == (None, None)
    assert problems(memory) == []
    assert b"behind the panel" in b"".join(row[0] for row in memory.cold.read(_sent))  # the other's own
    assert memory.cold.read(_sent)[0][0].count(b"behind the panel") == 1


def test_passages_of_a_tool_result_that_held_its_words_go_with_it(memory: Memory) -> None:
    gone, stays = (memory.cold.conversation_at(named(memory, title)) for title in ("The boiler", "The attic"))
    own = next(memory.cold.path(gone.leaf or 0))
    told = EntryDraft(
        conversation=stays.seq,
        parent=stays.leaf,
        kind=EntryKind.TOOL_RESULT,
        role=Role.TOOL,
        speaker=as_given("recall"),
        text=as_given(f'{{"cite": "The boiler · Ann · {own.id}", "trust": "exact", "text": "behind the panel"}}'),
    )
    result = memory.cold.append(told)
    citation = Citation(kind="entry", ref=result.id, title="The attic", conversation=stays.id)
    parts = (RecalledSpan("behind the panel", citation, Trust.EXACT),)
    sent = SentRequest(answers=result.seq, digest=b"", sent_with=result.seq, parts=parts)
    memory.context_store.record(result.conversation_seq, sent)
    assert memory.vault.delete_conversation(gone.seq).changed == (stays.id,)
    left = memory.cold.entry(result.seq)
    assert left.text == f'{{"cite": "{own.id}", "text": "[deleted]"}}'
    assert [part.text for part in left.sent if isinstance(part, RecalledSpan)] == ["[deleted]"]
    assert problems(memory) == []


def _sent(db: apsw.Connection) -> list[tuple[bytes]]:
    return fetch(db, "SELECT sent FROM entries WHERE instr(sent, x'226369746174')")


def anew(memory: Memory) -> Memory:
    """The workspace after its database is lost."""
    memory.close()
    for file in memory.workspace.state.glob("cold.db*"):
        if file.is_file():
            file.unlink()
    return Memory.open(memory.workspace, FakeClock())


@pytest.mark.parametrize("error", [apsw.FullError("database or disk is full"), OSError(errno.ENOSPC, "No space left")])
def test_on_a_full_disk_a_deletion_says_that_it_is_noted_and_is_finished_when_there_is_room(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    seq = named(memory, "The boiler")
    with monkeypatch.context() as patched:
        patched.setattr("memory.archive.lifecycle.deletion.conversations.delete", full)
        with pytest.raises(StoreFull) as told:
            memory.vault.delete_conversation(seq)
    assert told.value.message == (
        "The deletion is recorded but not finished, because the disk is full. The text is still on it."
    )
    assert "Nothing was written;" not in str(told.value)
    assert "The boiler" in titles(memory)
    memory.recover()
    assert "The boiler" not in titles(memory)


def test_where_not_even_the_note_fits_nothing_is_deleted_later(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise apsw.FullError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("memory.archive.lifecycle.deletion.deletions.note", full)
        with pytest.raises(StoreFull, match="Nothing was written;"):
            memory.vault.delete_conversation(named(memory, "The boiler"))
    memory.recover()
    assert "The boiler" in titles(memory)
