"""Figures of the store for a screen: days, spending, and what is on disk."""

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
    from memory.records import DayTokens, Statistics


class DaySeries(Struct, frozen=True):
    """A figure by day, oldest first. `unit` follows the figures; money has its currency."""

    name: str
    unit: str
    days: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.values)


class StatisticsView(Struct, frozen=True, kw_only=True):
    """All figures of the screen."""

    figures: Statistics
    series: tuple[DaySeries, ...]
    disk: DiskUse
    budget_mb: int = 0  # disk.budget_mb
    spending: SpendingReport


async def statistics_view(session: Session) -> StatisticsView:
    """The figures of the workspace now. Raises PalimpsestError."""
    return await asyncio.to_thread(_view, session)


def _view(session: Session) -> StatisticsView:
    memory, now = session.memory, session.clock.now()
    report = spending_report(memory.spending(), session.config.models, now)
    days = last_days(memory.tokens_by_day(), now.astimezone().date())
    return StatisticsView(
        figures=memory.statistics(),
        series=tuple(day_series(days, report)),
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
