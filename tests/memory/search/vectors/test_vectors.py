"""Vectors as the rest sees them: made in the background, asked by a search, gone with what is forgotten."""

import threading
import time

import apsw
import numpy as np
import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import EntryKind
from memory.search.vectors import fill
from memory.search.vectors.fill import key_of
from memory.search.vectors.vectors import Vectors
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.conftest import Opens
from tests.memory.search.vectors.fake_embedder import FakeEmbedder
from tests.memory.search.vectors.filled_memory import bytes_under, nearest, scattered, store_of

# ── filling and asking ──


def test_what_is_meant_is_found_once_vectors_are_made(talk: Talk, vectors: Vectors) -> None:
    seqs = scattered(talk)
    filled = vectors.fill()
    assert (filled.made, filled.done, filled.trouble) == (5, True, "")
    assert nearest(vectors.ask("boiler valve")) == [seqs[0]]
    assert nearest(vectors.ask("ferry lisbon")) == [seqs[2]]
    assert vectors.trouble == ""


def test_without_an_embedder_nothing_is_asked(opens: Opens, workspace: Workspace) -> None:
    memory = opens(None)
    Talk(memory).say("tea")
    assert memory.search.vectors.fill().done
    assert memory.search.vectors.ask("tea") is None
    assert memory.search.vectors.trouble == ""
    assert not workspace.vectors.exists()


def test_only_what_is_new_is_embedded(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    scattered(talk)
    vectors.fill()
    embedder.texts.clear()
    new = talk.say("a brass telescope")
    assert vectors.fill().made == 1
    assert embedder.texts == ["a brass telescope"]
    assert nearest(vectors.ask("telescope of brass")) == [new.seq]
    assert vectors.fill().made == 0


def test_the_newest_are_made_first(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    scattered(talk, 100)
    vectors.fill(stop=lambda: bool(embedder.texts))
    assert sorted(int(text.rpartition("number")[2]) for text in embedder.texts) == list(range(68, 100))


def test_a_run_that_was_stopped_goes_on_where_it_was(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder, opens: Opens
) -> None:
    scattered(talk, 200)
    told: list[tuple[int, int]] = []
    first = vectors.fill(on_progress=lambda done, of: told.append((done, of)), stop=lambda: len(told) >= 2)
    assert (first.made, first.done) == (64, False)
    assert told == [(32, 200), (64, 200)]
    other = opens(embedder).search.vectors  # another process
    assert other.ask("boiler") is None
    assert "32%" in other.trouble
    assert other.fill().made == 136
    assert len(embedder.texts) == 200
    assert other.ask("boiler") is not None


def test_a_run_ends_with_its_time(talk: Talk, vectors: Vectors) -> None:
    scattered(talk, 100)
    filled = vectors.fill(seconds=0)
    assert (filled.made, filled.done) == (0, False)


def test_an_answer_is_embedded_when_it_is_whole(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    answer = talk.memory.cold.begin_answer(talk.draft("", to="c"))
    talk.say("tea", to="c")
    vectors.fill()
    assert embedder.texts == ["tea"]
    answer.finish(as_given("the boiler again"))
    vectors.fill()
    assert nearest(vectors.ask("the boiler again")) == [answer.entry.seq]


def test_a_text_that_changed_is_embedded_anew(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    from memory.cold.changes import note_change
    from memory.cold.entries import replace_text

    seqs = scattered(talk)

    def change(db: apsw.Connection) -> None:
        replace_text(db, seqs[0], as_given("a brass telescope"))
        note_change(db, "change", seqs)

    vectors.fill()
    embedder.texts.clear()
    talk.memory.cold.write(change)
    assert vectors.fill().made == 1
    assert embedder.texts == ["a brass telescope"]
    assert nearest(vectors.ask("brass telescope")) == [seqs[0]]
    assert sum(segment.rows.entry.tolist().count(seqs[0]) for segment in store_of(vectors).look()) == 1


def test_what_was_only_analysed_anew_is_not(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    from memory.cold.changes import note_change

    seqs = scattered(talk)
    vectors.fill()
    embedder.texts.clear()
    talk.memory.cold.write(lambda db: note_change(db, "change", seqs))
    assert vectors.fill().made == 0
    assert embedder.texts == []


def test_a_long_text_is_found_by_any_of_its_passages(talk: Talk, vectors: Vectors) -> None:
    filler = "Nothing happened on that day and nobody wrote about it. " * 60
    long = talk.say(f"{filler}{'The brass telescope broke. ' * 60}{filler}")
    talk.say("a telescope of glass and iron")
    vectors.fill()
    asked = vectors.ask("the brass telescope broke")
    assert asked is not None
    assert asked.of(np.array([long.seq]))[0] > 0.9
    assert store_of(vectors).rows > 5


def test_entries_without_words_are_done_too(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    blank = talk.say("   ", kind=EntryKind.TOOL_RESULT)
    talk.say("tea")
    assert vectors.fill().made == 2
    assert vectors.fill().made == 0
    asked = vectors.ask("tea")
    assert asked is not None
    assert np.isnan(asked.of(np.array([blank.seq])))[0]
    assert nearest(asked, 9) == [blank.seq + 1]


def test_archived_entries_have_vectors_too(talk: Talk, memory: Memory, vectors: Vectors) -> None:
    entry = talk.say("the boiler needs a new valve")
    memory.vault.archive_entries([memory.cold.entry(entry.seq)], label="old")
    vectors.fill()
    assert memory.cold.entry(entry.seq).text is None
    assert nearest(vectors.ask("boiler valve")) == [entry.seq]


def test_a_question_is_embedded_once(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    scattered(talk)
    vectors.fill()
    embedder.questions.clear()
    for _ in range(3):
        vectors.ask("boiler")
    assert embedder.questions == ["boiler"]


def test_nothing_is_asked_for_no_words(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    scattered(talk)
    vectors.fill()
    assert vectors.ask("  ") is None


# ── notes ──


def test_notes_have_vectors_and_lose_them(memory: Memory, talk: Talk, vectors: Vectors, workspace: Workspace) -> None:
    talk.say("tea")
    memory.hot.remember(as_given("The telescope is of brass."))
    memory.hot.remember(as_given("Anna drinks tea with lemon."))
    vectors.fill()
    notes = memory.hot.notes()
    asked = vectors.ask_notes("a telescope of brass", notes)
    first = nearest(asked)[0]
    assert "telescope" in notes[first].text
    key = key_of(notes[first])
    assert key in store_of(vectors).notes()
    workspace.memory_md.write_text(workspace.memory_md.read_text(encoding="utf-8").replace("brass", "glass"))
    memory.search.update()
    assert key not in store_of(vectors).notes()
    assert store_of(vectors).notes().size == 1


# ── forgetting ──


def test_of_a_deleted_conversation_no_byte_is_left(
    talk: Talk, memory: Memory, vectors: Vectors, embedder: FakeEmbedder, workspace: Workspace
) -> None:
    scattered(talk, 30)
    secret = talk.say("a secret treaty about herons", to="hidden")
    vectors.fill()
    from memory.search.vectors.similarity import quantised

    pattern = quantised(embedder.vector("a secret treaty about herons")[None]).tobytes()
    assert pattern in bytes_under(workspace.vectors)
    memory.cold.delete_conversation(secret.conversation_seq)
    memory.search.update()
    assert pattern not in bytes_under(workspace.vectors)
    assert not store_of(vectors).has(np.array([secret.seq]))[0]
    assert nearest(vectors.ask("boiler"))  # the others are there


def test_vectors_of_an_embedder_that_is_not_set_any_more_are_forgotten_too(opens: Opens, workspace: Workspace) -> None:
    old = FakeEmbedder("old")
    memory = opens(old)
    secret = Talk(memory).say("a secret treaty", to="hidden")
    memory.search.vectors.fill()
    other = opens(None)
    other.cold.delete_conversation(secret.conversation_seq)
    other.search.update()
    from memory.search.vectors.similarity import quantised

    assert quantised(old.vector("a secret treaty")[None]).tobytes() not in bytes_under(workspace.vectors)


def test_what_is_deleted_while_it_is_embedded_does_not_stay(
    talk: Talk, memory: Memory, vectors: Vectors, embedder: FakeEmbedder
) -> None:
    secret = talk.say("a secret treaty", to="hidden")
    embedder.waits.clear()
    run = threading.Thread(target=vectors.fill)
    run.start()
    time.sleep(0.05)
    deleting = threading.Thread(target=memory.cold.delete_conversation, args=(secret.conversation_seq,))
    deleting.start()
    deleting.join()
    embedder.waits.set()
    run.join()
    assert not store_of(vectors).has(np.array([secret.seq]))[0]


def test_what_is_deleted_between_reading_and_writing_does_not_stay(
    talk: Talk, memory: Memory, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.say("tea")
    secret = talk.say("a secret treaty", to="hidden")
    flush = fill.VectorFiller.flush

    def late(self: fill.VectorFiller) -> None:
        if self._waiting:
            memory.cold.delete_conversation(secret.conversation_seq)
            memory.search.update()
        flush(self)

    monkeypatch.setattr(fill.VectorFiller, "flush", late)
    vectors.fill()
    assert store_of(vectors).has(np.array([secret.seq, secret.seq - 1])).tolist() == [False, True]


# ── two processes, another store, damage ──


def test_one_process_fills_at_a_time(talk: Talk, vectors: Vectors, embedder: FakeEmbedder, opens: Opens) -> None:
    scattered(talk)
    other = opens(FakeEmbedder()).search.vectors
    embedder.waits.clear()
    run = threading.Thread(target=vectors.fill)
    run.start()
    while not (vectors.registry.root.exists() and list(vectors.registry.root.rglob("filling.lock"))):
        time.sleep(0.01)
    time.sleep(0.05)
    assert "Another process" in other.fill().trouble
    assert "already" in vectors.fill().trouble
    embedder.waits.set()
    run.join()
    assert other.ask("boiler") is not None  # what the first made


def test_another_store_in_its_place_is_noticed(opens: Opens, workspace: Workspace) -> None:
    memory = opens(FakeEmbedder())
    scattered(Talk(memory), 10)
    memory.search.vectors.fill()
    memory.close()
    for path in workspace.state.glob("cold.db*"):
        path.unlink()
    embedder = FakeEmbedder()
    other = opens(embedder)
    seqs = [Talk(other).say(f"other words {number}").seq for number in range(3)]
    assert other.search.vectors.fill().made == 3
    assert nearest(other.search.vectors.ask("other words 1")) == [seqs[1]]
    assert store_of(other.search.vectors).entries == 3


def test_vectors_whose_files_are_gone_are_made_again(
    talk: Talk, vectors: Vectors, opens: Opens, workspace: Workspace
) -> None:
    scattered(talk)
    vectors.fill()
    for path in workspace.vectors.rglob("*.bin"):
        path.unlink()
    embedder = FakeEmbedder()
    assert opens(embedder).search.vectors.fill().made == 5


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_what_one_damaged_file_held_is_made_again(
    seconds: float | None, talk: Talk, vectors: Vectors, opens: Opens, workspace: Workspace
) -> None:
    scattered(talk, 10)
    vectors.fill()
    scattered(talk, 10)
    vectors.fill()
    first, _ = sorted(workspace.vectors.rglob("*.bin"))
    first.write_bytes(first.read_bytes()[:-3])
    new = talk.say("a brass telescope")
    other = opens(FakeEmbedder()).search.vectors
    assert other.fill(seconds=seconds).made == 11
    assert other.fill(seconds=seconds).made == 0
    assert nearest(other.ask("brass telescope")) == [new.seq]


def test_coverage_is_told(talk: Talk, vectors: Vectors, memory: Memory) -> None:
    scattered(talk, 40)
    nothing = vectors.coverage()
    assert (nothing.embedder, nothing.entries, nothing.of, nothing.serving) == ("fake", 0, 40, False)
    vectors.fill()
    whole = vectors.coverage()
    assert (whole.entries, whole.of, whole.vectors, whole.serving) == (40, 40, 40, True)
    assert whole.bytes > 40 * 64


def test_closing_the_memory_closes_the_embedder(talk: Talk, memory: Memory, embedder: FakeEmbedder) -> None:
    talk.say("tea")
    memory.search.vectors.fill()
    memory.close()
    assert embedder.is_closed
