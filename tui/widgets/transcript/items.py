"""Items of a transcript; each renders its own lines for a width."""

from typing import Final, Protocol

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment

from foundation.terminal_text import visible
from tui.widgets.transcript.markdown import block_lines
from tui.widgets.transcript.splitter import MarkdownBlock, MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, breaks, cut, indented

GUTTER: Final = 2
ASKED: Final = "❯ "
ANSWERED: Final = "◆ "
PROMISES: Final = (
    "What you say is kept here, in files of your own, on your own machine.",
    "It comes back when it matters, with its date and its place: /recall.",
    "MEMORY.md is plain Markdown, yours to edit; /context shows each request.",
)
OFFLINE: Final = "offline: it quotes what it remembers, without a language model"


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


class Welcome(Struct, frozen=True):
    """`first` is the long form, for a workspace made just now."""

    workspace: str
    model: str
    first: bool = False

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        room = width - GUTTER
        rows: list[StyledLine] = [
            [],
            [Segment("Palimpsest", look.heading), Segment("  a chat that remembers", look.muted)],
        ]
        if self.first:
            rows.append([])
            for promise in PROMISES:
                rows += cut([(promise, look.text)], room, breaks)
        rows.append([])
        rows += _labelled("workspace", self.workspace, room, look)
        rows += _labelled("model", OFFLINE if self.model == "offline" else self.model, room, look)
        rows += _labelled("help", "/help lists the commands, /resume continues an earlier conversation", room, look)
        space = Segment(" " * GUTTER, look.text)
        return indented(rows, space, space)


def _labelled(name: str, value: str, room: int, look: TranscriptStyles) -> list[StyledLine]:
    column = 11
    runs: list[StyledRun] = [(visible(value), look.text)]
    lines = cut(runs, max(room - column, 10), breaks)
    label = Segment(name + " " * (column - cell_len(name)), look.muted)
    return indented(lines, label, Segment(" " * column, look.text))


class AnswerStream:
    """Takes text in, gives pieces out. The first piece of the answer carries its mark."""

    def __init__(self, *, marked: bool = True) -> None:
        self._splitter = MarkdownSplitter()
        self._waiting: list[str] = []
        self._marked = marked

    def feed(self, text: str) -> None:
        self._waiting.append(text)

    @property
    def waits(self) -> bool:
        """Whether there is text that `advance` has not seen."""
        return bool(self._waiting)

    def advance(self) -> tuple[list[TranscriptItem], list[TranscriptItem]]:
        """The pieces finished since the last call, and those still open."""
        done = self._passages(self._splitter.feed(self._taken()))
        marked = self._marked
        open_now = self._passages(self._splitter.tail())
        self._marked = marked
        return done, open_now

    def close(self) -> list[TranscriptItem]:
        """The last pieces."""
        return self._passages([*self._splitter.feed(self._taken()), *self._splitter.close()])

    def _taken(self) -> str:
        text = "".join(self._waiting)
        self._waiting.clear()
        return text

    def _passages(self, blocks: list[MarkdownBlock]) -> list[TranscriptItem]:
        pieces: list[TranscriptItem] = []
        for block in blocks:
            pieces.append(AnswerBlock(block, first=self._marked))
            self._marked = False
        return pieces


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
