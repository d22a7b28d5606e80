"""What the versions of a note make together follows from them alone, and loses nothing: the laws of merging.

Devices are dicts of versions here, without files: an edit is made of the text that a device shows, and versions arrive
in any order, alone or with others, or not at all until the end.
"""

import random
from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from memory.cold.sync_clock import TICKS
from memory.sync.note_graph import heads_of, merged_text
from memory.sync.note_store import NoteVersion, version_id
from tests.examples import examples

SECTIONS = 4
ALL = -1
PAGE = "".join(f"# Section {number}\n\n- fixed {number}\n\n" for number in range(SECTIONS)) + "# End\n\n"


class Step(Struct, frozen=True):
    """`device` edits the section where `source` is itself; else it takes versions that `source` made: `picked` has a
    bit for each, or is -1 for all. `deletes`: instead of the edit it deletes the file."""

    device: int
    source: int
    section: int
    picked: int
    removes: bool
    deletes: bool


class Edit(Struct, frozen=True):
    """What a version did to a section: the line that it put there, "" for none, in place of what was there. A deletion
    did so to all sections."""

    section: int
    line: str
    removed: tuple[str, ...]


class FakeDevice:
    """The versions that it knows, and those that it made."""

    def __init__(self, number: int, start_ms: int) -> None:
        self.number = number
        self.start_ms = start_ms
        self.known: dict[str, NoteVersion] = {}
        self.own: list[NoteVersion] = []

    def text(self) -> str:
        return merged_text(self.known.values()) or PAGE

    def edit(self, text: str) -> NoteVersion:
        """A version of that text, as NoteSync makes it."""
        parents = tuple(head.id for head in heads_of(self.known.values()))
        clock = max([self.start_ms * TICKS, *(version.clock for version in self.known.values())]) + 1
        device = f"d_{self.number:012}"
        id_ = version_id("MEMORY.md", parents, text.encode(), clock, device)
        version = NoteVersion(id_, parents, text, clock, device)
        self.known[id_] = version
        self.own.append(version)
        return version

    def take(self, versions: list[NoteVersion]) -> None:
        self.known.update({version.id: version for version in versions})


STEPS = st.lists(
    st.builds(
        Step,
        device=st.integers(0, 2),
        source=st.integers(0, 2),
        section=st.integers(0, SECTIONS - 1),
        picked=st.integers(0, 2**12 - 1) | st.just(-1),
        removes=st.booleans(),
        deletes=st.sampled_from([False, False, False, True]),
    ),
    max_size=40,
)


def section_of(text: str, number: int) -> list[str]:
    """The lines that people put into a section."""
    after = text.partition(f"- fixed {number}\n")[2]
    return [line for line in after.partition("\n#")[0].splitlines() if line.strip()]


def played(
    steps: list[Step], skews: tuple[int, int, int], *, with_gaps: bool
) -> tuple[list[FakeDevice], dict[str, Edit]]:
    """The devices after the steps, and what each version did. All begin with one version of the page.

    Without gaps those that a version was made from arrive before it or with it.
    """
    devices = [FakeDevice(number, 10**6 + skew) for number, skew in enumerate(skews)]
    first = devices[0].edit(PAGE)
    for device in devices[1:]:
        device.take([first])
    edits: dict[str, Edit] = {}
    for number, step in enumerate(steps):
        device, source = devices[step.device], devices[step.source]
        if source is not device:
            picked = [version for at, version in enumerate(source.own) if step.picked >> at % 12 & 1]
            above = set[str]() if with_gaps else {id_ for each in picked for id_ in ancestors(each.id, source.known)}
            device.take(picked + [source.known[id_] for id_ in above])
            continue
        before = device.text()
        if step.deletes and merged_text(device.known.values()):
            gone = tuple(line for section in range(SECTIONS) for line in section_of(before, section))
            edits[device.edit("").id] = Edit(ALL, "", gone)
            continue
        removed = next(iter(section_of(before, step.section)), "")
        line = "" if step.removes and removed else f"- line {number}"
        here = f"- fixed {step.section}\n"
        old, new = here + (f"{removed}\n" if removed else ""), here + (f"{line}\n" if line else "")
        edits[device.edit(before.replace(old, new, 1)).id] = Edit(step.section, line, (removed,))
    for device in devices:
        for source in devices:
            device.take(source.own)
    return devices, edits


def ancestors(id_: str, known: dict[str, NoteVersion]) -> set[str]:
    found, left = set[str](), list(known[id_].parents)
    while left:
        if (current := left.pop()) not in found:
            found.add(current)
            left += known[current].parents
    return found


def is_after(known: dict[str, NoteVersion], first: str, second: str) -> bool:
    """Whether the second version was made knowing the first."""
    return first in ancestors(second, known)


def settled(edits: dict[str, Edit], known: dict[str, NoteVersion]) -> Iterator[tuple[int, str]]:
    """The sections that no two devices edited at once, each with the line that its last edit put there. None where a
    deletion met an edit: that keeps all of the file."""
    deletions = {id_ for id_, edit in edits.items() if edit.section == ALL}
    if any(
        not is_after(known, *sorted((one, other), key=lambda id_: known[id_].clock))
        for one in deletions
        for other in known
        if other != one
    ):
        return
    for section in range(SECTIONS):
        made = [id_ for id_, edit in edits.items() if edit.section in {section, ALL}]
        made.sort(key=lambda id_: known[id_].clock)
        if made and all(is_after(known, first, second) for first, second in pairwise(made)):
            yield section, edits[made[-1]].line


@settings(max_examples=examples(400), deadline=None)
@given(STEPS, st.tuples(*[st.integers(0, 100)] * 3), st.randoms(use_true_random=False))
def test_the_text_follows_from_the_versions_alone(
    steps: list[Step], skews: tuple[int, int, int], chance: random.Random
) -> None:
    devices, _ = played(steps, skews, with_gaps=True)
    versions = list(devices[0].known.values())
    chance.shuffle(versions)
    assert {merged_text(device.known.values()) for device in devices} == {merged_text(versions)}


@settings(max_examples=examples(400), deadline=None)
@given(STEPS, st.tuples(*[st.integers(0, 100)] * 3))
def test_a_line_that_nobody_removed_is_there(steps: list[Step], skews: tuple[int, int, int]) -> None:
    devices, edits = played(steps, skews, with_gaps=True)
    lines = devices[0].text().splitlines()
    removed = {line for edit in edits.values() for line in edit.removed}
    assert [edit.line for edit in edits.values() if edit.line not in {*removed, *lines, ""}] == []


@settings(max_examples=examples(400), deadline=None)
@given(STEPS, st.tuples(*[st.integers(0, 100)] * 3))
def test_a_section_that_was_edited_by_one_after_the_other_is_as_the_last_one_left_it(
    steps: list[Step], skews: tuple[int, int, int]
) -> None:
    """However the versions of other sections met: what was removed stays removed."""
    devices, edits = played(steps, skews, with_gaps=False)
    text = devices[0].text()
    for section, line in settled(edits, devices[0].known):
        assert section_of(text, section) == ([line] if line else [])


@settings(max_examples=examples(400), deadline=None)
@given(STEPS, st.tuples(*[st.integers(0, 100)] * 3))
def test_a_deletion_takes_all_of_the_text_or_nothing(steps: list[Step], skews: tuple[int, int, int]) -> None:
    """No line that everybody left alone goes without the others, and what the edits make together stays as it is."""
    devices, _ = played(steps, skews, with_gaps=True)
    known = devices[0].known
    edits = [head.id for head in heads_of(known.values()) if head.text]
    above = {*edits, *(id_ for each in edits for id_ in ancestors(each, known))}
    text = merged_text(known.values())
    assert text in {"", merged_text(known[id_] for id_ in above)}
    assert not text or {*PAGE.splitlines()} <= {*text.splitlines()}


PARTS = st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True)


@settings(max_examples=examples(400), deadline=None)
@given(PARTS, st.lists(PARTS, min_size=1, max_size=2), st.permutations(range(3)), st.sampled_from(["", "\n", " \n"]))
def test_what_was_edited_stays_as_if_nobody_had_deleted_it(
    first: list[int], edited: list[list[int]], clocks: list[int], emptied: str
) -> None:
    """Any edits of any page, made before, after or between by the clocks."""
    page, *pages = ["".join(f"- line {number}\n" for number in lines) for lines in (first, *edited)]
    devices = [FakeDevice(number, 10**6 + 1000 * clock) for number, clock in enumerate(clocks)]
    start = FakeDevice(3, 0).edit(page)
    for device in devices:
        device.take([start])
    made = [device.edit(text) for device, text in zip(devices, pages, strict=False)]
    together = merged_text([start, *made])
    deletion = devices[2].edit(emptied)
    shown = merged_text([start, *made, deletion])
    assert shown == (emptied if together == page else together)
    for version in made:
        assert merged_text([start, version, deletion]) == (emptied if version.text == page else version.text)


def test_a_long_history_of_edits_made_at_once_is_merged() -> None:
    """Each of two devices edits what both had made together, time after time: no depth is too much."""
    devices = [FakeDevice(number, 10**6) for number in range(2)]
    for number in range(400):
        for device in devices:
            device.edit(f"- edit {number} by {device.number}\n")
        for device, other in (devices, devices[::-1]):
            device.take(other.own[-1:])
    assert devices[0].text() == devices[1].text()
    assert {"- edit 399 by 0", "- edit 399 by 1"} < set(devices[0].text().splitlines())
