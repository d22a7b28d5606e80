"""Changes of hot memory and skills since an epoch began, each reported once.

A change reports the new text, followed by a line for each line that it replaces: `replaces: …`.
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

LONGEST = 400  # characters of a note in a change
REMOVED = "gone"


class SourceChange(Struct, frozen=True):
    """One change: its key, its new digest (`gone` for a removal), and the lines that report it.

    `text`: the new text of a note, to which a later change is compared.
    """

    key: str
    digest: str
    line: str
    text: str = ""


def note_digests(notes: Iterable[Note]) -> dict[str, str]:
    """Digests of the notes by id, for an epoch."""
    return {note.id: _digest(note) for note in notes}


def skill_digests(skills: Iterable[Skill]) -> dict[str, str]:
    """Digests of the skills by name, for an epoch."""
    return {skill.name: skill.digest for skill in skills}


def unreported_changes(
    state: EpochState,
    notes: Sequence[Note],
    skills: Sequence[Skill],
    in_view: frozenset[int],
    recalled: Sequence[RecalledSpan] = (),
) -> tuple[SourceChange, ...]:
    """Differences from the head that no message in view has reported. `recalled`: the passages still in view."""
    old = old_notes(state, in_view, recalled)
    changes = (*_note_changes(state.notes, notes, old), *_skill_changes(state.skills, skills))
    known = {f"note {key}": digest for key, digest in state.notes.items()}
    known |= {f"skill {key}": digest for key, digest in state.skills.items()}
    current = {change.key: change for change in changes}
    restored = _restored(state.told, known, current, in_view, {note.id: note for note in notes})
    unreported = [change for change in changes if not _is_reported(state.told.get(change.key), change.digest, in_view)]
    return (*unreported, *restored)


def unchanged_notes(state: EpochState, notes: Iterable[Note]) -> frozenset[str]:
    """Ids of the notes that are unchanged from the head."""
    held = frozenset(state.in_head)
    return frozenset(note.id for note in notes if note.id in held and state.notes.get(note.id) == _digest(note))


def notes_in_request(state: EpochState, notes: Iterable[Note]) -> tuple[Note, ...]:
    """The current notes of which the head has text, or a change since then does."""
    held = frozenset(state.in_head)
    return tuple(
        note
        for note in notes
        if note.id in held or f"note {note.id}" in state.told or state.notes.get(note.id) != _digest(note)
    )


def _is_reported(reported: ReportedChange | None, digest: str, in_view: frozenset[int]) -> bool:
    return reported is not None and reported.digest == digest and reported.entry in in_view


def _restored(
    reported: Mapping[str, ReportedChange],
    known: Mapping[str, str],
    current: Mapping[str, SourceChange],
    in_view: frozenset[int],
    notes: Mapping[str, Note],
) -> list[SourceChange]:
    """Changes that were reported and have been reverted to the state in the head."""
    restored: list[SourceChange] = []
    for key, change in reported.items():
        if key in current or change.entry not in in_view or change.digest == known.get(key, REMOVED):
            continue
        note = notes.get(key.removeprefix("note "))
        text = _note_text(note) if note else ""
        if key in known:
            line = f"- {key} is again as it was: {_shortened(text)}" if text else f"- {key} is again as it was."
        else:
            line = f"- {key} was removed."
        restored.append(
            SourceChange(key, known.get(key, REMOVED), _with_replaced(line, replaced_lines(change.words, text)), text)
        )
    return restored


def _note_changes(known: Mapping[str, str], notes: Sequence[Note], old: NotesInContext) -> Iterable[SourceChange]:
    """Changed and new notes, then deleted ones."""
    now = {note.id: note for note in notes}
    deleted = [key for key in known if key not in now]
    successors = old.successors(deleted, [note for note in notes if note.id not in known])
    for note in now.values():
        digest, text = _digest(note), _note_text(note)
        if known.get(note.id) == digest:
            continue
        before = old.text_of(note) or old.text_at(successors.get(note.id, ""))
        verb = f"{note.path} now says" if before or note.id in known else f"new in {note.path}"
        line = f"- {verb} ({_id_and_date(note)}): {_shortened(text)}"
        yield SourceChange(f"note {note.id}", digest, _with_replaced(line, replaced_lines(before, text)), text)
    replaced = frozenset(successors.values())
    for key in deleted:
        if key in replaced:
            line = f"- note {key} was rewritten."
            yield SourceChange(f"note {key}", REMOVED, line)
            continue
        yield SourceChange(
            f"note {key}", REMOVED, _with_replaced(f"- note {key} was removed.", replaced_lines(old.text_at(key), ""))
        )


def _with_replaced(line: str, replaced: Sequence[str]) -> str:
    return "\n".join([line, *(f"  replaces: {text}" for text in replaced)])


def _skill_changes(known: Mapping[str, str], skills: Sequence[Skill]) -> Iterable[SourceChange]:
    now = {skill.name: skill for skill in skills}
    for skill in now.values():
        if known.get(skill.name) != skill.digest:
            verb = "changed" if skill.name in known else "new"
            yield SourceChange(f"skill {skill.name}", skill.digest, f"- {verb} skill {skill.name}: {skill.description}")
    for key in known:
        if key not in now:
            yield SourceChange(f"skill {key}", REMOVED, f"- skill {key} was removed.")


def _digest(note: Note) -> str:
    return digest_of(_note_text(note))


def _note_text(note: Note) -> str:
    return f"{note.heading}\n{note.text}" if note.heading else note.text


def _id_and_date(note: Note) -> str:
    return f"{note.id}, {iso(note.time)[:10]}" if note.time else note.id


def _shortened(text: str) -> str:
    joined = " / ".join(line.strip() for line in text.strip().split("\n") if line.strip())
    return joined if len(joined) <= LONGEST else joined[:LONGEST].rsplit(" ", 1)[0] + " …"
