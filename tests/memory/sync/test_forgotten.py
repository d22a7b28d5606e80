"""What one device forgot goes from the others, comes back from nowhere, and leaves the location."""

from pathlib import Path

from agent.services import forget
from foundation.privacy import clear, cleared_fields
from memory.forgotten.journal import ForgetJournal
from memory.settings import SyncSettings
from memory.sync.renewal import LocationAccess, pending_locations
from memory.sync.sync import Sync
from models.messages import Role
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


def test_a_device_that_comes_later_has_nothing_to_forget(desk: Laptop, laptop: Laptop, place: Path) -> None:
    """What arrives without its words is not looked for, and no job is left open."""
    trip = desk.talk("The zanzibar canary sings.", title="The zanzibar canary sings.")
    desk.say(trip, "You said “The zanzibar canary sings.” and no more.", Role.ASSISTANT)
    desk.say(trip, "What about the bicycle?")
    desk.run(place)
    (first, *_) = desk.memory.conversations.all_entries(trip.seq)
    forget.forget(desk.memory, forget.plan(desk.memory, named=first.id))
    desk.run(place)
    laptop.run(place)
    assert ForgetJournal(laptop.workspace.forgotten).ids() == []
    assert texts(laptop) == texts(desk)
    assert texts(laptop)[2] == "What about the bicycle?"
    assert state_of(laptop)["titles"] == state_of(desk)["titles"]


def test_deleting_what_holds_a_mark_is_done(desk: Laptop) -> None:
    first = desk.talk("The zanzibar canary sings.", title="The zanzibar canary sings.")
    other = desk.talk("What is there?", "You said [forgotten], and no more.", title="[forgotten]")
    forget_words(desk, "zanzibar")
    desk.delete(first)
    assert forget.open_jobs(desk.memory) == []
    assert desk.found(other).title == "[forgotten]"


def test_a_tombstone_reaches_the_location_with_the_forgetting(desk: Laptop, laptop: Laptop, place: Path) -> None:
    """Also where this device wrote nothing of it; the other devices need one sync, and nothing else was sent."""
    desk.talk("Keep this.", "The zanzibar canary sings.")
    desk.run(place)
    laptop.run(place)
    laptop.talk("Not sent yet.", title="Of the laptop")
    access = LocationAccess(SyncSettings(locations=[str(place)]), {})
    plan = forget.plan(laptop.memory, named="zanzibar")
    receipt = forget.forget_everywhere(laptop.memory, plan, access)
    assert receipt.left == ()
    assert "Other devices still have copies until" in receipt.lines[-1]
    assert "Not sent yet" not in words_at(place)
    desk.run(place)
    assert texts(desk) == ["Keep this.", "[forgotten]"]
    assert "zanzibar" not in words_at(place)
    laptop.run(place)
    assert "Not sent yet" in words_at(place)
    desk.run(place)
    assert state_of(laptop)["entries"] == state_of(desk)["entries"]


def test_a_location_that_was_removed_is_not_told(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.talk("Keep this.", "The zanzibar canary sings.")
    desk.run(place)
    laptop.run(place)
    plan = forget.plan(laptop.memory, named="zanzibar")
    receipt = forget.forget_everywhere(laptop.memory, plan, LocationAccess(SyncSettings(locations=[]), {}))
    assert receipt.left == ()
    (removed,) = (line for line in receipt.lines if "is no longer a location of this workspace:" in line)
    assert removed.startswith(f"{place} ")
    assert "devices that sync there keep their copies and are not informed." in removed
    assert pending_locations(laptop.memory) == ()


def test_a_second_location_gets_the_tombstone_and_nothing_that_was_not_sent_there(
    desk: Laptop, place: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    desk.talk("The zanzibar canary sings.", " ".join(str(number**5) for number in range(9000)))
    desk.run(place)
    desk.run(second)
    desk.talk("Only at the first.", title="First")
    desk.run(place)
    assert "Only at the first" not in words_at(second)
    places = [str(place), str(second)]
    forget.forget_everywhere(
        desk.memory, forget.plan(desk.memory, named="zanzibar"), LocationAccess(SyncSettings(locations=places), {})
    )
    for each in (place, second):
        assert "zanzibar" not in words_at(each)
        assert "ForgettingOperation" in words_at(each)
    assert "Only at the first" not in words_at(second)
    desk.run(second)
    assert "Only at the first" in words_at(second)


def test_words_beside_a_text_that_stays_go_there_too(desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path) -> None:
    asked = " ".join(str(number**5) for number in range(9000))
    trip = desk.talk(asked)
    calls = [{"id": "1", "name": "write_file", "arguments": '{"content": "the zanzibar canary"}'}]
    meta = cleared_fields({"reasoning": "They mean the zanzibar canary.", "tool_calls": calls})
    desk.say(trip, "I write it.", Role.ASSISTANT, meta=meta)
    desk.run(place)
    laptop.run(place)
    assert b"zanzibar" in words_in(laptop)
    old = {file.name: file.read_bytes() for file in place.glob("*.segment")}
    forget_words(desk, "zanzibar")
    desk.run(place)
    laptop.run(place)
    late = Laptop(tmp_path / "late", "late")
    rewritten = {file.name for file in place.glob("*-00000001-*")}
    late.run(Hidden(place, rewritten))  # the tombstone comes first
    for name, body in old.items():
        (place / name).write_bytes(body)
    late.run(Hidden(place, rewritten))
    for device in (desk, laptop, late):
        assert texts(device) == [asked, "I write it."]
        assert b"zanzibar" not in words_in(device)
        _, answer = device.memory.conversations.all_entries(device.found(trip).seq)
        assert [call["name"] for call in answer.meta["tool_calls"]] == ["write_file"]
        assert forget.open_jobs(device.memory) == []
    late.close()
