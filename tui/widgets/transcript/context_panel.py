"""Panel of the next request, layer by layer, with bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent.commands.tables import savings_sentences
from foundation.clock import iso
from foundation.terminal_text import visible
from memory.errors import MemoryFailure
from memory.records import Entry
from tui.widgets.status import clip
from tui.widgets.transcript.items import GUTTER
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, breaks, cut, indented

if TYPE_CHECKING:  # its room is loaded when a request is made
    from context.report import ContextReport, LayerReport
    from memory.memory import Memory

NAME: Final = 14
FIGURES: Final = 14
NO_BREAK: Final = "\u00a0"
EIGHTHS: Final = " ▏▎▍▌▋▊▉"
RECALLED: Final = "recalled "  # the prefix of a recalled source's name
TITLE_CELLS: Final = 30  # cells of a conversation's title


class ContextPanel(Struct, frozen=True):
    """A report, drawn. `names` says a source in a person's words, where its own name is an address."""

    report: "ContextReport"
    names: dict[str, str] = {}

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        report = self.report
        room = width - GUTTER
        head = f"{report.total_tokens:,} of {report.budget:,} tokens, {100 * report.filled:.1f} %"
        about = f"{visible(report.model)} · window {report.window:,}, {report.reserve:,} kept for the answer"
        rows: list[StyledLine] = [[Segment("Context  ", look.heading), Segment(head, look.text)]]
        rows += cut([(about, look.muted)], room, breaks)
        for layer in report.layers:
            rows += [[], *_layer(layer, self.names, room, look)]
        for sentence in savings_sentences(report):
            rows += [[], *cut([(sentence, look.text)], room, breaks)]
        if (stable := report.prefix_stability) is not None:
            told = (
                f"{report.unchanged_prefix_tokens:,} of the {report.previous_tokens:,} tokens sent before stand "
                f"unchanged at its head ({100 * stable:.1f} %)"
            )
            rows += [[], *cut([(told, look.muted)], room, breaks)]
        space = Segment(" " * GUTTER, look.text)
        return [[], *indented(rows, space, space)]


def _layer(layer: "LayerReport", names: Mapping[str, str], room: int, look: TranscriptStyles) -> list[StyledLine]:
    figures = f"{layer.tokens:,}/{layer.budget:,}".rjust(FIGURES)
    wide = max(min(room - NAME - FIGURES - 1, 40), 4)
    filled = bar(layer.tokens / layer.budget if layer.budget else 0, wide)
    lines: list[StyledLine] = [
        [
            Segment(_name(layer.name, {}).ljust(NAME), look.text + look.strong),
            Segment(filled, look.accent + Style(bgcolor=look.panel.bgcolor)),
            Segment(" " * (wide - cell_len(filled)), look.panel),
            Segment(f" {figures}", look.text),
        ]
    ]
    space = Segment(" " * NAME, look.text)
    named = [
        f"{_name(source.name, names)} {source.tokens:,}".replace(" ", NO_BREAK)
        for source in layer.sources
        if source.tokens
    ]
    lines += _told(named, "muted", space, room, look)
    left_out = [f"left out: {_name(one.name, names)}, {one.tokens:,} tokens, {one.why}" for one in layer.dropped]
    return lines + _told(left_out, "warning", space, room, look)


def _name(name: str, names: Mapping[str, str]) -> str:
    return visible(names.get(name, name)).replace("\n", " ")


def _told(parts: Sequence[str], tone: str, space: Segment, room: int, look: TranscriptStyles) -> list[StyledLine]:
    if not parts:
        return []
    return indented(cut([(" · ".join(parts), getattr(look, tone))], room - NAME, breaks), space, space)


def bar(share: float, width: int) -> str:
    """A bar of at most `width` cells; a share above 1 fills it."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    whole, rest = divmod(eighths, 8)
    if not eighths and share > 0:
        return EIGHTHS[1]
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def source_labels(report: "ContextReport", memory: "Memory") -> dict[str, str]:
    """Labels of recalled entries: `recalled “House”, 2026-03-14` for `recalled e_4kx7…`. Blocks."""
    sources = {source.name for layer in report.layers for source in (*layer.sources, *layer.dropped)}
    labels = {name: _entry_label(memory, name.removeprefix(RECALLED)) for name in sources if name.startswith(RECALLED)}
    return {name: RECALLED + label for name, label in labels.items() if label}


def _entry_label(memory: "Memory", reference: str) -> str:
    """The conversation's title and the entry's day; "" where the reference is not to one entry."""
    try:
        match memory.references.find(reference):
            case (Entry() as entry,):
                title = memory.conversations.at(entry.conversation_seq).title
            case _:
                return ""
    except MemoryFailure:  # deleted, or damaged: its own name says what it is
        return ""
    return f"“{clip(title or 'untitled', TITLE_CELLS)}”, {iso(entry.time)[:10]}"
