"""What one device forgot goes from the others, comes back from nowhere, and leaves the location."""

from collections.abc import Collection
from pathlib import Path

from foundation.privacy import clear
from memory.cold.sync_words import forget_synced
from memory.records import Entry
from memory.sync.forgotten import entry_token
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_robustness import decoded


class FakeForgetting:
    """Remembers tokens, and deletes the entries that they name."""

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
                    drop(self._device, entry)
        return forgotten_ms


def drop(device: Laptop, entry: Entry) -> None:
    def gone(db: object) -> None:
        run = db.execute  # type: ignore[attr-defined]  # a connection
        run("UPDATE entries SET parent = NULL WHERE parent = ?", (entry.seq,))
        run("UPDATE conversations SET leaf = NULL WHERE leaf = ?", (entry.seq,))
        run("DELETE FROM entries WHERE seq = ?", (entry.seq,))

    device.memory.cold.write(gone)


def with_forgetting(device: Laptop) -> FakeForgetting:
    port = FakeForgetting(device)
    device.sync = type(device.sync)(device.memory, device.delete, forgetting=port)
    return port


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
    assert [entry[2] for entry in state_of(laptop)["entries"]] == [entry[2] for entry in state_of(desk)["entries"]]
    assert len(state_of(laptop)["entries"]) == 1


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
    assert len(state_of(laptop)["entries"]) == 1
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
