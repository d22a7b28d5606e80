"""What a report calls by its address, in a person's words."""

from typing import TYPE_CHECKING, Final

from foundation.clock import iso
from memory.errors import MemoryTrouble
from tui.widgets.status import clipped

if TYPE_CHECKING:
    from context.report import Report
    from memory.memory import Memory

RECALLED: Final = "recalled "
TITLE: Final = 30  # cells of a title


def names_of(report: "Report", memory: "Memory") -> dict[str, str]:
    """`recalled e_4kx7…` as `recalled “House”, 2026-03-14`, for each source where the store knows it. Blocks."""
    named = {source.name for layer in report.layers for source in (*layer.sources, *layer.dropped)}
    found = {name: _passage(memory, name.removeprefix(RECALLED)) for name in named if name.startswith(RECALLED)}
    return {name: RECALLED + words for name, words in found.items() if words}


def _passage(memory: "Memory", ref: str) -> str:
    try:
        entry = memory.cold.find(ref)
        title = memory.cold.conversation_at(entry.conversation_seq).title
    except MemoryTrouble:  # a note, a page, a file: its own name says what it is
        return ""
    return f"“{clipped(title or 'untitled', TITLE)}”, {iso(entry.time)[:10]}"
