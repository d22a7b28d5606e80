"""Where a match is in the items of the transcript, and the item opened so that it is visible."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.errors import PalimpsestError
from foundation.text.find import TextFinder
from tui.widgets.transcript.block import MAX_LINE_CHARS, MAX_LINES, Block, BlockExcerpt, BlockText
from tui.widgets.transcript.items import AnswerBlock, TranscriptItem, UserItem, around, fold_middle

CALL: Final = "call:"


class FoundMatch(Struct, frozen=True):
    """A match in an item of the transcript. `shown` is the item with the match visible; `number` is that of the match
    among those in its lines; `inside` names what it was folded in, "" where it was not.
    """

    item: TranscriptItem
    shown: TranscriptItem
    number: int
    inside: str = ""


def find_match(items: Sequence[TranscriptItem], finder: TextFinder, number: int) -> FoundMatch | None:
    """The match of this number in the texts of these items; the last one where there are fewer. Blocks."""
    found: FoundMatch | None = None
    for item in items:
        head, text = _texts(item)
        in_head, spans = finder.count(head), finder.spans(text)
        count = in_head + len(spans)
        if count:
            found = _match(item, finder, min(number, count - 1), in_head, text)
        if number < count:
            break
        number -= count
    return found


def count_in(item: TranscriptItem, finder: TextFinder) -> int:
    """How many matches the texts of an item have. Blocks."""
    return sum(map(finder.count, _texts(item)))


def _texts(item: TranscriptItem) -> tuple[str, str]:
    """The line of a tool call, and the whole text of an item, folded or not."""
    match item:
        case UserItem(text=text):
            return "", text
        case AnswerBlock(block=block):
            return "", f"{block.header}\n{block.source}" if block.header and block.opens else block.source
        case Block(key=key, rows=rows):
            whole = _whole(item)
            return rows[0].text if key.startswith(CALL) else "", whole.text if whole else ""
        case _:
            return "", ""


def _whole(block: Block) -> BlockText | None:
    try:
        return block.read() if block.read else None
    except PalimpsestError:
        return None


def _match(item: TranscriptItem, finder: TextFinder, number: int, in_head: int, text: str) -> FoundMatch:
    if number < in_head:
        return FoundMatch(item, item, number)
    offset = finder.spans(text)[number - in_head][0]
    match item:
        case UserItem():
            begin, folded, end = fold_middle(text)
            if not folded or offset < len(begin) or offset >= len(text) - len(end):
                hidden = finder.count(text) - finder.count(begin) - finder.count(end) if folded else 0
                folded_item = item if item.open_at is None else replace(item, open_at=None)
                return FoundMatch(item, folded_item, number - hidden * (offset >= len(begin)))
            shown, place, _ = around(text, offset)
            before = finder.count(begin) + sum(start < place for start, _ in finder.spans(shown))
            return FoundMatch(item, replace(item, open_at=offset), before, "your message")
        case Block():
            excerpt, place = _excerpt(text, _language(item), offset)
            before = sum(finder.count(row.text) for row in item.rows)
            before += sum(start < place for start, _ in finder.spans(excerpt.text))
            return FoundMatch(item, item.opened(excerpt), before, item.name)
        case _:
            return FoundMatch(item, item, number)


def _language(block: Block) -> str:
    whole = _whole(block)
    return whole.language if whole else ""


def _excerpt(text: str, language: str, offset: int) -> tuple[BlockExcerpt, int]:
    """The excerpt with this offset in it, and where that is in it."""
    whole = BlockExcerpt.of(BlockText(text, language))
    skipped = len(text) - len(text.lstrip("\n"))
    end = offset - (text.rfind("\n", 0, offset) + 1)
    if text.count("\n", skipped, offset) < MAX_LINES and end < MAX_LINE_CHARS // 2:
        return whole, offset - skipped
    shown, place, lines = around(text, offset)
    note = f"lines {lines.start + 1:,} to {lines.stop:,} of {text.count(chr(10)) + 1:,}: e shows all"
    return BlockExcerpt(shown, language, note), place
