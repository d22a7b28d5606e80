"""What one device forgot goes from the others, comes back from nowhere, and leaves the location."""

from pathlib import Path

from agent.services import forget
from foundation.privacy import clear
from memory.sync.sync import Sync
from tests.memory.sync.devices import Hidden, Laptop, state_of
from tests.memory.sync.test_robustness import decoded


def words_at(place: Path) -> str:
    return "".join(repr(decoded(file)) for file in place.glob("*.segment"))


def texts(device: Laptop) -> list[str | None]:
    (conversation,) = device.memory.conversations.recent()
    return [entry.text for entry in device.memory.conversations.all_entries(conversation.seq)]


def forget_words(device: Laptop, words: str) -> None:
    forget.forget(device.memory, forget.plan(device.memory, named=words))


def words_in(device: Laptop) -> bytes:
    """Every byte of the workspace that the words may be in."""
    return b"".join(file.read_bytes() for file in device.workspace.root.rglob("*") if file.is_file())


def test_an_entry_that_was_forgotten_here_goes_there_and_from_the_location(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    desk.talk("Keep this.", "The zanzibar canary sings.")
    desk.run(place)
    laptop.run(place)
    forget_words(desk, "zanzibar")
    desk.run(place)
    assert "zanzibar" not in words_at(place)
    laptop.run(place)
    assert texts(laptop) == ["Keep this.", "[forgotten]"]
    assert state_of(laptop)["entries"] == state_of(desk)["entries"]
    assert b"zanzibar" not in words_in(laptop)
    assert b"zanzibar" not in words_in(desk)


def test_it_does_not_come_back_from_an_old_file(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.talk("Keep this.", "The zanzibar canary sings.")
    desk.run(place)
    old = {file.name: file.read_bytes() for file in place.glob("*.segment")}
    forget_words(desk, "zanzibar")
    desk.run(place)
    for name, body in old.items():
        (place / name).write_bytes(body)
    laptop.run(place)
    assert texts(laptop) == ["Keep this.", "[forgotten]"]
    desk.run(place)
    assert "zanzibar" not in words_at(place), "an own file that came back is deleted"


def test_words_in_old_titles_labels_and_notes_go(desk: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="The zanzibar")
    desk.memory.conversations.rename(trip.seq, clear("Hello"))
    note = desk.workspace.root / "MEMORY.md"
    note.write_text("- the zanzibar\n- and more\n")
    desk.run(place)
    note.write_text("- and more\n")
    desk.say(trip, "The zanzibar canary sings.")
    desk.run(place)
    assert "zanzibar" in words_at(place)
    forget_words(desk, "zanzibar")
    assert b"zanzibar" not in words_in(desk)
    desk.run(place)
    assert "zanzibar" not in words_at(place)


def test_one_that_waits_for_its_parent_comes_without_its_words(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("First. " + " ".join(str(number**5) for number in range(9000)))
    desk.run(place)
    first = {file.name for file in place.glob("*.segment")}
    desk.say(trip, "The zanzibar canary sings.")
    desk.run(place)
    laptop.run(Hidden(place, first))
    forget_words(desk, "zanzibar")
    desk.run(place)
    laptop.run(Hidden(place, first))
    waiting = laptop.memory.cold.read(lambda db: list(db.execute("SELECT operation FROM sync_waiting")))
    assert [b"zanzibar" in body for (body,) in waiting] == [False]
    laptop.run(place)
    assert texts(laptop)[1] == "[forgotten]"


def test_an_old_file_that_comes_after_the_tombstone_brings_no_words(desk: Laptop, laptop: Laptop, place: Path) -> None:
    laptop.sync = Sync(laptop.memory, None)  # which could only forget, and not refuse
    desk.talk("The zanzibar canary sings.", " ".join(str(number**5) for number in range(9000)))
    desk.run(place)
    (old,) = place.glob("*.segment")
    body = old.read_bytes()
    forget_words(desk, "zanzibar")
    desk.run(place)
    rewritten = {file.name for file in place.glob("*-00000001-*")}
    laptop.run(Hidden(place, rewritten))
    old.write_bytes(body)
    laptop.run(Hidden(place, rewritten))
    assert texts(laptop)[0] == "[forgotten]"
