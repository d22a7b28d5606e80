"""Context screen: the next request as bars by layer, by zone and by part; each part opens to its exact text."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType

from agent.commands.tables import savings_sentences
from agent.services.context_view import part_name, recall_reason
from foundation.figures import percent
from tui.overview.bars import TICK
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:  # loaded with the first request
    from agent.services.context_view import ContextView
    from context.assembly.parts import RequestPart
    from context.report import ContextReport

ZONES: Final = {"A": "A head", "B": "B past", "C": "C turns", "D": "D tail"}
_ZONE_SENTENCES: Final = {
    "A": "System lines, tools, AGENTS.md, SOUL.md, skills and notes. They do not change within an epoch.",
    "B": "Summaries and pages of older turns.",
    "C": "Messages exactly as they were sent.",
    "D": "Sent with this message only: changes, recalled passages, files and the message itself.",
}
_NO_SHARE: Final = " " * 9  # as wide as what `_figure` adds
_NEW: Final = " +"  # behind a part that was not sent before


class ContextScreen(ListScreen[None]):
    """Shows what `load` gives; `on_report` is called with the figures that are shown."""

    heading = "Context"
    keys: ClassVar[str] = "↑ ↓ choose · Enter opens the exact text · a opens the whole request · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "open_all", "Open the text of the whole request", id="context.all", show=False),
    ]

    def __init__(
        self, load: "Callable[[], Awaitable[ContextView]]", on_report: "Callable[[ContextReport], object]"
    ) -> None:
        super().__init__()
        self._load = load
        self._on_report = on_report
        self._texts: dict[str, tuple[RequestPart, ...]] = {}  # parts of a row

    async def read(self) -> ListContents:
        view = await self._load()
        self._on_report(view.report)
        self._texts = {}
        return await asyncio.to_thread(self._contents, view)

    def _contents(self, view: "ContextView") -> ListContents:
        report = view.report
        about = (
            f"{report.total_tokens:,}/{report.budget:,} tokens, {percent(report.filled)} · {_due(report)}"
            f"{report.model} · window {report.window:,}, {report.reserve:,} for the answer"
        )
        rows = [*self._request(view), *self._layers(view), *self._zones(view), *self._parts(view), *_dropped(view)]
        notes = [
            ListRow(label=sentence, id=f"note {number}", detail=sentence)
            for number, sentence in enumerate((*view.sentences, *savings_sentences(report)))
        ]
        if notes:
            rows += [ListRow(label="Compared"), *notes]
        return ListContents(tuple(rows), about)

    def _request(self, view: "ContextView") -> Iterator[ListRow]:
        """The whole request, with a tick where older turns leave."""
        report = view.report
        if not report.compacts_at:
            return
        self._texts["request"] = view.parts
        yield ListRow(
            label=f"request · compacts at {percent(report.compaction_share)}",
            id="request",
            figure=_figure(report.total_tokens, report.budget),
            share=report.filled,
            tick=report.compaction_share,
            detail=f"Above {report.compacts_at:,} tokens ({TICK}) old tool results are cut to one line each, "
            "and older turns are archived. All of it can be recalled. context.working_tokens sets the limit: at most "
            "half of the window (or 8,000 if that is less), and half as much if tool calls fill the conversation.",
        )

    def _layers(self, view: "ContextView") -> Iterator[ListRow]:
        yield ListRow(label="By layer")
        for layer in view.report.layers:
            self._texts[f"layer {layer.name}"] = tuple(part for part in view.parts if part.layer == layer.name)
            sources = " · ".join(
                f"{view.labels.get(source.name, source.name)} {source.tokens:,}" for source in layer.sources
            )
            yield ListRow(
                label=layer.name,
                id=f"layer {layer.name}",
                figure=_figure(layer.tokens, view.report.budget),
                share=layer.tokens / (view.report.budget or 1),
                detail=f"{layer.tokens:,} tokens of a budget of {layer.budget:,}. {sources}",
            )

    def _zones(self, view: "ContextView") -> Iterator[ListRow]:
        if view.report.zones:
            yield ListRow(label="By zone")
        for zone in view.report.zones:
            self._texts[f"zone {zone.name}"] = tuple(part for part in view.parts if part.zone == zone.name)
            yield ListRow(
                label=ZONES.get(zone.name, zone.name),
                id=f"zone {zone.name}",
                figure=_figure(zone.tokens, view.report.budget),
                share=zone.tokens / (view.report.budget or 1),
                detail=f"{_ZONE_SENTENCES.get(zone.name, '')} Messages: {zone.messages:,}.",
            )

    def _parts(self, view: "ContextView") -> Iterator[ListRow]:
        if view.parts:
            yield ListRow(label="Parts, in the order in which they are sent")
        was_sent = bool(view.report.previous_tokens)
        for number, part in enumerate(view.parts):
            id_ = f"part {number}"
            self._texts[id_] = (part,)
            is_new = was_sent and not part.is_unchanged
            yield ListRow(
                label=f"{part.zone} {part_name(part, view.labels)}{_NEW if is_new else ''}",
                id=id_,
                figure=_figure(part.tokens, view.report.budget),
                share=part.tokens / (view.report.budget or 1),
                detail=_part_detail(part, is_new=is_new),
            )

    async def open_row(self, row: ListRow) -> None:
        parts = self._texts.get(row.id, ())
        text = row.detail if not parts else ""
        self._open_text(row.label, parts, text)

    def action_open_all(self) -> None:
        parts = [part for id_, parts in self._texts.items() if id_.startswith("part ") for part in parts]
        self._open_text("The whole request", parts)

    def _open_text(self, title: str, parts: "Sequence[RequestPart]", text: str = "") -> None:
        def read() -> BlockText:
            return BlockText("\n\n".join(part.text for part in parts) if parts else text)

        app_of(self).push_screen(TextScreen(title, read))


def _due(report: "ContextReport") -> str:
    """What the request is while the older turns are there that leave before it is sent."""
    return f"{report.before_compaction:,} now, compacts with the next message · " if report.before_compaction else ""


def _figure(tokens: int, budget: int) -> str:
    return f"{tokens:,}  {percent(tokens / (budget or 1)):>7}"


def _part_detail(part: "RequestPart", *, is_new: bool) -> str:
    since = "New or changed since the last request (+)." if is_new else ""
    why = f"{recall_reason(part.recalled)}\n" if part.recalled else ""
    return f"{part.tokens:,} tokens, layer {part.layer}, zone {part.zone}. {since}\n{why}\n{part.text[:2000]}"


def _dropped(view: "ContextView") -> Iterator[ListRow]:
    rows = [(layer.name, source) for layer in view.report.layers for source in layer.dropped]
    if rows:
        yield ListRow(label="Left out")
    for number, (layer, source) in enumerate(rows):
        name = view.labels.get(source.name, source.name)
        yield ListRow(
            label=f"{name}: {source.why}",
            id=f"dropped {number}",
            figure=f"{source.tokens:,}{_NO_SHARE}",
            is_warning=True,
            detail=f"{name} was left out of the layer {layer}, {source.tokens:,} tokens: {source.why}.",
        )
