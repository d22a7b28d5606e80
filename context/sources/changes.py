"""Changes of hot memory and skills since an epoch began, each reported once.

A change gives the new text, and below it a line for each sentence that no longer holds: `replaces: …`.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from context.epoch import EpochState, ReportedChange
from context.recall.stale import NotesInContext, old_notes, replaced_lines
from context.sources.file_state import digest_of
from context.sources.skills import Skill
from foundation.clock import iso
from memory.hot import Note
from models.messages import RecalledSpan

LONGEST = 400  # characters of a note as a change tells it
GONE = "gone"


class SourceChange(Struct, frozen=True):
    """One change: its key, its new digest (`gone` for a removal), and the lines that report it.

    `words`: the new text of a note, for a change that may follow.
    """

    key: str
    digest: str
    line: str
    words: str = ""


def note_digests(notes: Iterable[Note]) -> dict[str, str]:
    """The digests of the notes, for an epoch."""
    return {note.id: _digest(note) for note in notes}


def skill_digests(skills: Iterable[Skill]) -> dict[str, str]:
    """The digests of the skills, for an epoch."""
    return {skill.name: skill.digest for skill in skills}


def unreported_changes(
    state: EpochState,
    notes: Sequence[Note],
    skills: Sequence[Skill],
    in_view: frozenset[int],
    recalled: Sequence[RecalledSpan] = (),
) -> tuple[SourceChange, ...]:
    """The differences from the head that no message in view has reported. `recalled`: the passages still in view."""
    old = old_notes(state, in_view, recalled)
    changes = (*_notes(state.notes, notes, old), *_skills(state.skills, skills))
    known = {f"note {key}": digest for key, digest in state.notes.items()}
    known |= {f"skill {key}": digest for key, digest in state.skills.items()}
    current = {change.key: change for change in changes}
    back = _restored(state.told, known, current, in_view, {note.id: note for note in notes})
    fresh = [change for change in changes if not _told(state.told.get(change.key), change.digest, in_view)]
    return (*fresh, *back)


def unchanged_notes(state: EpochState, notes: Iterable[Note]) -> frozenset[str]:
    """The ids of the notes that are as in the head."""
    held = frozenset(state.in_head)
    return frozenset(note.id for note in notes if note.id in held and state.notes.get(note.id) == _digest(note))


def _told(told: ReportedChange | None, digest: str, in_view: frozenset[int]) -> bool:
    return told is not None and told.digest == digest and told.entry in in_view


def _restored(
    told: Mapping[str, ReportedChange],
    known: Mapping[str, str],
    current: Mapping[str, SourceChange],
    in_view: frozenset[int],
    notes: Mapping[str, Note],
) -> list[SourceChange]:
    """What was reported as changed and is now as in the head again."""
    found: list[SourceChange] = []
    for key, said in told.items():
        if key in current or said.entry not in in_view or said.digest == known.get(key, GONE):
            continue
        note = notes.get(key.removeprefix("note "))
        words = _words(note) if note else ""
        if key in known:
            line = f"- {key} is again as it was: {_short(words)}" if words else f"- {key} is again as it was."
        else:
            line = f"- {key} was removed."
        found.append(SourceChange(key, known.get(key, GONE), _with(line, replaced_lines(said.words, words)), words))
    return found


def _notes(then: Mapping[str, str], notes: Sequence[Note], old: NotesInContext) -> Iterable[SourceChange]:
    """Changed and new notes; then deleted ones, unless another replaced them."""
    now = {note.id: note for note in notes}
    gone = [key for key in then if key not in now]
    successors = old.successors(gone, [note for note in notes if note.id not in then])
    for note in now.values():
        digest, words = _digest(note), _words(note)
        if then.get(note.id) == digest:
            continue
        before = old.words_of(note) or old.words_at(successors.get(note.id, ""))
        verb = f"{note.path} now says" if before or note.id in then else f"new in {note.path}"
        line = f"- {verb} ({_dated(note)}): {_short(words)}"
        yield SourceChange(f"note {note.id}", digest, _with(line, replaced_lines(before, words)), words)
    replaced = frozenset(successors.values())
    for key in gone:
        if key in replaced:
            line = f"- note {key} was rewritten."
            yield SourceChange(f"note {key}", GONE, line)
            continue
        yield SourceChange(
            f"note {key}", GONE, _with(f"- note {key} was removed.", replaced_lines(old.words_at(key), ""))
        )


def _with(line: str, replaced: Sequence[str]) -> str:
    return "\n".join([line, *(f"  replaces: {one}" for one in replaced)])


def _skills(then: Mapping[str, str], skills: Sequence[Skill]) -> Iterable[SourceChange]:
    now = {skill.name: skill for skill in skills}
    for skill in now.values():
        if then.get(skill.name) != skill.digest:
            verb = "changed" if skill.name in then else "new"
            yield SourceChange(f"skill {skill.name}", skill.digest, f"- {verb} skill {skill.name}: {skill.description}")
    for key in then:
        if key not in now:
            yield SourceChange(f"skill {key}", GONE, f"- skill {key} was removed.")


def _digest(note: Note) -> str:
    return digest_of(_words(note))


def _words(note: Note) -> str:
    return f"{note.heading}\n{note.text}" if note.heading else note.text


def _dated(note: Note) -> str:
    return f"{note.id}, {iso(note.time)[:10]}" if note.time else note.id


def _short(text: str) -> str:
    joined = " / ".join(line.strip() for line in text.strip().split("\n") if line.strip())
    return joined if len(joined) <= LONGEST else joined[:LONGEST].rsplit(" ", 1)[0] + " …"
