"""The project layer: AGENTS.md, SOUL.md, the index of skills and hot memory in the head; skills and changes in the
tail."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from context.assembly.tokens import Layer, MessageCounter, MessagePiece, fit_lines
from context.errors import NoSuchSkill
from context.report import DroppedSource
from context.sources.skills import Skill
from foundation.privacy import TextSource, clear
from memory.hot import Note
from models.messages import Text

MEMORY = "MEMORY.md"
NEWEST = "(newest first; "  # how the line below a shortened MEMORY.md begins
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class MemorySection(Struct, frozen=True):
    """The head's part of MEMORY.md, the ids of its notes, and what did not fit."""

    text: str
    in_head: tuple[str, ...]
    dropped: DroppedSource | None = None


def skills_text(skills: Sequence[Skill]) -> str:
    """The index of skills, one a line, sorted by name."""
    lines = [f"- {skill.name}: {skill.description}" for skill in sorted(skills, key=lambda skill: skill.name)]
    return clear("\n".join(lines), TextSource.OTHER)


def memory_section(whole: str, notes: Sequence[Note], limit: int, counting: MessageCounter) -> MemorySection:
    """MEMORY.md; where it has more than `limit` tokens, its newest notes and the number of the others."""
    mine = [note for note in notes if note.path == MEMORY]
    text = clear(whole.strip(), TextSource.OTHER)
    tokens = counting.text(text)
    if tokens <= limit:
        return MemorySection(text, tuple(note.id for note in mine))
    lines = whole.split("\n")
    newest = sorted(mine, key=lambda note: (note.time or _EARLIEST, note.line_first), reverse=True)
    kept: list[Note] = []
    shown: list[str] = []
    for note in newest:
        more = clear("\n".join(lines[note.line_first - 1 : note.line_last]).strip(), TextSource.OTHER)
        if counting.text("\n\n".join([*shown, more, _others(len(mine) - len(kept) - 1)])) > limit:
            break
        kept.append(note)
        shown.append(more)
    section = "\n\n".join([*shown, _others(len(mine) - len(kept))]) if mine else ""
    if not kept:
        section, _ = fit_lines(text, limit, counting, "… more of MEMORY.md can be searched.")
    left = max(0, tokens - counting.text(section))
    missing = len(mine) - len(kept)
    name = f"{MEMORY}: {missing} older notes" if missing else f"{MEMORY}: its end"
    return MemorySection(
        section,
        tuple(note.id for note in kept),
        DroppedSource(name, left, "the share is full; they are found by search"),
    )


def _others(count: int) -> str:
    return f"{NEWEST}{count} older {'note' if count == 1 else 'notes'} can be searched)"


def skills_called(skills: Sequence[Skill], name: str, text: str) -> tuple[Skill, ...]:
    """The named skill, then those whose triggers are in the message. Raises NoSuchSkill."""
    called = [skill for skill in skills if skill.called_by(text)]
    if not name.strip():
        return tuple(called)
    wanted = name.strip().casefold()
    named = next((skill for skill in skills if skill.name.casefold() == wanted), None)
    if named is None:
        known = ", ".join(skill.name for skill in skills) or "none yet"
        raise NoSuchSkill("No such skill", f"There is no skill “{name}” in skills/.", f"The skills are: {known}.")
    return (named, *(skill for skill in called if skill.name != named.name))


def skill_piece(skill: Skill) -> MessagePiece:
    """A skill's body, for the tail."""
    return MessagePiece(
        Layer.PROJECT,
        f"skill {skill.name}",
        Text(clear(f"{skill.name}\n{skill.body}", TextSource.OTHER), injected="skill"),
    )


def changes_piece(lines: Sequence[str]) -> MessagePiece:
    """The changes of memory and skills since the epoch began."""
    opening = "Changed since the head was written. This is what holds now; what it replaces no longer does."
    text = "\n".join([opening, *lines])
    return MessagePiece(Layer.PROJECT, "changes", Text(clear(text, TextSource.OTHER), injected="changes"))
