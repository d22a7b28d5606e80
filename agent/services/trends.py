"""Tokens by day as a line of bars, and the counts of memory beside them."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from memory.records import DayTokens, Statistics

DAYS: Final = 30  # in a line of bars
BARS: Final = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int]) -> str:
    """A bar for each value, as high as its share of the largest one; a space for 0."""
    largest = max(values, default=0)
    return "".join(BARS[(value * len(BARS) - 1) // largest] if value else " " for value in values)


def last_days(days: Sequence[DayTokens], today: date, count: int = DAYS) -> list[DayTokens]:
    """The last `count` days up to `today`, oldest first, those without entries included."""
    by_day = {day.day: day for day in days}
    names = [str(today - timedelta(days=back)) for back in reversed(range(count))]
    return [by_day.get(name) or DayTokens(name, 0, 0) for name in names]


def count_rows(figures: Statistics) -> list[tuple[str, str]]:
    """The counts of messages, chunks and summaries: name, value."""
    return [
        ("messages", f"{figures.messages:,}"),
        ("chunks", f"{figures.chunks:,}"),
        ("compressed chunks", f"{figures.compressed_chunks:,}"),
    ]


def trend_rows(days: Sequence[DayTokens], today: date) -> list[tuple[str, str]]:
    """Bars of the last days with their sum and the largest day: name, value. Empty without entries in them."""
    shown = last_days(days, today)
    kinds = (
        ("tokens stored", [day.tokens for day in shown]),
        ("tokens read by models", [day.prompt_tokens for day in shown]),
        ("tokens written by models", [day.completion_tokens for day in shown]),
    )
    return [
        (name, f"{sparkline(values)}  {sum(values):,} in {len(shown)} days, maximum {max(values):,} per day")
        for name, values in kinds
        if any(values)
    ]
