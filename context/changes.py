"""What changed in hot memory and skills since an epoch began, told once."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from context.epoch import EpochState, Told
from context.skills import Skill
from context.sources import digest_of
from foundation.clock import iso
from memory.hot import Note

LONGEST = 400  # characters of a note as a change tells it
GONE = "gone"


class Change(Struct, frozen=True):
    """One thing that changed: its key, its digest now (`gone` where it was removed), and a line that tells it."""

    key: str
    digest: str
    line: str


def note_digests(notes: Iterable[Note]) -> dict[str, str]:
    """What an epoch keeps of the notes as they stood."""
    return {note.id: _digest(note) for note in notes}


def skill_digests(skills: Iterable[Skill]) -> dict[str, str]:
    """What an epoch keeps of the skills as they stood."""
    return {skill.name: skill.digest for skill in skills}


def untold(
    state: EpochState, notes: Sequence[Note], skills: Sequence[Skill], in_view: frozenset[int]
) -> tuple[Change, ...]:
    """What differs from the head and was told by no message in view."""
    changes = (*_notes(state.notes, notes), *_skills(state.skills, skills))
    known = {f"note {key}": digest for key, digest in state.notes.items()}
    known |= {f"skill {key}": digest for key, digest in state.skills.items()}
    current = {change.key: change for change in changes}
    back = _restored(state.told, known, current, in_view)
    fresh = [change for change in changes if not _told(state.told.get(change.key), change.digest, in_view)]
    return (*fresh, *back)


def _told(told: Told | None, digest: str, in_view: frozenset[int]) -> bool:
    return told is not None and told.digest == digest and told.entry in in_view


def _restored(
    told: Mapping[str, Told], known: Mapping[str, str], current: Mapping[str, Change], in_view: frozenset[int]
) -> list[Change]:
    """What was told as changed and stands again as the head has it."""
    return [
        Change(key, known.get(key, GONE), f"- {key} is again as it was.")
        for key, said in told.items()
        if key not in current and said.entry in in_view and said.digest != known.get(key, GONE)
    ]


def _notes(then: Mapping[str, str], notes: Sequence[Note]) -> Iterable[Change]:
    now = {note.id: note for note in notes}
    for note in now.values():
        digest = _digest(note)
        if then.get(note.id) != digest:
            verb = "changed" if note.id in then else "new"
            yield Change(f"note {note.id}", digest, f"- {verb} in {note.path} ({_dated(note)}): {_short(_words(note))}")
    for key in then:
        if key not in now:
            yield Change(f"note {key}", GONE, f"- note {key} was removed or rewritten.")


def _skills(then: Mapping[str, str], skills: Sequence[Skill]) -> Iterable[Change]:
    now = {skill.name: skill for skill in skills}
    for skill in now.values():
        if then.get(skill.name) != skill.digest:
            verb = "changed" if skill.name in then else "new"
            yield Change(f"skill {skill.name}", skill.digest, f"- {verb} skill {skill.name}: {skill.description}")
    for key in then:
        if key not in now:
            yield Change(f"skill {key}", GONE, f"- skill {key} was removed.")


def _digest(note: Note) -> str:
    return digest_of(_words(note))


def _words(note: Note) -> str:
    return f"{note.heading}\n{note.text}" if note.heading else note.text


def _dated(note: Note) -> str:
    return f"{note.id}, {iso(note.time)[:10]}" if note.time else note.id


def _short(text: str) -> str:
    joined = " / ".join(line.strip() for line in text.strip().split("\n") if line.strip())
    return joined if len(joined) <= LONGEST else joined[:LONGEST].rsplit(" ", 1)[0] + " …"
