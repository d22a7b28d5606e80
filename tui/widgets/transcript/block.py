"""Blocks: items of the transcript that open to the text behind them, such as a tool call and its output."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from rich.segment import Segment

from tui.widgets.transcript.code import code_lines
from tui.widgets.transcript.diff_code import diff_lines
from tui.widgets.transcript.items import GUTTER, MutedLine, TranscriptItem
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, indent

CLOSED_MARK: Final = "▸ "
OPEN_MARK: Final = "▾ "
MAX_LINES: Final = 60  # shown of an open block
MAX_LINE_CHARS: Final = 1_000  # shown of a line
MAX_END_LINES: Final = 20  # shown of a text whose end says most
FEW: Final = 6  # of the lines shown: a sixth as many more are shown, too, before any are left out
MAX_GROWING_LINES: Final = 12  # shown of a text that still grows
INDENT: Final = 2


class BlockText(Struct, frozen=True):
    """The whole text behind a block. `language` colours it: `diff`, `markdown`, or "" for plain text."""

    text: str
    language: str = ""


ReadBlock = Callable[[], BlockText]
"""Reads the text behind a block. Blocks on the store; raises PalimpsestError where it is gone or damaged."""


class BlockExcerpt(Struct, frozen=True):
    """What an open block shows. `note` says what it leaves out, or why there is no text."""

    text: str
    language: str = ""
    note: str = ""

    @classmethod
    def of(cls, whole: BlockText) -> "BlockExcerpt":
        """The first MAX_LINES lines of the text, and the others where they are few."""
        lines = whole.text.strip("\n").split("\n")
        hidden = _hidden(lines, MAX_LINES)
        shown = lines[: len(lines) - hidden]
        if not whole.text.strip():
            return cls("", note="no text")
        is_cut = any(len(line) > MAX_LINE_CHARS for line in shown)
        more = f"{hidden:,} more line{'s' if hidden > 1 else ''}" if hidden else "longer lines" if is_cut else ""
        return cls(_clipped(shown), whole.language, f"… {more}: e shows all" if more else "")

    @classmethod
    def end_of(cls, whole: BlockText) -> "BlockExcerpt":
        """The last lines of a text whose end says most, as a command's output."""
        lines = whole.text.strip("\n").split("\n")
        hidden = _hidden(lines, MAX_END_LINES)
        shown = lines[hidden:]
        if not whole.text.strip():
            return cls("", note="no text")
        more = f"{hidden:,} line{'s' if hidden > 1 else ''} above: e shows all" if hidden else ""
        return cls(_clipped(shown), whole.language, more)

    @classmethod
    def last_of(cls, whole: BlockText) -> "BlockExcerpt":
        """The last lines of a text that still grows."""
        text = whole.text.strip("\n")
        return cls(_clipped(text.split("\n")[-MAX_GROWING_LINES:]), whole.language, "" if text else "nothing yet")


def _hidden(lines: Sequence[str], most: int) -> int:
    """How many lines are left out; few are not."""
    return len(lines) - most if len(lines) > most + most // FEW else 0


def _clipped(lines: Sequence[str]) -> str:
    return "\n".join(line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…" for line in lines)


class Block(Struct, frozen=True, kw_only=True):
    """An item that opens. `rows` are its lines while it is closed; the first one carries the mark.

    `key` stays the same while the item changes, and after the conversation is resumed. `read` is None where there is
    nothing to open; `shown` is None while it is closed.
    """

    key: str
    rows: tuple[MutedLine, ...]
    title: str = ""  # of the pager, without the mark
    read: ReadBlock | None = None
    shown: BlockExcerpt | None = None

    @property
    def text(self) -> str:
        """The rows as text."""
        return "\n".join(row.text for row in self.rows)

    @property
    def name(self) -> str:
        """The title, or the first row."""
        return self.title or self.rows[0].text

    @property
    def is_open(self) -> bool:
        return self.shown is not None

    def opened(self, excerpt: BlockExcerpt) -> "Block":
        return replace(self, shown=excerpt)

    def closed(self) -> "Block":
        return replace(self, shown=None)

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        first, *others = self.rows
        head = replace(first, prefix=OPEN_MARK) if self.shown and first.prefix == CLOSED_MARK else first
        rows = head.lines(width, styles)
        is_shown_whole = self.shown is not None and bool(self.shown.text)
        for other in (row for row in others if not (row.is_preview and is_shown_whole)):
            rows += other.lines(width, styles)
        return rows + _excerpt_lines(self.shown, width, styles) if self.shown else rows


def find_block(items: Sequence[TranscriptItem], key: str) -> Block | None:
    """The newest block with this key."""
    return next((item for item in reversed(items) if isinstance(item, Block) and item.key == key), None)


def _excerpt_lines(excerpt: BlockExcerpt, width: int, styles: TranscriptStyles) -> list[StyledLine]:
    margin = GUTTER + INDENT
    rows: list[StyledLine] = []
    if excerpt.text:
        room = max(width - margin, 10)
        if excerpt.language == "diff":
            body = diff_lines(excerpt.text, room, styles)
        else:
            body = code_lines(excerpt.text, excerpt.language or "text", room, styles, labelled=False)
        space = Segment(" " * margin, styles.text)
        rows += indent(body, space, space)
    if excerpt.note:
        rows += MutedLine(excerpt.note, prefix=" " * INDENT).lines(width, styles)
    return rows
