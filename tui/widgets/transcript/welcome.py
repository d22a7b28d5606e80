"""Welcome text of an empty transcript: workspace, model and help."""

from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment

from foundation.terminal_text import visible
from tui.widgets.transcript.items import GUTTER
from tui.widgets.transcript.segments import StyledLine, StyledRun, cut, indented
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import breaks

PROMISES: Final = (
    "What you say is kept here, in files of your own, on your own machine.",
    "It comes back when it matters, with its date and its place: /recall.",
    "MEMORY.md is plain Markdown, yours to edit; /context shows each request.",
)
OFFLINE: Final = "offline: it quotes what it remembers, without a language model"


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
        rows += _named("workspace", self.workspace, room, look)
        rows += _named("model", OFFLINE if self.model == "offline" else self.model, room, look)
        rows += _named("help", "/help lists the commands, /resume continues an earlier conversation", room, look)
        space = Segment(" " * GUTTER, look.text)
        return indented(rows, space, space)


def _named(name: str, value: str, room: int, look: TranscriptStyles) -> list[StyledLine]:
    column = 11
    runs: list[StyledRun] = [(visible(value), look.text)]
    lines = cut(runs, max(room - column, 10), breaks)
    label = Segment(name + " " * (column - cell_len(name)), look.muted)
    return indented(lines, label, Segment(" " * column, look.text))
