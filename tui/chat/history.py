"""Turns stored entries into the items of a transcript."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.turn_sentences import EMPTY_ANSWER, ending_line, failure_of
from agent.turn.store import VERSIONS
from context.compaction.compact import stored_receipt
from memory.errors import Damaged
from memory.pages.types import EntryText
from memory.records import UNDOES, AnswerOwner, Entry, EntryKind
from models.messages import Image, RecalledSpan, Role, ToolCall
from tui.chat.blocks import (
    DIFF,
    StoredTexts,
    attachment_blocks,
    call_block,
    excerpt_lines,
    pasted_blocks,
    recalled_items,
    receipt_block,
    stored_reasoning,
    with_short_diff,
    without_pastes,
)
from tui.chat.tool_result import interrupted_lines, stored_lines
from tui.chat.version_block import stored_version_blocks
from tui.widgets.transcript.items import ErrorItem, MutedLine, TranscriptItem, UserItem, markdown_items

if TYPE_CHECKING:
    from memory.records import Entry

OFFLINE: Final = "offline"  # the speaker of answers that quote what was recalled
MAX_HITS: Final = 40  # search hits read for a list of conversations; several may be of one conversation

Pictures = Callable[[Sequence[Image]], list[TranscriptItem]]
"""Gives the previews of a message's pictures."""


class EntryReader(Struct, frozen=True):
    """What turns stored entries into items. `texts` are behind the blocks; `interrupted` gives the calls of an answer
    that have no result; `writer_of` says who is writing an answer."""

    passage: Callable[[Entry], EntryText]
    texts: StoredTexts
    pictures: Pictures = lambda _: []
    interrupted: Callable[[Entry], Sequence[ToolCall]] = lambda _: ()
    writer_of: Callable[[Entry], AnswerOwner] = lambda _: AnswerOwner.NONE


def items_of(entries: Sequence[Entry], reader: EntryReader, following: Entry | None = None) -> list[TranscriptItem]:
    """The transcript items of the entries, oldest first; `following` is the entry after them.

    Blocks: reads archived text from its pages.
    """
    items: list[TranscriptItem] = []
    for entry, after in pairwise([*entries, following]):
        assert entry is not None
        items += _entry_items(entry, reader, after)
        for call in reader.interrupted(entry):
            items.append(call_block(call.id, interrupted_lines(call), None))
    return items


def _entry_items(entry: Entry, reader: EntryReader, after: Entry | None) -> list[TranscriptItem]:
    find = reader.texts.by_seq(entry.seq)
    match entry.kind, entry.role:
        case EntryKind.SUMMARY, _:
            if UNDOES in entry.meta:
                return [MutedLine("compaction undone: the archived turns are back in the context", gap=True)]
            return [receipt_block(entry.id, stored_receipt(entry), reader.texts.whole(find))]
        case EntryKind.MESSAGE, Role.USER:
            images = [part for part in entry.sent if isinstance(part, Image)]
            text, pastes = without_pastes(entry, _text(entry, reader.passage))
            recalled = [part for part in entry.sent if isinstance(part, RecalledSpan)]
            quotes = after is not None and after.speaker == OFFLINE
            return [
                UserItem(text, entry=entry.id),
                *pasted_blocks(entry, pastes, reader.texts),
                *attachment_blocks(entry, reader.texts),
                *reader.pictures(images),
                *excerpt_lines(entry),
                *([] if quotes else recalled_items(recalled)),
            ]
        case EntryKind.MESSAGE, _:
            reasoning = stored_reasoning(entry, reader.texts)
            answer = [*reasoning, *markdown_items(_text(entry, reader.passage))]
            return [*answer, *_ending(entry, reader, after)]
        case ((EntryKind.TOOL_CALL | EntryKind.TOOL_RESULT), _):
            name, failed = str(entry.meta.get("name", "tool")), bool(entry.meta.get("failed"))
            shown, summary = str(entry.meta.get("shown", "")), str(entry.meta.get("summary", ""))
            shown = shown or _text(entry, reader.passage)  # archived, too: a piece of what is long is `shown`
            rows = stored_lines(name, summary, shown, entry.chars, failed=failed)
            key = str(entry.meta.get("call_id", "")) or entry.id
            block = call_block(key, rows, reader.texts.result(find))
            call = [with_short_diff(block, entry.meta.get(DIFF))] if rows else []
            return [*call, *stored_version_blocks(entry.meta.get(VERSIONS), reader.texts.memory)]
        case _:
            return []


def _ending(entry: Entry, reader: EntryReader, after: Entry | None) -> list[TranscriptItem]:
    """How a stored answer ended, where that was not its own end."""
    if failure := failure_of(entry):
        return [ErrorItem(*failure)]
    is_empty = not entry.chars and not entry.meta.get("tool_calls")
    ending = "" if entry.complete else ending_line(entry, after, reader.writer_of(entry))
    note = ending or (EMPTY_ANSWER if is_empty else "")
    return [MutedLine(note, gap=True)] if note else []


def _text(entry: Entry, passage: Callable[[Entry], EntryText]) -> str:
    """The entry's text; a placeholder for text on a damaged page."""
    try:
        return passage(entry).text
    except Damaged as error:
        return f"[lost: {error.message}]"
