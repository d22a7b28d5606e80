"""Panel of the context of the next request: a bar and the sources of each layer."""

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
from tui.widgets.transcript.wrap import StyledLine, indent, line_breaks, wrap_runs

if TYPE_CHECKING:  # loaded with the first request
    from context.report import ContextReport, LayerReport
    from memory.memory import Memory

NAME_CELLS: Final = 14
FIGURE_CELLS: Final = 14
NO_BREAK: Final = "\u00a0"
EIGHTHS: Final = " ▏▎▍▌▋▊▉"
RECALLED: Final = "recalled "  # the prefix of a recalled source's name
TITLE_CELLS: Final = 30  # cells of a conversation's title


class ContextPanel(Struct, frozen=True):
    """A context report. `labels` has readable names for sources that are named by a reference."""

    report: "ContextReport"
    labels: dict[str, str] = {}

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        report = self.report
        room = width - GUTTER
        head = f"{report.total_tokens:,} of {report.budget:,} tokens, {100 * report.filled:.1f} %"
        about = f"{visible(report.model)} · window {report.window:,}, {report.reserve:,} kept for the answer"
        rows: list[StyledLine] = [[Segment("Context  ", styles.heading), Segment(head, styles.text)]]
        rows += wrap_runs([(about, styles.muted)], room, line_breaks)
        for layer in report.layers:
            rows += [[], *_layer(layer, self.labels, room, styles)]
        for sentence in savings_sentences(report):
            rows += [[], *wrap_runs([(sentence, styles.text)], room, line_breaks)]
        if (stable := report.prefix_stability) is not None:
            stability = (
                f"{report.unchanged_prefix_tokens:,} of the {report.previous_tokens:,} tokens sent before stand "
                f"unchanged at its head ({100 * stable:.1f} %)"
            )
            rows += [[], *wrap_runs([(stability, styles.muted)], room, line_breaks)]
        space = Segment(" " * GUTTER, styles.text)
        return [[], *indent(rows, space, space)]


def _layer(layer: "LayerReport", labels: Mapping[str, str], room: int, styles: TranscriptStyles) -> list[StyledLine]:
    figures = f"{layer.tokens:,}/{layer.budget:,}".rjust(FIGURE_CELLS)
    bar_cells = max(min(room - NAME_CELLS - FIGURE_CELLS - 1, 40), 4)
    filled = bar(layer.tokens / layer.budget if layer.budget else 0, bar_cells)
    lines: list[StyledLine] = [
        [
            Segment(_name(layer.name, {}).ljust(NAME_CELLS), styles.text + styles.strong),
            Segment(filled, styles.accent + Style(bgcolor=styles.panel.bgcolor)),
            Segment(" " * (bar_cells - cell_len(filled)), styles.panel),
            Segment(f" {figures}", styles.text),
        ]
    ]
    space = Segment(" " * NAME_CELLS, styles.text)
    sources = [
        f"{_name(source.name, labels)} {source.tokens:,}".replace(" ", NO_BREAK)
        for source in layer.sources
        if source.tokens
    ]
    lines += _source_lines(sources, "muted", space, room, styles)
    dropped = [
        f"left out: {_name(source.name, labels)}, {source.tokens:,} tokens, {source.why}" for source in layer.dropped
    ]
    return lines + _source_lines(dropped, "warning", space, room, styles)


def _name(name: str, labels: Mapping[str, str]) -> str:
    return visible(labels.get(name, name)).replace("\n", " ")


def _source_lines(
    parts: Sequence[str], tone: str, space: Segment, room: int, styles: TranscriptStyles
) -> list[StyledLine]:
    if not parts:
        return []
    return indent(wrap_runs([(" · ".join(parts), getattr(styles, tone))], room - NAME_CELLS, line_breaks), space, space)


def bar(share: float, width: int) -> str:
    """A bar of at most `width` cells; a share above 1 fills it."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    if not eighths and share > 0:
        return EIGHTHS[1]
    return "█" * full + (EIGHTHS[rest] if rest else "")


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
