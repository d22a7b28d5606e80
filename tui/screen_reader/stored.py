"""Stored entries as lines, when a conversation is taken up again."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from agent.services.tool_outcome import tool_outcome
from agent.services.turn_sentences import ending_line, failure_of
from foundation.terminal_text import visible_code_line
from memory.errors import Damaged
from memory.records import UNDOES, Entry, EntryKind
from models.messages import Role
from tui.screen_reader.markdown import LinearMarkdown
from tui.screen_reader.output import LineOutput

if TYPE_CHECKING:
    from agent.session import Session

SHOWN: Final = 20  # entries that are said when a conversation is taken up


def texts_of(session: "Session", entries: Sequence[Entry]) -> list[str]:
    """The text of each entry. Blocks: reads archived text from its pages."""
    return [_text(session, entry) for entry in entries]


def endings_of(session: "Session", entries: Sequence[Entry]) -> list[str]:
    """Why each answer is not whole; "" where it is. Blocks."""
    writer = session.memory.conversations.writer_of
    pairs = pairwise([*entries, None])
    return [ending_line(entry, after, writer(entry)) if entry and not entry.complete else "" for entry, after in pairs]


def say_entry(output: LineOutput, entry: Entry, text: str, ending: str = "") -> None:
    """Says an entry as it was said when it came; `ending` says why an answer is not whole."""
    match entry.kind, entry.role:
        case EntryKind.SUMMARY, _ if UNDOES in entry.meta:
            output.say("Receipt: compaction undone. The archived turns are back in the context.")
        case EntryKind.SUMMARY, _:
            opens = output.fold("Summary of older turns", lambda: text)
            output.say(f"Receipt: older turns were archived and replaced by a summary. {opens} reads it.")
        case EntryKind.MESSAGE, Role.USER:
            output.say(f"You: {text}")
        case EntryKind.MESSAGE, _ if text.strip():
            output.say("Answer:")
            markdown = LinearMarkdown(output.say, output.fold)
            markdown.feed(text)
            markdown.end()
            output.say(f"{_capitalised(ending)}." if ending else "End of answer.")
            _say_failure(output, entry)
        case EntryKind.MESSAGE, _ if not entry.complete:
            _say_failure(output, entry)
        case EntryKind.TOOL_RESULT, _:
            name, failed = str(entry.meta.get("name", "tool")), bool(entry.meta.get("failed"))
            summary = visible_code_line(str(entry.meta.get("summary", "")))
            outcome = tool_outcome(name, str(entry.meta.get("shown", "")) or text, entry.chars, failed=failed)
            title = f"Tool {name}, {summary}" if summary else f"Tool {name}"
            if outcome is not None:
                opens = output.fold(title, lambda: text)
                output.say(f"{title}: {outcome.sentence.rstrip('.')}. {opens} reads it.")
        case _:
            pass


def _say_failure(output: LineOutput, entry: Entry) -> None:
    if failure := failure_of(entry):
        output.say(" ".join(part.rstrip(".") + "." for part in failure if part))


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:].replace(" · ", ". ")


def _text(session: "Session", entry: Entry) -> str:
    try:
        return session.memory.passage(entry).text
    except Damaged as error:
        return f"[lost: {error.message}]"
