"""However the versions of notes arrive on three devices, in the end all show the same: NoteSync on real rows, without
files."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TypeVar, cast

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.clock import to_ms
from memory.cold.schema import migrate
from memory.cold.sync_clock import see
from memory.hot.note import HotFile, TextChange
from memory.hot.swap import merge_or_keep
from memory.memory import Memory
from memory.sync.device import begin
from memory.sync.note_graph import merged_text
from memory.sync.note_store import NoteVersion, take_version, versions_of
from memory.sync.notes import NoteSync
from memory.sync.operation import NoteOperation
from tests.examples import examples
from tests.fakes import FakeClock

T = TypeVar("T")
PATH = "MEMORY.md"
SECRET = bytes(32)
DELETE = -1


def _empty_store() -> bytes:
    db = apsw.Connection(":memory:")
    migrate(db)
    return db.serialize("main")


EMPTY_STORE = _empty_store()


class FakeHotMemory:
    """Note files in memory."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.texts: dict[str, str] = {}

    def look(self) -> None:
        """The files are always as of now."""

    def files(self) -> tuple[HotFile, ...]:
        return tuple(HotFile(path, text, 1, None) for path, text in self.texts.items())

    def replace_texts(self, changes: Sequence[TextChange]) -> list[str]:
        for change in changes:
            now = self.texts.get(change.name, "")
            self.texts[change.name] = merge_or_keep(change.base, now, change.text, self.clock.now())
        return [change.name for change in changes]


class FakeColdStore:
    """One connection; each read and write is a transaction."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.secret = SECRET
        self._db = apsw.Connection(":memory:")
        self._db.deserialize("main", EMPTY_STORE)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        with self._db:
            return work(self._db)

    read = write

    def close(self) -> None:
        self._db.close()


class NoteDevice:
    """A device with one note, and its versions."""

    def __init__(self, name: str, skew_s: int) -> None:
        self.clock = FakeClock()
        self.clock.advance(skew_s)
        self.hot, self.cold = FakeHotMemory(self.clock), FakeColdStore(self.clock)
        self._notes = NoteSync(cast(Memory, SimpleNamespace(hot=self.hot, cold=self.cold)))
        self._device = self.cold.write(lambda db: begin(db, name, to_ms(self.clock.now()))).id

    def edit(self, number: int, line: int) -> None:
        """Adds a line, or changes one that is there, or deletes the file."""
        if line == DELETE:
            self.hot.texts.pop(PATH, None)
            return
        lines = self.text.splitlines(keepends=True)
        if line < len(lines):
            lines[line] = f"{lines[line].rstrip()} {number}\n"
        else:
            lines.append(f"- line {number}\n")
        self.hot.texts[PATH] = "".join(lines)

    def sync(self, versions: list[NoteOperation]) -> None:
        """As a run of a sync: makes a version of what was changed here, takes those of others, merges."""
        self.clock.advance(1)
        self._notes.collect(self._device)
        for version in versions:
            self.cold.write(lambda db, version=version: (see(db, version.clock), take_version(db, version, SECRET)))
        self._notes.spread()

    @property
    def text(self) -> str:
        return self.hot.texts.get(PATH, "")

    @property
    def versions(self) -> list[NoteVersion]:
        """All that it knows."""
        return self.cold.read(lambda db: versions_of(db, PATH))

    @property
    def own(self) -> list[NoteOperation]:
        """Those that it made, in their order."""
        return [
            NoteOperation(
                id=each.id,
                path=PATH,
                parents=each.parents,
                text=each.text.encode(),
                clock=each.clock,
                device=each.device,
            )
            for each in sorted(self.versions, key=lambda each: each.clock)
            if each.device == self._device
        ]


STEPS = st.tuples(st.integers(0, 2), st.none() | st.integers(DELETE, 5), st.integers(0, 2**8 - 1) | st.just(-1))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(STEPS, max_size=20), st.tuples(*[st.integers(-9999, 9999)] * 3), st.permutations(range(3)))
def test_devices_that_know_the_same_versions_show_the_same_text(
    steps: list[tuple[int, int | None, int]], skews: tuple[int, int, int], order: list[int]
) -> None:
    """A step: the device, the line that it edits, and which of the others' versions arrive then, a bit for each."""
    devices = [NoteDevice(name, skew) for name, skew in zip("abc", skews, strict=True)]

    def of_others(device: int) -> list[NoteOperation]:
        return [version for number, each in enumerate(devices) if number != device for version in each.own]

    try:
        for number, (device, line, arrived) in enumerate(steps):
            if line is not None:
                devices[device].edit(number, line)
            devices[device].sync([version for at, version in enumerate(of_others(device)) if arrived >> at % 8 & 1])
        for device in (*order, *order, *order):
            devices[device].sync(of_others(device))
        texts = {device.text for device in devices}
        assert texts == {merged_text(device.versions) for device in devices}
        assert len(texts) == 1
    finally:
        for each in devices:
            each.cold.close()
