"""Markdown of a conversation's current branch, with a heading per message."""

from collections.abc import Iterator

from agent.exporters.walk import ExportedEntry, OnTrouble, entries_of
from foundation.clock import iso
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind

NAMES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def markdown_pieces(memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None) -> Iterator[str]:
    """The conversation in pieces. The text of a message is not escaped."""
    yield f"# {' '.join(conversation.title.split()) or 'Untitled'}\n\n"
    yield f"<!-- {conversation.id} · begun {iso(conversation.created)} -->\n"
    if conversation.leaf is None:
        return
    branch = {entry.seq for entry in memory.conversations.path(conversation.leaf)}
    for exported in entries_of(memory, conversation, on_trouble):
        if exported.entry.seq in branch:
            yield _message(exported)


def _message(exported: ExportedEntry) -> str:
    entry = exported.entry
    end = "" if entry.complete else "\n*(cut off here)*\n"
    heading = f"\n## {_who(entry)} · {iso(entry.time)[:16].replace('T', ' ')}\n\n"
    if not exported.exact:
        heading += "*(approximate: what stands here is damaged, and not to the letter what was said)*\n\n"
    if entry.kind is EntryKind.TOOL_RESULT:
        return heading + _fenced(exported.text) + end
    attached = "".join(f"\n*Attached: {name}*\n" for name in entry.meta.get("attachments", []))
    return heading + exported.text.rstrip("\n") + "\n" + end + attached


def _who(entry: Entry) -> str:
    return " ".join((entry.speaker or NAMES[entry.role.value]).split())


def _fenced(text: str) -> str:
    """The text as a code block, with a fence longer than any within it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"
