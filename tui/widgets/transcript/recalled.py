"""Lines of the passages that were recalled for a message; each opens its passage."""

from msgspec import Struct

from models.messages import RecalledSpan
from tui.widgets.transcript.items import MutedLine
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine


class RecalledLine(Struct, frozen=True):
    """A line with a passage's citation and trust."""

    line: MutedLine
    span: RecalledSpan

    @property
    def text(self) -> str:
        return self.line.text

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        return self.line.lines(width, styles)


class RecalledLines(Struct, frozen=True):
    """A line that counts further passages; opening it shows them in its place."""

    line: MutedLine
    others: tuple[RecalledLine, ...]

    @property
    def text(self) -> str:
        return self.line.text

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        return self.line.lines(width, styles)
