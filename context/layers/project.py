"""Project layer: AGENTS.md, SOUL.md, skill index and hot memory in the head; called skills and changes in the tail."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from context.assembly.tokens import Layer, MessageCounter, MessagePiece, fit_lines
from context.errors import NoSuchSkill
from context.report import DroppedSource
from context.sources.sent_text import sent_text
from context.sources.skills import Skill, find_skill
from foundation.privacy import TextSource, clear
from memory.hot import Note
from models.messages import Text

MEMORY = "MEMORY.md"
NEWEST = "(newest first; "  # start of the last line of a truncated MEMORY.md
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class MemorySection(Struct, frozen=True):
    """The part of MEMORY.md in the head, the ids of its notes, and the dropped part."""

    text: str
    in_head: tuple[str, ...]
    dropped: DroppedSource | None = None


def skills_text(skills: Sequence[Skill]) -> str:
    """Index of skills, one per line, sorted by name."""
    lines = [f"- {skill.name}: {skill.description}" for skill in sorted(skills, key=lambda skill: skill.name)]
    return clear("\n".join(lines), TextSource.OTHER)


def memory_section(memory_text: str, notes: Sequence[Note], limit: int, counting: MessageCounter) -> MemorySection:
    """MEMORY.md; where it exceeds `limit` tokens, its newest notes and the number of the others."""
    own_notes = [note for note in notes if note.path == MEMORY]
    text = clear(sent_text(memory_text), TextSource.OTHER)
    tokens = counting.text(text)
    if tokens <= limit:
        return MemorySection(text, tuple(note.id for note in own_notes))
    lines = memory_text.split("\n")
    newest = sorted(own_notes, key=lambda note: (note.time or _EARLIEST, note.line_first), reverse=True)
    kept_notes: list[Note] = []
    shown: list[str] = []
    for note in newest:
        note_text = clear("\n".join(lines[note.line_first - 1 : note.line_last]).strip(), TextSource.OTHER)
        extended = "\n\n".join([*shown, note_text, _remainder_line(len(own_notes) - len(kept_notes) - 1)])
        if counting.text(extended) > limit:
            break
        kept_notes.append(note)
        shown.append(note_text)
    section = "\n\n".join([*shown, _remainder_line(len(own_notes) - len(kept_notes))]) if own_notes else ""
    if not kept_notes:
        section, _ = fit_lines(text, limit, counting, "… more of MEMORY.md can be searched.")
    dropped_tokens = max(0, tokens - counting.text(section))
    missing = len(own_notes) - len(kept_notes)
    name = f"{MEMORY}: {missing} older notes" if missing else f"{MEMORY}: its end"
    return MemorySection(
        section,
        tuple(note.id for note in kept_notes),
        DroppedSource(name, dropped_tokens, "the share is full; they are found by search"),
    )


def _remainder_line(count: int) -> str:
    return f"{NEWEST}{count} older {'note' if count == 1 else 'notes'} can be searched)"


def skills_called(skills: Sequence[Skill], name: str, text: str) -> tuple[Skill, ...]:
    """The named skill, then the skills whose triggers occur in the message. Raises NoSuchSkill."""
    called = [skill for skill in skills if skill.called_by(text)]
    if not name.strip():
        return tuple(called)
    named = find_skill(skills, name)
    if named is None:
        known = ", ".join(skill.name for skill in skills) or "none yet"
        raise NoSuchSkill("No such skill", f"No skill is named “{name}” in skills/.", f"The skills are: {known}.")
    return (named, *(skill for skill in called if skill.name != named.name))


def skill_piece(skill: Skill) -> MessagePiece:
    """Body of a skill, for the tail."""
    return MessagePiece(
        Layer.PROJECT,
        f"skill {skill.name}",
        Text(clear(f"{skill.name}\n{skill.body}", TextSource.OTHER), injected="skill"),
    )


def changes_piece(lines: Sequence[str]) -> MessagePiece:
    """Changes of memory and skills since the epoch began, for the tail."""
    opening = "Changed since the head was written. This is what holds now; what it replaces no longer does."
    text = "\n".join([opening, *lines])
    return MessagePiece(Layer.PROJECT, "changes", Text(clear(text, TextSource.OTHER), injected="changes"))
