"""Conversations by their text, and readable names for the sources of a context report."""

from typing import TYPE_CHECKING, Final

from foundation.clock import iso
from memory.errors import MemoryFailure, NotFound
from memory.records import Conversation
from memory.search import Query
from tui.dialogs.choices import ChoiceItem
from tui.widgets.status import clip

if TYPE_CHECKING:
    from context.report import ContextReport
    from memory.memory import Memory


MAX_HITS: Final = 40  # looked at; several may stand in one conversation


def find_conversations(memory: "Memory", text: str) -> list[ChoiceItem]:
    """The conversations that contain the text, best first, each with a passage. Blocks."""
    choices: dict[str, ChoiceItem] = {}
    for hit in memory.search.query(Query(text=text, limit=MAX_HITS)).hits:
        if hit.entry is None or hit.conversation in choices:
            continue
        conversation = _conversation(memory, hit.entry)
        if conversation is not None and conversation.kind == "chat":
            day = iso(conversation.updated)[:10]
            label = conversation.title or "(untitled)"
            choices[hit.conversation] = ChoiceItem(conversation.id, label, f"{day} · {hit.snippet}")
    return list(choices.values())


def _conversation(memory: "Memory", entry: int) -> Conversation | None:
    try:
        return memory.conversations.at(memory.conversations.entry(entry).conversation_seq)
    except NotFound:  # deleted since it was indexed
        return None


RECALLED: Final = "recalled "
TITLE_CELLS: Final = 30  # cells of a title


def source_labels(report: "ContextReport", memory: "Memory") -> dict[str, str]:
    """Labels of recalled entries: `recalled “House”, 2026-03-14` for `recalled e_4kx7…`. Blocks."""
    sources = {source.name for layer in report.layers for source in (*layer.sources, *layer.dropped)}
    labels = {name: _entry_label(memory, name.removeprefix(RECALLED)) for name in sources if name.startswith(RECALLED)}
    return {name: RECALLED + label for name, label in labels.items() if label}


def _entry_label(memory: "Memory", ref: str) -> str:
    try:
        entry = memory.conversations.find_entry(ref)
        title = memory.conversations.at(entry.conversation_seq).title
    except MemoryFailure:  # a note, a page, a file: its own name says what it is
        return ""
    return f"“{clip(title or 'untitled', TITLE_CELLS)}”, {iso(entry.time)[:10]}"
