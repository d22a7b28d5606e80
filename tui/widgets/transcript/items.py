"""Items of a transcript; each renders its own lines for a width."""

from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible
from tui.widgets.transcript.markdown import block_lines
from tui.widgets.transcript.references import ReferenceLinks
from tui.widgets.transcript.splitter import MarkdownBlock, MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, indent, line_breaks, line_width, wrap_runs

GUTTER: Final = 2  # cells before each line, for the speaker's mark
USER_MARK: Final = "❯ "
ANSWER_MARK: Final = "◆ "
WELCOME_LABEL_CELLS: Final = 11
MAX_LINES: Final = 40  # of a message that is shown whole
MAX_CHARS: Final = 8_000
MAX_LINE: Final = 300  # characters shown of a line of a folded message
LINES_KEPT: Final = 3  # at the beginning, and at the end
TAGLINE: Final = "a chat and coding agent that remembers"
PROMISE: Final = ", on your own machine"
OFFLINE: Final = "offline: quotes what it remembers; /model connects a model"
HELP: Final = "F1 keys · Ctrl+P commands · /model · "
LINES_ABOVE: Final = 6  # shown above a match in what is folded
LINES_BELOW: Final = 14


class TranscriptItem(Protocol):
    """An item of the transcript."""

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        """Its lines, each at most `width` cells, the gutter included."""
        ...


class UserItem(Struct, frozen=True):
    """A message of the user. `note` is shown muted below it. The middle of a long text is folded.

    `entry` is its id in the store, "" before it is stored. `open_at`: an offset around which the middle is shown.
    """

    text: str
    note: str = ""
    entry: str = ""
    open_at: int | None = None

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        begin, folded, end = fold_middle(self.text)
        note = styles.user + Style(bold=False, italic=True)
        runs: list[StyledRun] = [(visible(begin), styles.user)]
        if folded and self.open_at is not None:
            shown = around(self.text, self.open_at)[0]
            runs += [("\n…\n", note), (visible(shown), styles.user), ("\n", styles.user)]
        if folded:
            runs += [(f"\n{folded}\n", note), (visible(end), styles.user)]
        rows = wrap_runs(runs, width - GUTTER, line_breaks)
        if self.note:
            rows += wrap_runs([(self.note, note)], width - GUTTER, line_breaks)
        marked = indent(rows, Segment(USER_MARK, styles.user), Segment(" " * GUTTER, styles.user))
        return [[], *([*row, Segment(" " * (width - line_width(row)), styles.user)] for row in marked)]


def fold_middle(text: str) -> tuple[str, str, str]:
    """Beginning and end of a long text, with what was folded between them; a short text, "" and ""."""
    lines = text.split("\n")
    if len(lines) <= MAX_LINES and len(text) <= MAX_CHARS:
        return text, "", ""
    if len(lines) <= MAX_LINES:
        begin, end = text[: MAX_CHARS // 2], text[-MAX_CHARS // 4 :]
        return f"{begin}…", f"… {len(text) - len(begin) - len(end):,} of {len(text):,} characters folded …", f"…{end}"
    begin, end = map("\n".join, (map(_clipped, lines[:LINES_KEPT]), map(_clipped, lines[-LINES_KEPT:])))
    return begin, f"… {len(lines) - 2 * LINES_KEPT:,} of {len(lines):,} lines folded …", end


def around(text: str, offset: int) -> tuple[str, int, range]:
    """The lines around an offset, where that is in them, and their numbers from 0. A long line is cut around it."""
    lines = text.split("\n")
    number = text.count("\n", 0, offset)
    first, last = max(number - LINES_ABOVE, 0), min(number + LINES_BELOW + 1, len(lines))
    column = offset - (text.rfind("\n", 0, offset) + 1)
    cut = max(column - MAX_LINE // 2, 0)
    above = [*map(_clipped, lines[first:number])]
    line = f"{'…' * (cut > 0)}{_clipped(lines[number][cut:])}"
    shown = "\n".join([*above, line, *map(_clipped, lines[number + 1 : last])])
    return shown, sum(len(part) + 1 for part in above) + column - cut + (cut > 0), range(first, last)


def _clipped(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"


class AnswerBlock(Struct, frozen=True):
    """A block of an answer, or of what a command gave. The first one of an answer carries the answer's mark."""

    block: MarkdownBlock
    first: bool = False
    of_command: bool = False

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        rows = block_lines(self.block, width - GUTTER, styles)
        mark = Segment(ANSWER_MARK if self.first else " " * GUTTER, styles.muted)
        marked = indent(rows, mark, Segment(" " * GUTTER, styles.text))
        return [[], *marked] if self.first else marked


class MutedLine(Struct, frozen=True):
    """A muted line: a receipt, a citation, a notice. `tone` is a field of TranscriptStyles.

    Wrapped lines are indented by the width of `prefix`, which stands before the text. `is_preview`: a block that is
    open shows it as part of the whole.
    """

    text: str
    tone: str = "muted"
    gap: bool = False
    prefix: str = ""
    is_preview: bool = False

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        style, hang = getattr(styles, self.tone), cell_len(self.prefix)
        rows = wrap_runs([(visible(self.text), style)], width - GUTTER - hang, line_breaks)
        if hang:
            rows = indent(rows, Segment(visible(self.prefix), style), Segment(" " * hang, styles.text))
        space = Segment(" " * GUTTER, styles.text)
        rows = indent(rows, space, space)
        return [[], *rows] if self.gap else rows


def notice_line(level: str, text: str) -> MutedLine:
    """A notice of the level info, warning or error as a muted line."""
    return MutedLine(text, tone={"error": "error", "warning": "warning"}.get(level, "muted"))


class ErrorItem(Struct, frozen=True):
    """An error: title, message and hint."""

    title: str
    message: str
    hint: str = ""

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        runs = [(visible(self.title), styles.error), ("\n" + visible(self.message), styles.text)]
        if self.hint:
            runs.append(("\n" + visible(self.hint), styles.muted))
        bar = Segment("▌ ", styles.error)
        return [[], *indent(wrap_runs(runs, width - GUTTER, line_breaks), bar, bar)]


class Welcome(Struct, frozen=True):
    """Welcome text of an empty transcript: six lines. `first`: for a new workspace. "" is not shown.

    `project` are the folders where tools work, `mode` is what they may do.
    """

    workspace: str
    model: str
    project: str = ""
    mode: str = ""
    first: bool = False

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        room = width - GUTTER
        rows: list[StyledLine] = [
            [],
            [
                Segment("Palimpsest", styles.heading),
                Segment(f"  {TAGLINE}{PROMISE if self.first else ''}"[: max(room - 10, 0)], styles.muted),
            ],
            [],
        ]
        rows += _labelled("workspace", self.workspace, room, styles)
        if self.project:
            rows += _labelled("project", self.project, room, styles)
        rows += _labelled("model", OFFLINE if self.model == "offline" else self.model, room, styles)
        if self.mode:
            rows += _labelled("mode", f"{self.mode}; Shift+Tab changes what tools may do", room, styles)
        earlier = "/import other chats" if self.first else "/resume a conversation"
        rows += _labelled("help", f"{HELP}{earlier}", room, styles)
        space = Segment(" " * GUTTER, styles.text)
        return indent(rows, space, space)


def _labelled(name: str, value: str, room: int, styles: TranscriptStyles) -> list[StyledLine]:
    runs: list[StyledRun] = [(visible(value), styles.text)]
    lines = wrap_runs(runs, max(room - WELCOME_LABEL_CELLS, 10), line_breaks)
    label = Segment(name + " " * (WELCOME_LABEL_CELLS - cell_len(name)), styles.muted)
    return indent(lines, label, Segment(" " * WELCOME_LABEL_CELLS, styles.text))


class AnswerStream:
    """Splits a streaming answer into items: those that are finished, and the one that is still open."""

    def __init__(self, *, marked: bool = True) -> None:
        """`marked`: the first item carries the answer's mark."""
        self._splitter = MarkdownSplitter()
        self._links = ReferenceLinks()
        self._pending: list[str] = []
        self._marked = marked
        self._finished: list[AnswerBlock] = []
        self._changed: list[tuple[TranscriptItem, TranscriptItem]] = []

    def feed(self, text: str) -> None:
        self._pending.append(text)

    @property
    def has_pending(self) -> bool:
        """Whether there is text that `advance` has not processed."""
        return bool(self._pending)

    def advance(self) -> tuple[list[TranscriptItem], list[TranscriptItem]]:
        """The items finished since the last call, and those still open."""
        finished = self._finish(self._splitter.feed(self._take_pending()))
        open_blocks = [self._links.linked(block) for block in self._splitter.open_blocks()]
        return finished, [*self._items_of(open_blocks)]

    def close(self) -> list[TranscriptItem]:
        """The last items."""
        return self._finish([*self._splitter.feed(self._take_pending()), *self._splitter.close()])

    def take_changed(self) -> list[tuple[TranscriptItem, TranscriptItem]]:
        """Finished items that later text changed, each with what is shown in its place: a link got its URL."""
        changed, self._changed = self._changed, []
        return changed

    def _take_pending(self) -> str:
        text = "".join(self._pending)
        self._pending.clear()
        return text

    def _finish(self, blocks: list[MarkdownBlock]) -> list[TranscriptItem]:
        linked, changed = self._links.add(blocks)
        for number, block in changed.items():
            before, self._finished[number] = self._finished[number], replace(self._finished[number], block=block)
            self._changed.append((before, self._finished[number]))
        items = self._items_of(linked)
        self._finished += items
        return [*items]

    def _items_of(self, blocks: list[MarkdownBlock]) -> "list[AnswerBlock]":
        first = self._marked and not self._finished
        return [AnswerBlock(block, first=first and not number) for number, block in enumerate(blocks)]


def markdown_items(text: str, *, of_command: bool = False) -> list[TranscriptItem]:
    """A complete Markdown text as items: an answer, or what a command gave."""
    stream = AnswerStream(marked=not of_command)
    stream.feed(text)
    return [replace(item, of_command=of_command) for item in stream.close() if isinstance(item, AnswerBlock)]


def estimate_height(item: TranscriptItem, width: int) -> int:
    """Approximate lines of the item, for the scrollbar until it is rendered."""
    match item:
        case AnswerBlock(block=block):
            text = block.source
        case UserItem(text=text):
            text = "\n".join(fold_middle(text))
        case MutedLine(text=text):
            pass
        case _ if item_text := getattr(item, "text", ""):
            text = item_text
        case _:
            return 1
    return 1 + text.count("\n") + len(text) // max(width, 1)
