"""Statistics screen: messages, tokens and money by day as charts, and what is on disk."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.containers import VerticalScroll

from agent.services.trends import sparkline
from foundation.figures import counted
from foundation.sizes import MEGABYTE, format_size
from foundation.terminal_text import visible_line
from tui.overview.bars import columns
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from agent.services.statistics_view import DaySeries, StatisticsView
    from agent.spending.report import Spent

_MAX_HEIGHT: Final = 14  # rows of a chart
_MIN_HEIGHT: Final = 3
_FRAME_ROWS: Final = 2  # the title and the days
_NO_MODEL: Final = "No model was called yet. Tokens and cost are counted from the first answer."


class StatisticsScreen(ListScreen[None]):
    """Shows what `load` gives."""

    heading = "Statistics"
    keys: ClassVar[str] = "↑ ↓ choose · Enter opens the figures by day · Esc back"

    def __init__(self, load: "Callable[[], Awaitable[StatisticsView]]") -> None:
        super().__init__()
        self._load = load
        self._series: dict[str, DaySeries] = {}

    async def read(self) -> ListContents:
        view = await self._load()
        self._series = {f"day {series.name}": series for series in view.series}
        figures = view.figures
        about = (
            f"conversations {figures.conversations:,} · messages {figures.messages:,} · entries {figures.entries:,} · "
            f"pages {figures.pages:,}"
        )
        rows = [*_days(view.series), *_sizes(view), *spending_rows(view)]
        if not view.spending.days:
            rows.append(ListRow(label=_NO_MODEL, id="note", detail=_NO_MODEL))
        return ListContents(tuple(rows), about)

    def show_detail(self, row: ListRow | None) -> None:
        series = self._series.get(row.id) if row else None
        if series is None:
            super().show_detail(row)
        else:
            pane = self.query_one("#list-detail", VerticalScroll).size
            height = max(min(pane.height - _FRAME_ROWS, _MAX_HEIGHT), _MIN_HEIGHT)
            self.set_detail(self._chart(series, max(pane.width - 2, 10), height))

    def _chart(self, series: "DaySeries", width: int, height: int) -> Text:
        muted = theme_colour(self, "muted")
        largest = max(series.values)
        name, days = visible_line(series.name), len(series.days)
        text = Text(f"{name}: {figure(series.total)} in {days} days, {figure(largest)} at most", end="")
        rows = columns(series.values, width, height)
        for line in rows:
            text.append(f"\n{line}", theme_colour(self, "accent-ink"))
        step = max(min(width // max(len(series.values), 1), 7), 1)
        shown = series.days[-(width // step) :]
        first, last = visible_line(shown[0][5:]), visible_line(shown[-1][5:])
        ends = f"{first}{last.rjust(max(step * len(shown) - len(first), 6))}"
        return text.append(f"\n{ends}", muted)

    async def open_row(self, row: ListRow) -> None:
        series = self._series.get(row.id)
        if series is None:
            return
        lines = [
            f"{day}  {figure(value):>14} {series.unit}" for day, value in zip(series.days, series.values, strict=True)
        ]
        app_of(self).push_screen(TextScreen(series.name, lambda: BlockText("\n".join(reversed(lines)))))


def figure(value: float) -> str:
    """`1,204`, or `0.031` for an amount of money."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"


def _days(series: "Sequence[DaySeries]") -> Iterator[ListRow]:
    if series:
        yield ListRow(label="By day")
    for each in series:
        bars = sparkline([round(value * 1_000) for value in each.values])
        yield ListRow(label=f"{each.name:<25} {bars}", id=f"day {each.name}", figure=figure(each.total))


def _sizes(view: "StatisticsView") -> Iterator[ListRow]:
    use, budget = view.disk, view.budget_mb * MEGABYTE
    if use.parts:
        of_budget = f" of {format_size(budget)}" if budget else ""
        free = "" if use.free is None else f", {format_size(use.free)} free"
        yield ListRow(label=f"On disk: {format_size(use.size)}{of_budget}{free}")
    for part in use.parts:
        yield ListRow(
            label=part.name,
            id=f"disk {part.name}",
            figure=format_size(part.size),
            share=part.size / (use.size or 1),
            detail=part.sentence,
        )


def spending_rows(view: "StatisticsView") -> Iterator[ListRow]:
    """What was spent by purpose and by conversation."""
    groups: tuple[tuple[str, Sequence[Spent]], ...] = (
        ("Spending by purpose", view.spending.purposes),
        ("Spending by conversation", view.spending.conversations),
    )
    whole = max(sum(spent.tokens for spent in rows) for _, rows in groups) or 1  # one scale for both groups
    for title, rows in groups:
        if rows:
            yield ListRow(label=title)
        for spent in rows:
            yield ListRow(
                label=spent.title or spent.key,
                id=f"{title} {spent.key}",
                figure=f"{spent.tokens:,}  {spent.cost}",
                share=spent.tokens / whole,
                detail=(
                    f"{counted(spent.requests, 'request')}, {spent.prompt_tokens:,} prompt tokens, "
                    f"{spent.cached_tokens:,} of them cached, "
                    f"{spent.completion_tokens:,} tokens of answers, {spent.cost}."
                ),
            )
