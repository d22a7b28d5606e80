"""Entries and conversations, in real files."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foundation.privacy import Cleared
from foundation.trust import Citation, Trust
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.context_store import ContextStore, NewEpoch, SentRequest
from memory.errors import AlreadyExists, NotFound, StoreBusy, StoreClosed
from memory.records import ALPHABET, EntryKind, new_id
from models.messages import Image, RecalledSpan, Role, Text, ToolResult
from tests.fakes import FakeClock
from tests.memory.cold.drafts import answered, open_store, said


def test_an_entry_comes_back_as_it_was_given(cold: ColdStore) -> None:
    conversation = cold.new_conversation(Cleared("Trip"))
    time = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    given = said(conversation.seq, "Pack the tent.", speaker="Ann", time=time, meta={"a": [1, {"b": None}]})
    entry = cold.append(given)
    assert cold.entry(entry.seq) == entry
    assert (entry.text, entry.speaker, entry.time, entry.meta) == (given.text, "Ann", time, given.meta)
    assert (entry.chars, entry.complete, entry.parent, entry.kind) == (14, True, None, EntryKind.MESSAGE)
    assert (entry.conversation, entry.conversation_seq) == (conversation.id, conversation.seq)
    assert entry.id.startswith("e_")


def test_what_was_sent_comes_back_with_its_images_and_citations(cold: ColdStore, clock: FakeClock) -> None:
    citation = Citation(kind="entry", ref="e_1", title="Trip", time=clock.now(), lines=(1, 2))
    parts = (
        Text("be brief", injected="instructions"),
        RecalledSpan("the tent", citation, Trust.EXACT, 0.5, clock.now()),
        Image(b"\x89PNG\x00", "image/png", 10, 20),
        ToolResult("call", "files", "text", failed=True),
    )
    entry = cold.append(said(cold.new_conversation().seq, "hello"))
    ContextStore(cold).record(
        entry.conversation_seq, SentRequest(answers=1, digest=b"", sent_with=entry.seq, parts=parts)
    )
    assert cold.entry(entry.seq).sent == parts


@pytest.mark.parametrize(
    "text", ["", "\ud83d alone \udc00", "\x00\x1b[31m", "日本語 " * 900, "a" * 5000, "e\u0301\r\n"]
)
def test_any_text_comes_back_to_the_letter(cold: ColdStore, text: str) -> None:
    conversation = cold.new_conversation(Cleared(text[:40]))
    entry = cold.append(
        said(conversation.seq, text, speaker=text[:9].replace("\x00", ""), sent=(Text(text),), meta={"k": text})
    )
    found = cold.entry(entry.seq)
    assert (found.text, found.chars, found.sent, found.meta) == (text, len(text), (Text(text),), {"k": text})
    assert cold.conversation_at(conversation.seq).title == text[:40]
    assert cold.check() == []


def test_long_text_is_packed_and_short_text_is_not(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    cold.append(said(conversation.seq, "short"))
    cold.append(said(conversation.seq, "long " * 1000))
    stored = cold.read(lambda db: fetch(db, "SELECT packed, length(body) FROM entries ORDER BY seq"))
    assert stored[0] == (0, 5)
    assert stored[1][0] == 1
    assert stored[1][1] < 100


def test_an_entry_its_terms_and_its_change_are_one_transaction(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    entry = cold.append(said(conversation.seq, "two words", speaker="Ann"))
    (terms,) = cold.terms(0)
    assert (terms.entry, terms.conversation, terms.packed, terms.length) == (
        entry.seq,
        conversation.seq,
        b"Ann two words",
        3,
    )
    assert cold.terms_of([entry.seq, 99]) == {entry.seq: terms}
    assert [(change.op, change.entry) for change in cold.changes(0)] == [("add", entry.seq)]
    assert cold.changes(cold.last_change()) == []


def test_where_the_terms_fail_nothing_of_the_entry_is_kept(database: Path) -> None:
    def failing(_text: str, _speaker: str, _meta: object = None, _at: object = None) -> object:
        raise ValueError("no words today")

    cold = ColdStore.open(database, analyse=failing, clock=FakeClock())
    conversation = cold.new_conversation()
    with pytest.raises(ValueError, match="no words"):
        cold.append(said(conversation.seq, "hello"))
    assert cold.statistics().entries == 0
    assert cold.changes(0) == []
    cold.close()


def test_a_parent_must_be_of_the_same_conversation(cold: ColdStore) -> None:
    one, other = cold.new_conversation(), cold.new_conversation()
    entry = cold.append(said(one.seq, "hello"))
    with pytest.raises(NotFound):
        cold.append(said(other.seq, "hello", entry.seq))
    with pytest.raises(NotFound):
        cold.append(said(other.seq, "hello", parent_id=entry.id))


def test_there_is_nothing_to_append_to_where_the_conversation_is_gone(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    cold.delete_conversation(conversation.seq)
    with pytest.raises(NotFound, match="It was deleted"):
        cold.append(said(conversation.seq, "hello"))
    with pytest.raises(NotFound, match="It was deleted"):
        cold.begin_answer(answered(conversation.seq, ""))


def test_an_id_may_be_taken_once_in_a_conversation(cold: ColdStore) -> None:
    one, other = cold.new_conversation(), cold.new_conversation()
    cold.append(said(one.seq, "hello", id="7"))
    with pytest.raises(AlreadyExists):
        cold.append(said(one.seq, "hello again", id="7"))
    assert cold.append(said(other.seq, "hello", id="7")).id == "7"
    with pytest.raises(NotFound, match="more than one"):
        cold.find("7")
    assert cold.find("7", other.seq).conversation == other.id


def test_a_batch_is_linked_by_ids_and_skips_what_is_there(cold: ColdStore) -> None:
    conversation = cold.new_conversation(source="chatgpt", id="abc")
    first = cold.append_many(
        [said(conversation.seq, "one", id="1"), said(conversation.seq, "two", id="2", parent_id="1")]
    )
    again = cold.append_many(
        [said(conversation.seq, "one", id="1"), said(conversation.seq, "three", id="3", parent_id="2")]
    )
    assert [entry and entry.id for entry in first + again] == ["1", "2", None, "3"]
    assert [entry.id for entry in cold.path(cold.find("3").seq)] == ["3", "2", "1"]
    assert cold.new_conversation(source="chatgpt", id="abc").seq == conversation.seq


def test_a_batch_that_fails_leaves_nothing(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    with pytest.raises(NotFound):
        cold.append_many([said(conversation.seq, "one"), said(conversation.seq, "two", parent_id="nowhere")])
    assert cold.statistics().entries == 0


def test_appending_moves_the_leaf_and_the_conversation_to_the_front(cold: ColdStore, clock: FakeClock) -> None:
    older = cold.new_conversation(Cleared("older"))
    clock.advance(60)
    newer = cold.new_conversation(Cleared("newer"))
    assert [c.seq for c in cold.conversations()] == [newer.seq, older.seq]
    clock.advance(60)
    entry = cold.append(said(older.seq, "hello"))
    assert [c.seq for c in cold.conversations()] == [older.seq, newer.seq]
    found = cold.conversation_at(older.seq)
    assert (found.leaf, found.updated) == (entry.seq, clock.now())
    assert cold.latest() == found
    assert cold.conversations(limit=1, offset=1)[0].seq == newer.seq


def test_a_conversation_is_found_by_id_title_or_prefix(cold: ColdStore) -> None:
    conversation = cold.new_conversation(Cleared("Trip \ud800"))
    for ref in (conversation.id, conversation.id[:8], "Trip \ud800"):
        assert cold.conversation(ref) == conversation
    cold.new_conversation(Cleared("Trip \ud800"))
    with pytest.raises(NotFound, match="more than one"):
        cold.conversation("Trip \ud800")
    for ref in ("nothing", "\ud800", conversation.id + "0"):
        with pytest.raises(NotFound):
            cold.conversation(ref)


def test_the_same_id_may_come_from_two_sources(cold: ColdStore) -> None:
    one, other = cold.new_conversation(source="claude", id="x1"), cold.new_conversation(source="chatgpt", id="x1")
    assert cold.conversation("x1", "claude").seq == one.seq
    assert cold.conversation("x1", "chatgpt").seq == other.seq
    with pytest.raises(NotFound, match="more than one"):
        cold.conversation("x1")


def test_an_entry_is_found_by_a_prefix_that_no_other_has(cold: ColdStore) -> None:
    entry = cold.append(said(cold.new_conversation().seq, "hello"))
    assert cold.find(entry.id[:9]) == entry
    with pytest.raises(NotFound):
        cold.find("e_")


def test_conversations_are_renamed_and_labelled(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    assert cold.rename(conversation.seq, Cleared("Tent")).title == "Tent"
    cold.label(conversation.seq, Cleared("travel"))
    cold.label(conversation.seq, Cleared("travel"))
    assert cold.label(conversation.seq, Cleared("a label")).labels == ("a label", "travel")
    assert [c.seq for c in cold.conversations(label="travel")] == [conversation.seq]
    assert cold.unlabel(conversation.seq, "travel").labels == ("a label",)
    assert cold.conversations(label="travel") == []
    with pytest.raises(NotFound):
        cold.rename(99, Cleared("nobody"))


def test_archives_are_not_listed_among_chats(cold: ColdStore) -> None:
    archive = cold.new_conversation(Cleared("a file"), kind="archive")
    assert cold.conversations() == []
    assert cold.latest() is None
    assert cold.conversations(kind="archive") == cold.conversations(kind=None) == [archive]


def test_a_leaf_may_be_set_within_the_conversation_alone(cold: ColdStore) -> None:
    one, other = cold.new_conversation(), cold.new_conversation()
    first = cold.append(said(one.seq, "one"))
    cold.append(said(one.seq, "two", first.seq))
    assert cold.set_leaf(one.seq, first.seq).leaf == first.seq
    with pytest.raises(NotFound):
        cold.set_leaf(other.seq, first.seq)


def test_deleting_a_conversation_leaves_nothing_of_it_but_the_news(cold: ColdStore) -> None:
    gone, kept = cold.new_conversation(), cold.new_conversation()
    parent = None
    for number in range(5):
        parent = cold.append(said(gone.seq, f"secret {number}", parent, id=f"g{number}")).seq
    cold.label(gone.seq, Cleared("x"))
    epoch = NewEpoch(1, "start", b"{}")
    sent = SentRequest(answers=1, digest=b"{}", epoch=epoch, tokenizer="t", token_counts={1: 5})
    ContextStore(cold).record(gone.seq, sent)
    entry = cold.append(said(kept.seq, "hello"))
    before = cold.last_change()
    assert cold.delete_conversation(gone.seq) == ()
    assert cold.statistics().entries == 1
    assert [(c.op, c.entry) for c in cold.changes(before)] == [("remove", seq) for seq in range(1, 6)]
    assert [row.entry for row in cold.terms(0)] == [entry.seq]
    assert cold.check() == []
    with pytest.raises(NotFound):
        cold.conversation_at(gone.seq)


def test_deleted_words_are_gone_from_the_files(database: Path, clock: FakeClock) -> None:
    cold = open_store(database, clock)
    conversation = cold.new_conversation()
    cold.append(said(conversation.seq, "xyzzy-plugh"))
    cold.delete_conversation(conversation.seq)
    files = [path for path in database.parent.rglob("*") if path.is_file()]
    assert len(files) >= 2
    assert all(b"xyzzy-plugh" not in path.read_bytes() for path in files)
    cold.close()


def test_a_conversation_is_not_deleted_while_an_answer_is_written_in_it(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    answer = cold.begin_answer(answered(conversation.seq, ""))
    with pytest.raises(StoreBusy, match="being written"):
        cold.delete_conversation(conversation.seq)
    answer.abandon()
    cold.delete_conversation(conversation.seq)


def test_what_context_keeps_is_given_back(cold: ColdStore, clock: FakeClock) -> None:
    conversation = cold.new_conversation()
    entry = cold.append(said(conversation.seq, "hello"))
    store = ContextStore(cold)
    assert store.epoch(conversation.seq) is None
    assert store.last_request(conversation.seq) is None
    for number in (1, 2):
        epoch = NewEpoch(number, "edit", b"state")
        store.record(conversation.seq, SentRequest(answers=entry.seq, digest=b"digest", epoch=epoch))
    epoch, request = store.epoch(conversation.seq), store.last_request(conversation.seq)
    assert epoch is not None
    assert (epoch.number, epoch.reason, epoch.state, epoch.started) == (2, "edit", b"state", clock.now())
    assert request is not None
    assert (request.entry, request.state, request.sent) == (entry.seq, b"digest", clock.now())


def test_token_counts_are_kept_by_tokenizer(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    entries = [cold.append(said(conversation.seq, str(n))) for n in range(3)]
    store, counts = ContextStore(cold), {entries[0].seq: 3, entries[1].seq: 4}
    sent = SentRequest(answers=1, digest=b"", tokenizer="qwen", token_counts={**counts, 99: 5})
    store.record(conversation.seq, sent)
    assert store.token_counts([e.seq for e in entries], "qwen") == counts
    assert store.token_counts([entries[0].seq], "llama") == {}


def test_a_transaction_of_ones_own_is_whole_or_not_at_all(cold: ColdStore) -> None:
    conversation = cold.new_conversation()

    def halfway(db: object) -> None:
        cold.insert(db, said(conversation.seq, "first"))
        raise KeyError("halfway")

    with pytest.raises(KeyError, match="halfway"):
        cold.write(halfway)
    assert cold.statistics().entries == 0
    entry = cold.write(lambda db: cold.insert(db, said(conversation.seq, "first"), keep_text=False))
    assert (entry.text, entry.chars) == (None, 5)
    assert cold.terms(0)[0].packed == b"first"


def test_a_transaction_may_not_wait_for_another_within_it(cold: ColdStore) -> None:
    with pytest.raises(RuntimeError, match="pass its connection on"):
        cold.write(lambda _: cold.new_conversation())


def test_a_reader_cannot_write(cold: ColdStore) -> None:
    with pytest.raises(Exception, match="readonly"):
        cold.read(lambda db: fetch(db, "DELETE FROM changes"))


def test_a_reader_sees_one_moment(cold: ColdStore) -> None:
    conversation = cold.new_conversation()

    def looks(db: object) -> tuple[int, int]:
        count = "SELECT count(*) FROM entries"
        before = fetch(db, count)[0][0]
        cold.append(said(conversation.seq, "meanwhile"))
        return before, fetch(db, count)[0][0]

    assert cold.read(looks) == (0, 0)
    assert cold.statistics().entries == 1


def test_statistics_count_what_is_there(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    cold.append(said(conversation.seq, "12345"))
    cold.write(lambda db: cold.insert(db, said(conversation.seq, "123"), keep_text=False))
    found = cold.statistics()
    assert (found.conversations, found.entries, found.chars) == (1, 2, 8)
    assert (found.archived_entries, found.archived_chars) == (1, 3)
    assert found.database_bytes > 0


def test_a_closed_store_says_so(database: Path) -> None:
    cold = open_store(database)
    cold.close()
    with pytest.raises(StoreClosed):
        cold.new_conversation()
    with pytest.raises(StoreClosed):
        cold.latest()


def test_ids_are_sixty_random_bits_that_can_be_read_aloud() -> None:
    ids = {new_id("e") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(id_) == 14 and set(id_[2:]) <= set(ALPHABET) for id_ in ids)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in another way")
def test_files_are_their_owners_alone(cold: ColdStore, database: Path) -> None:
    cold.new_conversation()
    assert database.parent.stat().st_mode & 0o777 == 0o700
    files = [path for path in database.parent.iterdir() if path.is_file()]
    assert len(files) >= 3
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_tool_output_is_stored_whole(cold: ColdStore) -> None:
    whole = "".join(f"line {n}\n" for n in range(50_000))
    draft = said(
        cold.new_conversation().seq, whole, kind=EntryKind.TOOL_RESULT, role=Role.TOOL, meta={"shown": whole[:100]}
    )
    assert cold.entry(cold.append(draft).seq).text == whole
