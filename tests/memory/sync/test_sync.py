"""Two devices and a folder: what is said on one is on the other, as it was said."""

from pathlib import Path

from foundation.privacy import as_given, clear
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_robustness import decoded


def test_a_conversation_of_one_device_is_on_the_other(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?", "它在地下室 🐋 \ud800", title="Trip")
    desk.say(trip, "In the cellar. " * 200, Role.ASSISTANT)
    desk.run(place)
    result = laptop.run(place)
    assert (result.taken.entries, result.segments_read) == (3, 1)
    assert state_of(laptop) == state_of(desk)
    there = laptop.found(trip)
    assert there.title == "Trip"
    assert [entry.text for entry in laptop.memory.conversations.all_entries(there.seq)][1] == "它在地下室 🐋 \ud800"
    assert laptop.memory.cold.check() == []


def test_what_is_answered_there_comes_back_and_continues_here(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.run(place)
    laptop.run(place)
    laptop.say(laptop.found(trip), "In the cellar.")
    laptop.run(place)
    desk.run(place)
    leaf = desk.found(trip).leaf
    assert leaf is not None
    assert [entry.text for entry in desk.memory.cold.branch(leaf).entries] == ["Where is the tent?", "In the cellar."]


def test_both_continued_apart_and_both_branches_are_there(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.run(place)
    laptop.run(place)
    desk.say(trip, "Here?")
    laptop.say(laptop.found(trip), "There?")
    for _ in range(2):
        laptop.run(place)
        desk.run(place)
    assert state_of(laptop) == state_of(desk)
    assert len(state_of(desk)["entries"]) == 3
    here = desk.memory.cold.branch(desk.found(trip).leaf or 0).entries
    assert here[-1].text == "Here?", "each device stays on the branch where it was"


def test_a_run_without_news_writes_and_reads_nothing(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.talk("Where is the tent?")
    desk.run(place)
    laptop.run(place)
    again = desk.run(place), laptop.run(place)
    assert [(result.segments_read, result.segments_written) for result in again] == [(0, 0), (0, 0)]


def test_an_entry_names_the_device_that_it_came_from(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.run(place)
    laptop.run(place)
    (entry,) = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    assert entry.meta["device"].startswith("desk (d_")
    assert entry.trust == "exact"


def test_an_uncertain_text_stays_uncertain(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk()
    desk.say(trip, "Perhaps.", meta={"trust": "approximate"})
    desk.run(place)
    laptop.run(place)
    (entry,) = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    assert entry.trust == "approximate"


def test_a_summary_covers_the_same_entries_there(desk: Laptop, laptop: Laptop, place: Path) -> None:
    laptop.talk("So that seqs differ.", "And more.")
    trip = desk.talk("One.", "Two.", "Three.")
    seqs = [entry.seq for entry in desk.memory.conversations.all_entries(trip.seq)]
    meta = {"covers": seqs[:2], "first_kept": seqs[2], "prior": [], "pinned": None}
    desk.say(trip, "They counted.", meta=meta)  # pyright: ignore[reportArgumentType]  # numbers only
    desk.memory.cold.write(lambda db: db.execute("UPDATE entries SET kind = 'summary' WHERE seq = ?", (seqs[-1] + 1,)))
    desk.run(place)
    laptop.run(place)
    *entries, summary = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    assert summary.kind is EntryKind.SUMMARY
    assert summary.meta["covers"] == [entry.seq for entry in entries[:2]]
    assert summary.meta["first_kept"] == entries[2].seq


def test_titles_and_labels_follow(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.memory.conversations.label(trip.seq, clear("travel"))
    desk.run(place)
    laptop.run(place)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("Tent"))
    laptop.memory.conversations.unlabel(laptop.found(trip).seq, "travel")
    laptop.run(place)
    desk.run(place)
    now = desk.found(trip)
    assert (now.title, now.labels) == ("Tent", ())
    assert state_of(desk) == state_of(laptop)
    assert desk.memory.cold.check() == []


def test_a_deleted_conversation_goes_everywhere_and_stays_gone(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.run(place)
    laptop.run(place)
    laptop.say(laptop.found(trip), "Said while the other deleted it.")
    desk.delete(trip)
    desk.run(place)
    result = laptop.run(place)
    assert result.deleted == 1
    desk.run(place)
    for device in (desk, laptop):
        assert state_of(device)["entries"] == set()
        assert len(state_of(device)["deleted"]) == 1
    assert b"tent" not in b"".join(file.read_bytes() for file in place.iterdir())


def test_an_archived_file_is_read_there_without_its_secrets(desk: Laptop, laptop: Laptop, place: Path) -> None:
    text = "".join(f"Line {number}: 锅炉 🐋\n" for number in range(400)) + "The key is AKIAQ3EGRIDTESTING7X.\n"
    desk.memory.vault.archive_text(as_given(text), label="notes.txt")
    desk.run(place)
    assert not any("AKIAQ3" in repr(decoded(file)) for file in place.glob("*.segment"))
    laptop.run(place)
    (archive,) = laptop.memory.cold.conversations(kind="archive")
    found = "".join(laptop.memory.passage(entry).text for entry in laptop.memory.conversations.all_entries(archive.seq))
    assert found == text.replace("AKIAQ3EGRIDTESTING7X", "[secret: aws-access-key]")
    assert laptop.memory.cold.check() == []


def test_an_entry_that_stands_on_pages_travels_with_its_text(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent? " * 60, "In the cellar. " * 60)
    entries = list(desk.memory.conversations.all_entries(trip.seq))
    desk.memory.vault.archive_entries(entries, label="trip")
    assert all(entry.text is None for entry in desk.memory.conversations.all_entries(trip.seq))
    desk.run(place)
    laptop.run(place)
    assert state_of(laptop) == state_of(desk)
    assert all(entry.text for entry in laptop.memory.conversations.all_entries(laptop.found(trip).seq))


def test_an_answer_that_is_being_written_goes_once_it_is_whole(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    draft = EntryDraft(
        conversation=trip.seq,
        parent=desk.found(trip).leaf,
        kind=EntryKind.MESSAGE,
        role=Role.ASSISTANT,
        text=clear(""),
    )
    answer = desk.memory.conversations.begin_answer(draft)
    answer.write(clear("In the "))
    desk.run(place)
    laptop.run(place)
    assert len(state_of(laptop)["entries"]) == 1
    answer.finish(clear("In the cellar."))
    desk.run(place)
    laptop.run(place)
    assert state_of(laptop) == state_of(desk)
    assert len(state_of(laptop)["entries"]) == 2


def test_a_deleted_conversation_does_not_come_back_from_an_old_file(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    desk.run(place)
    (old,) = place.glob("*.segment")
    body = old.read_bytes()
    desk.delete(trip)
    desk.run(place)
    laptop.run(place)
    old.write_bytes(body)
    laptop.run(place)
    assert state_of(laptop)["entries"] == set()
    assert laptop.memory.cold.conversations(kind=None) == []
