"""Figures of the store for a screen: days, what was saved, and what is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.trends import last_days
from agent.spending.report import SpendingReport, spending_report
from memory.upkeep.disk import DiskUse, measure

if TYPE_CHECKING:
    from agent.session import Session
    from memory.memory import Memory
    from memory.records import DayTokens, SpendingRow, Statistics


class DaySeries(Struct, frozen=True):
    """A figure by day, oldest first. `unit` follows the figures; money has its currency."""

    name: str
    unit: str
    days: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.values)


class Saving(Struct, frozen=True):
    """Something that was saved: tokens without it and with it, and a sentence. `after` is None where only what left
    is known.
    """

    name: str
    before: int
    after: int | None
    sentence: str

    @property
    def saved(self) -> int:
        return self.before - (self.after or 0)


class StatisticsView(Struct, frozen=True, kw_only=True):
    """All figures of the screen."""

    figures: Statistics
    series: tuple[DaySeries, ...]
    savings: tuple[Saving, ...]
    disk: DiskUse
    budget_mb: int = 0  # disk.budget_mb
    spending: SpendingReport


async def statistics_view(session: Session) -> StatisticsView:
    """The figures of the workspace now. Raises PalimpsestError."""
    return await asyncio.to_thread(_view, session)


def _view(session: Session) -> StatisticsView:
    memory, now = session.memory, session.clock.now()
    rows = memory.spending()
    report = spending_report(rows, session.config.models, now)
    days = last_days(memory.tokens_by_day(), now.astimezone().date())
    return StatisticsView(
        figures=memory.statistics(),
        series=tuple(day_series(days, report)),
        savings=tuple(savings_of(memory, rows)),
        disk=measure(session.workspace),
        budget_mb=session.config.disk.budget_mb,
        spending=report,
    )


def day_series(days: Sequence[DayTokens], report: SpendingReport) -> list[DaySeries]:
    """The series that have a value: messages, tokens, requests and money by day."""
    names = tuple(day.day for day in days)
    spent = {day.key: day for day in report.days}
    currencies = sorted({currency for day in report.days for currency in day.money})
    series = [
        DaySeries("messages", "messages", names, tuple(float(day.messages) for day in days)),
        DaySeries("tokens stored", "tokens", names, tuple(float(day.tokens) for day in days)),
        DaySeries("tokens read by models", "tokens", names, tuple(float(day.prompt_tokens) for day in days)),
        DaySeries("tokens written by models", "tokens", names, tuple(float(day.completion_tokens) for day in days)),
        *(
            DaySeries(
                f"spent in {currency}",
                currency,
                names,
                tuple(spent[name].money.get(currency, 0.0) if name in spent else 0.0 for name in names),
            )
            for currency in currencies
        ),
    ]
    return [each for each in series if each.total]


def savings_of(memory: Memory, rows: Sequence[SpendingRow]) -> list[Saving]:
    """What pages and the kept prefix saved: separate savings, never added. Blocks."""
    archives = memory.vault.archives()
    text, vision = sum(row.text_tokens for row in archives), sum(row.vision_tokens for row in archives)
    prompt, cached = sum(row.prompt_tokens for row in rows), sum(row.cached_tokens for row in rows)
    savings: list[Saving] = []
    moved = [row for row in archives if row.conversation is not None]
    if tokens := sum(row.text_tokens for row in moved):
        savings.append(
            Saving(
                "compaction",
                tokens,
                None,
                "Tokens of older turns that left the requests for the archive; summaries stay.",
            )
        )
    if text:
        savings.append(
            Saving("pages", text, vision, "Text tokens of what is archived, and the vision tokens of the same pages.")
        )
    if cached:
        savings.append(
            Saving("prefix kept", prompt, prompt - cached, "Prompt tokens that servers had in their cache already.")
        )
    return savings
