"""Items of a transcript; each renders its own lines for a width."""

from typing import Final, Protocol

from msgspec import Struct
from rich.segment import Segment

from foundation.terminal_text import visible
from tui.widgets.transcript.render import block_lines
from tui.widgets.transcript.segments import StyledLine, cut, indented
from tui.widgets.transcript.splitter import MarkdownBlock, MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import breaks

GUTTER: Final = 2
ASKED: Final = "❯ "
ANSWERED: Final = "◆ "


class TranscriptItem(Protocol):
    """Something that stands in the transcript."""

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        """Its lines, each at most `width` cells, the gutter included."""
        ...


class UserItem(Struct, frozen=True):
    """What the person said, as they wrote it. `note` stands muted below: attachments, that it waits."""

    text: str
    note: str = ""

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        rows = cut([(visible(self.text), look.asked)], width - GUTTER, breaks)
        if self.note:
            rows += cut([(self.note, look.muted)], width - GUTTER, breaks)
        return [[], *indented(rows, Segment(ASKED, look.accent), Segment(" " * GUTTER, look.text))]


class AnswerBlock(Struct, frozen=True):
    """A block of an answer. The first of an answer carries the mark."""

    block: MarkdownBlock
    first: bool = False

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        rows = block_lines(self.block, width - GUTTER, look)
        mark = Segment(ANSWERED if self.first else " " * GUTTER, look.muted)
        marked = indented(rows, mark, Segment(" " * GUTTER, look.text))
        return [[], *marked] if self.first else marked


class MutedLine(Struct, frozen=True):
    """A muted line: a receipt, a citation, a notice. `tone` is a style of TranscriptStyles."""

    text: str
    tone: str = "muted"
    gap: bool = False

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        rows = cut([(visible(self.text), getattr(look, self.tone))], width - GUTTER, breaks)
        space = Segment(" " * GUTTER, look.text)
        rows = indented(rows, space, space)
        return [[], *rows] if self.gap else rows


def notice_line(level: str, text: str) -> MutedLine:
    """A notice of the level info, warning or error as a quiet line."""
    return MutedLine(text, tone={"error": "error", "warning": "warning"}.get(level, "muted"))


class ErrorItem(Struct, frozen=True):
    """An error: what, where, what to do about it."""

    title: str
    message: str
    hint: str = ""

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        runs = [(visible(self.title), look.error), ("\n" + visible(self.message), look.text)]
        if self.hint:
            runs.append(("\n" + visible(self.hint), look.muted))
        bar = Segment("▌ ", look.error)
        return [[], *indented(cut(runs, width - GUTTER, breaks), bar, bar)]


def passages(text: str, *, marked: bool = True) -> list[TranscriptItem]:
    """A whole Markdown text as pieces."""
    splitter = MarkdownSplitter()
    blocks = [*splitter.feed(text), *splitter.close()]
    return [AnswerBlock(block, first=marked and number == 0) for number, block in enumerate(blocks)]


def guessed_height(piece: TranscriptItem, width: int) -> int:
    """About how many lines the piece takes, for a scrollbar that stands before they are made."""
    match piece:
        case AnswerBlock(block=block):
            text = block.source
        case UserItem(text=text) | MutedLine(text=text):
            pass
        case _ if words := getattr(piece, "text", ""):
            text = words
        case _:
            return 1
    return 1 + text.count("\n") + len(text) // max(width, 1)
