"""`/find WORDS`: the entries of the open conversation in which a text occurs, newest first, each in a line."""

from typing import TYPE_CHECKING, Final

from agent.services.find import BranchFinder
from foundation.figures import counted
from foundation.terminal_text import visible_line
from foundation.text.find import TextFinder
from memory.records import Conversation, Entry
from models.messages import Role
from tui.screen_reader.output import LineOutput
from tui.screen_reader.stored import texts_of

if TYPE_CHECKING:
    from agent.session import Session

MOST_FOUND: Final = 20  # entries that are said
_AROUND: Final = 60  # characters before and after an occurrence


def find_lines(session: "Session", conversation: Conversation, output: LineOutput, query: str) -> list[str]:
    """The lines. Blocks. The conversation is as it is stored now: its leaf is the newest entry."""
    if conversation.leaf is None:
        return ["The conversation has no messages yet."]
    finder = TextFinder(query)
    batches = BranchFinder(session.memory, conversation.leaf).hits(finder)
    hits = [hit for _, batch in batches for hit in batch]
    entries = [session.memory.conversations.entry(seq) for seq, _ in hits[:MOST_FOUND]]
    lines = [
        _line(output, finder, entry, text, count)
        for entry, text, (_, count) in zip(entries, texts_of(session, entries), hits, strict=False)
    ]
    newest = f", the newest {MOST_FOUND}" if len(hits) > MOST_FOUND else ""
    return [f"Matches in {counted(len(hits), 'text')}{newest}{':' if hits else '.'}", *lines]


def _line(output: LineOutput, finder: TextFinder, entry: Entry, text: str, count: int) -> str:
    who = "You" if entry.role is Role.USER else "Answer" if entry.role is Role.ASSISTANT else "Tool"
    start = next((start for start, _ in finder.spans(text)), 0)
    excerpt = visible_line(text[max(0, start - _AROUND) : start + _AROUND]).rstrip(".")
    when = f"{entry.time.astimezone():%d %B %H:%M}"
    opens = output.fold(f"{who}, {when}", lambda: text)
    return f"{who}, {when}, {counted(count, 'time')}: {excerpt}. {opens} reads it."
