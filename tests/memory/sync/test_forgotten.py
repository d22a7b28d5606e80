"""What one device forgot goes from the others, comes back from nowhere, and leaves the location."""

from collections.abc import Collection
from pathlib import Path

from foundation.privacy import clear
from memory.cold.entries import replace_text
from memory.cold.sync_words import forget_synced
from memory.sync.forgotten import entry_token
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_convergence import Hidden
from tests.memory.sync.test_robustness import decoded

FORGOTTEN = clear("[forgotten]")


class FakeForgetting:
    """Remembers tokens, and blanks the entries that they name."""

    def __init__(self, device: Laptop) -> None:
        self._device = device
        self._tokens: set[str] = set()

    def tokens(self) -> frozenset[str]:
        return frozenset(self._tokens)

    def forget(self, tokens: Collection[str], forgotten_ms: int) -> object:
        self._tokens |= set(tokens)
        for conversation in self._device.memory.cold.conversations(kind=None):
            for entry in self._device.memory.conversations.all_entries(conversation.seq):
                if entry_token(conversation.source, conversation.id, entry.id) in tokens:
                    self._device.memory.cold.write(lambda db, seq=entry.seq: replace_text(db, seq, FORGOTTEN))
        return forgotten_ms


def with_forgetting(device: Laptop) -> FakeForgetting:
    port = FakeForgetting(device)
    device.sync = type(device.sync)(device.memory, device.delete, forgetting=port)
    return port


def texts(device: Laptop) -> list[str | None]:
    (conversation,) = device.memory.conversations.recent()
    return [entry.text for entry in device.memory.conversations.all_entries(conversation.seq)]


def words_at(place: Path) -> str:
    return "".join(repr(decoded(file)) for file in place.glob("*.segment"))


def test_an_entry_that_was_forgotten_here_goes_there_and_from_the_location(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    here, _ = with_forgetting(desk), with_forgetting(laptop)
    trip = desk.talk("Keep this.", "The canary sings.")
    desk.run(place)
    laptop.run(place)
    *_, canary = desk.memory.conversations.all_entries(trip.seq)
    here.forget({entry_token("", trip.id, canary.id)}, 1)
    desk.run(place)
    assert "canary" not in words_at(place)
    laptop.run(place)
    assert state_of(laptop) == state_of(desk)
    assert texts(laptop) == ["Keep this.", "[forgotten]"]


def test_it_does_not_come_back_from_an_old_file(desk: Laptop, laptop: Laptop, place: Path) -> None:
    here, _ = with_forgetting(desk), with_forgetting(laptop)
    trip = desk.talk("Keep this.", "The canary sings.")
    desk.run(place)
    old = {file.name: file.read_bytes() for file in place.glob("*.segment")}
    *_, canary = desk.memory.conversations.all_entries(trip.seq)
    here.forget({entry_token("", trip.id, canary.id)}, 1)
    desk.run(place)
    for name, body in old.items():
        (place / name).write_bytes(body)
    laptop.run(place)
    assert texts(laptop) == ["Keep this.", "[forgotten]"]
    desk.run(place)
    assert "canary" not in words_at(place), "an own file that came back is deleted"


def test_words_in_old_titles_labels_and_notes_go(desk: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="The canary")
    desk.memory.conversations.label(trip.seq, clear("canary"))
    note = desk.workspace.root / "MEMORY.md"
    note.write_text("- the canary\n")
    desk.run(place)
    assert "canary" in words_at(place)
    desk.memory.conversations.rename(trip.seq, clear("[forgotten]"))
    desk.memory.conversations.unlabel(trip.seq, "canary")
    note.write_text("- \n")
    assert desk.memory.cold.write(lambda db: forget_synced(db, lambda body: b"canary" in body)) == 4
    desk.run(place)
    assert "canary" not in words_at(place)


def test_one_that_waits_for_its_parent_comes_without_its_words(desk: Laptop, laptop: Laptop, place: Path) -> None:
    here, _ = with_forgetting(desk), with_forgetting(laptop)
    trip = desk.talk("First. " + " ".join(str(number**5) for number in range(9000)))
    desk.run(place)
    first = {file.name for file in place.glob("*.segment")}
    desk.say(trip, "The canary sings.")
    desk.run(place)
    laptop.run(Hidden(place, first))
    *_, canary = desk.memory.conversations.all_entries(trip.seq)
    here.forget({entry_token("", trip.id, canary.id)}, 1)
    desk.run(place)
    laptop.run(Hidden(place, first))
    waiting = laptop.memory.cold.read(lambda db: list(db.execute("SELECT operation FROM sync_waiting")))
    assert [b"canary" in body for (body,) in waiting] == [False]
    laptop.run(place)
    assert texts(laptop)[1] == "[forgotten]"
    assert state_of(laptop) == state_of(desk)
