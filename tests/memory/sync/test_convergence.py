"""Whatever happens on three devices and to the files between them, in the end all hold the same, and all of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memory.cold.sync_values as sync_values
import memory.sync.inbox as inbox
import memory.sync.note_graph as note_graph
import memory.sync.outbox as outbox
import memory.sync.registers as registers
from foundation.privacy import clear
from memory.sync.note_store import NoteVersion
from tests.memory.sync.courses import Course
from tests.memory.sync.devices import Hidden, Laptop, state_of
from tests.memory.sync.test_forgotten import forget_words

STEPS = 150
Scene = Callable[[Laptop, Laptop, Path], bool]
SwitchOff = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a course has many."""
    monkeypatch.setattr(outbox, "OPEN_BYTES", 500)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    course = Course(tmp_path, 7, monkeypatch)
    yield course
    course.close()


def problems(course: Course) -> list[str]:
    """What is wrong after a course; nothing where all is well."""
    course.settle()
    first, *others = course.states()
    found = [f"{key} differ" for state in others for key in state if state[key] != first[key]]
    for device in course.devices:
        sql = "SELECT e.id FROM entries e JOIN conversations c ON c.seq = e.conversation"
        held = {row[0] for row in device.memory.cold.read(lambda db, sql=sql: list(db.execute(sql)))}
        wanted = {id_ for id_, conversation in course.said.items() if conversation not in course.deleted}
        found += [f"{device.name} lacks {id_}" for id_ in wanted - held]
        found += [f"{device.name} has {id_} back" for id_ in held - wanted]
        texts = {file.path: file.text for file in device.memory.hot.files()}
        found += [f"{device.name} lacks {line!r}" for name, line in course.lines if line not in texts.get(name, "")]
        found += [problem.message for problem in device.memory.cold.check()]
    return found


@pytest.mark.timeout(120)  # by the wall clock: a busy machine takes ten times as long
def test_three_devices_converge_and_lose_nothing(course: Course) -> None:
    course.run(STEPS)
    assert problems(course) == [], course.evidence()
    assert len(course.said) > STEPS // 6


def late_parent(desk: Laptop, laptop: Laptop, place: Path) -> bool:
    """Whether both entries arrive where the second one's segment is there first."""
    trip = desk.talk("First. " + " ".join(str(number**5) for number in range(500)))
    desk.run(place)
    first = {file.name for file in place.iterdir()}
    desk.say(trip, "Second.")
    desk.run(place)
    laptop.run(Hidden(place, first))
    laptop.run(place)
    return state_of(laptop)["entries"] == state_of(desk)["entries"]


def two_titles(desk: Laptop, laptop: Laptop, place: Path) -> bool:
    """Whether both show one title where both set one before either knew of it."""
    trip = desk.talk("First.")
    desk.run(place)
    laptop.run(place)
    desk.memory.conversations.rename(trip.seq, clear("Here"))
    laptop.clock.advance(60)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("There"))
    for device in (desk, laptop, desk, laptop):
        device.run(place)
    return desk.found(trip).title == laptop.found(trip).title == "There"


def two_notes(desk: Laptop, laptop: Laptop, place: Path) -> bool:
    """Whether lines that two devices added are both on both."""
    for device in (desk, laptop):
        (device.workspace.root / "MEMORY.md").write_text(f"- {device.name}\n", encoding="utf-8")
    for device in (desk, laptop, desk, laptop):
        device.run(place)
    texts = [(device.workspace.root / "MEMORY.md").read_text("utf-8") for device in (desk, laptop)]
    return texts[0] == texts[1] and "- desk\n" in texts[0] and "- laptop\n" in texts[0]


def forgotten_title(desk: Laptop, laptop: Laptop, place: Path) -> bool:
    """Whether a forgotten title gives way everywhere, though one was set later whose device knew nothing of that."""
    trip = desk.talk("First.", title="Hobblewick plan")
    desk.run(place)
    laptop.run(place)
    laptop.clock.advance(60)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("Hobblewick plan two"))
    forget_words(desk, "Hobblewick")
    for device in (desk, laptop, desk, laptop):
        device.run(place)
    return desk.found(trip).title == laptop.found(trip).title == "[forgotten] plan"


def without_clocks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registers, "_NEWEST", registers.__dict__["_NEWEST"].replace("clock DESC, device DESC", "seq DESC"))


def without_waiting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(inbox.Inbox, "_wait", lambda *_: None)


def without_merging(patch: pytest.MonkeyPatch) -> None:
    def last_writer(versions: list[NoteVersion]) -> str:
        return note_graph.heads_of(versions)[-1].text

    patch.setattr("memory.sync.notes.merged_text", last_writer)


def without_hearing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sync_values, "heard_names", lambda *_, **__: ())


RULES = [
    (two_titles, without_clocks),
    (late_parent, without_waiting),
    (two_notes, without_merging),
    (forgotten_title, without_hearing),
]


@pytest.mark.parametrize(("scene", "switch_off"), RULES, ids=["titles", "parents", "notes", "forgotten titles"])
def test_each_rule_is_needed(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch, scene: Scene, switch_off: SwitchOff
) -> None:
    """The control: each scene ends well, and with its rule switched off it does not."""
    assert scene(desk, laptop, place)
    switch_off(monkeypatch)
    assert not scene(desk, laptop, place.with_name("other"))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(30))
def test_fifteen_thousand_operations_converge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    course = Course(tmp_path, seed, monkeypatch)
    try:
        course.run(500)
        assert problems(course) == [], course.evidence()
    finally:
        course.close()


@pytest.mark.soak
@pytest.mark.parametrize("switch_off", [without_clocks, without_merging])
def test_without_a_rule_courses_do_not_converge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch_off: SwitchOff
) -> None:
    switch_off(monkeypatch)
    failed = 0
    for seed in range(40):  # two of five do
        course = Course(tmp_path / str(seed), seed, monkeypatch)
        try:
            course.run(STEPS)
            failed += bool(problems(course))
        finally:
            course.close()
        if failed == 2:
            return
    raise AssertionError(f"{failed} of 40 courses")
