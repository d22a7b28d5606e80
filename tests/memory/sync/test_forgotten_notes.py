"""A line of a note that one device forgot: it goes from all, they show the same, and no other line is lost."""

import random
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memory.cold.note_lines as note_lines
import memory.sync.notes as notes
import memory.sync.segment as segment
from foundation.clock import to_ms
from memory.cold.note_lines import forget_note_lines, pack_lines, unpack_lines
from memory.cold.sql import run
from memory.sync.note_graph import merged_text
from memory.sync.operation import NoteOperation
from memory.sync.outbox import content_of
from tests.examples import examples
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_forgotten import forget_words, words_at, words_in
from tests.memory.sync.test_hostile_segments import put
from tests.memory.sync.test_note_arrivals import PATH, SECRET, NoteDevice
from tests.memory.sync.test_notes import sync, text, write
from tests.memory.sync.test_segment import DEVICE

LINES = st.dictionaries(st.integers(0, 3000), st.integers(0, 5), max_size=30)


class ForgetfulDevice(NoteDevice):
    """A device that forgets lines of its note, too."""

    def add(self, number: int, at: int) -> str:
        """Puts a line in; gives it."""
        lines = self.text.splitlines(keepends=True)
        lines.insert(min(at, len(lines)), f"- line {number}\n")
        self.hot.texts[PATH] = "".join(lines)
        return f"- line {number}"

    def forget(self, at: int) -> str:
        """Forgets a line, as the job does: out of the file, and out of all versions; gives it, "" for none."""
        lines = self.text.splitlines(keepends=True)
        if at >= len(lines) or not lines[at].startswith("- line"):
            return ""
        gone = lines[at].strip()
        self.hot.texts[PATH] = "".join(line for line in lines if line.strip() != gone)

        def going(path: str, body: str) -> Collection[int]:
            del path
            return [number for number, line in enumerate(body.split("\n")) if line.strip() == gone]

        self.cold.write(lambda db: forget_note_lines(db, SECRET, going, to_ms(self.clock.now())))
        return gone

    def resent(self) -> list[NoteOperation]:
        """What it sends: its own versions, and those of others without forgotten lines."""
        self.cold.write(lambda db: run(db, "UPDATE sync_notes SET segment = 1 WHERE own = 1"))
        others = self.cold.read(lambda db: content_of(db, 1)).others
        return [each for each in others if isinstance(each, NoteOperation)]


STEPS = st.tuples(
    st.integers(0, 2),
    st.tuples(st.sampled_from(["add", "add", "forget", "none"]), st.integers(0, 5)),
    st.integers(0, 2**8 - 1) | st.just(-1),
)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(STEPS, max_size=20), st.tuples(*[st.integers(-9999, 9999)] * 3), st.permutations(range(3)))
def test_all_show_the_same_without_what_was_forgotten_and_with_all_else(
    steps: list[tuple[int, tuple[str, int], int]], skews: tuple[int, int, int], order: list[int]
) -> None:
    """A step: the device, what it does to a line, and which of the others' versions arrive then, a bit for each."""
    devices = [ForgetfulDevice(name, skew) for name, skew in zip("abc", skews, strict=True)]
    added, forgotten = set[str](), set[str]()

    def of_others(device: int) -> list[NoteOperation]:
        return [version for number, each in enumerate(devices) if number != device for version in each.resent()]

    try:
        for number, (device, (action, at), arrived) in enumerate(steps):
            if action == "add":
                added.add(devices[device].add(number, at))
            elif action == "forget":
                forgotten.add(devices[device].forget(at))
            devices[device].sync([version for at, version in enumerate(of_others(device)) if arrived >> at % 8 & 1])
        for device in (*order, *order, *order, *order):
            devices[device].sync(of_others(device))
        texts = {device.text for device in devices}
        assert texts == {merged_text(device.versions) for device in devices}
        assert len(texts) == 1
        lines = [line for line in texts.pop().splitlines() if line.startswith("- ")]
        assert set(lines) == added - forgotten
    finally:
        for each in devices:
            each.cold.close()


@given(LINES)
def test_packed_lines_come_back(lines: dict[int, int]) -> None:
    assert unpack_lines(pack_lines(lines)) == lines


def apart(desk: Laptop, laptop: Laptop, phone: Laptop, place: Path) -> None:
    """All know a note with a conflict; the desk forgets a line of it, while the others edit lines beside it."""
    write(desk, "- one\n- the zanzibar canary\n- two\n- three\n")
    sync(place, desk, laptop, phone)
    write(laptop, "- one, there\n- the zanzibar canary\n- two\n- three\n")
    write(phone, "- one, too\n- the zanzibar canary\n- two\n- three\n- four\n")
    sync(place, laptop, phone)
    write(laptop, text(laptop).replace("- two\n", "- two, there\n"))
    laptop.run(place)  # and the desk has read nothing of it
    forget_words(desk, "zanzibar")
    write(phone, text(phone).replace("- three\n", "- three, too\n"))


def converged(*devices: Laptop) -> bool:
    """Whether all show the same: each line that somebody wrote, and none with the forgotten words."""
    texts = {text(device) for device in devices}
    wanted = {"- one, there", "- one, too", "- two, there", "- three, too", "- four"}
    return len(texts) == 1 and wanted <= {*next(iter(texts)).splitlines()} and "zanzibar" not in "".join(texts)


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "phone" / "ws", "phone", skew_s=11 * 3600)
    yield device
    device.close()


def test_a_line_that_one_of_three_forgot_is_on_none_and_at_no_location(
    desk: Laptop, laptop: Laptop, phone: Laptop, place: Path
) -> None:
    apart(desk, laptop, phone, place)
    desk.run(place)
    assert "zanzibar" not in text(desk), "it does not come back with what another wrote before it heard"
    sync(place, desk, laptop, phone)
    sync(place, laptop, phone, desk)
    assert converged(desk, laptop, phone)
    assert "zanzibar" not in words_at(place)
    assert b"zanzibar" not in words_in(desk)


def without_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(note_lines, "_hashed", lambda *_: str(random.random()))


def without_the_graph(patch: pytest.MonkeyPatch) -> None:
    """As it was: the versions that hold the words are deleted where they are forgotten."""

    def deleted(db: apsw.Connection, row: note_lines.NoteRow, _: object, *, sends: bool) -> None:
        if sends:
            run(db, "DELETE FROM sync_notes WHERE id = ?", (row.id,))

    patch.setattr(note_lines, "set_lines", deleted)


@pytest.mark.parametrize("switch_off", [without_words, without_the_graph])
def test_each_rule_is_needed(
    desk: Laptop,
    laptop: Laptop,
    phone: Laptop,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    switch_off: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """The control."""
    switch_off(monkeypatch)
    apart(desk, laptop, phone, place)
    sync(place, desk, laptop, phone)
    sync(place, laptop, phone, desk)
    assert not converged(desk, laptop, phone)


@pytest.mark.parametrize("is_heard", [True, False])
def test_who_says_it_again_knowing_of_it_keeps_it(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch, *, is_heard: bool
) -> None:
    if not is_heard:  # the control
        monkeypatch.setattr(note_lines, "stored_heard", lambda _: ())
        monkeypatch.setattr(notes, "stored_heard", lambda _: ())
    write(desk, "- one\n- the zanzibar canary\n")
    sync(place, desk, laptop)
    forget_words(desk, "zanzibar")
    sync(place, desk, laptop)
    assert text(laptop) == "- one\n"
    write(laptop, "- one\n- the zanzibar canary\n")
    sync(place, laptop, desk)
    assert ("zanzibar" in text(desk)) is is_heard
    assert text(desk) == text(laptop)


def test_an_older_program_leaves_a_segment_with_forgotten_lines_and_names_it(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(desk, "- one\n- the zanzibar canary\n")
    sync(place, desk, laptop)
    forget_words(desk, "zanzibar")
    desk.run(place)
    with monkeypatch.context() as patched:
        patched.setattr(segment, "_KNOWN", frozenset({b"PSS1"}))
        (unread,) = laptop.run(place).unread
    assert "written by a newer version of Palimpsest" in unread.message
    assert text(laptop) == "- one\n- the zanzibar canary\n"
    assert laptop.run(place).unread == ()
    assert text(laptop) == "- one\n"


def test_forgotten_lines_that_are_no_lines_of_the_text_are_refused(desk: Laptop, place: Path) -> None:
    version = NoteOperation(
        id="0" * 64, path="MEMORY.md", parents=(), text=b"- one\n", clock=1, device=DEVICE, forgotten=((1, bytes(9)),)
    )
    put(place, version)
    (unread,) = desk.run(place).unread
    assert "larger than any valid segment" in unread.message
