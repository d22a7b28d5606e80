"""What models have cost, by day, conversation and purpose."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from memory.records import SpendingRow, SpendingSum
from models.prices import Cost, PriceList, cost_at, cost_of_fields, money
from models.settings import ModelSettings

MOST_DAYS, MOST_CONVERSATIONS = 31, 20
MOST_TITLE: Final = 28  # characters: the table fits 80 columns
NOTHING: Final = "–"


class Spent(Struct, frozen=True, kw_only=True):
    """What requests cost together. `local` of them ran on this machine, and the price of `unpriced` is not known."""

    key: str
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    money: dict[str, float]  # by currency
    local: int
    unpriced: int
    title: str = ""  # of a conversation

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> str:
        """`1.20 USD, 3 of 10 unpriced`, or `local`."""
        parts = [money(amount, currency) for currency, amount in sorted(self.money.items())]
        if self.unpriced:
            parts.append("price unknown" if self.unpriced == self.requests else f"{self.unpriced:,} of unknown price")
        if self.local and not parts:
            parts.append("local")
        return ", ".join(parts) or NOTHING


class SpendingReport(Struct, frozen=True, kw_only=True):
    """The last days, the conversations with the most tokens, every purpose, and today beside its caps (0: none)."""

    today: Spent
    daily_tokens: int
    daily_cost: float
    days: tuple[Spent, ...]
    conversations: tuple[Spent, ...]
    purposes: tuple[Spent, ...]


def spending_report(rows: Sequence[SpendingRow], settings: ModelSettings, now: datetime) -> SpendingReport:
    """The report. Days are those of the clock's own zone; what was stored without a price is priced as of now."""
    prices = PriceList(settings.prices)
    local = now.astimezone().tzinfo

    def day(row: SpendingRow) -> str:
        return f"{row.time.astimezone(local):%Y-%m-%d}"

    today = f"{now.astimezone():%Y-%m-%d}"
    days = _grouped(rows, prices, day)
    by_day = {spent.key: spent for spent in days}
    titles = {row.conversation: row.title for row in rows}
    conversations = sorted(_grouped(rows, prices, lambda row: row.conversation), key=lambda spent: -spent.tokens)
    return SpendingReport(
        today=by_day.get(today) or _sum(today, (), prices),
        daily_tokens=settings.daily_tokens,
        daily_cost=settings.daily_cost,
        days=tuple(sorted(days, key=lambda spent: spent.key, reverse=True)[:MOST_DAYS]),
        conversations=tuple(
            structs.replace(spent, title=titles[spent.key]) for spent in conversations[:MOST_CONVERSATIONS]
        ),
        purposes=tuple(sorted(_grouped(rows, prices, lambda row: row.purpose), key=lambda spent: spent.key)),
    )


def total_spent(key: str, rows: Sequence[SpendingSum], settings: ModelSettings) -> Spent:
    """What these requests cost together."""
    return _sum(key, rows, PriceList(settings.prices))


def spending_tables(report: SpendingReport) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Heads and rows of the tables: days, conversations, purposes. Empty before the first request."""
    if not report.days:
        return []
    heads = ("REQUESTS", "PROMPT", "CACHED", "ANSWER", "COST")
    groups = (("DAY", report.days), ("CONVERSATION", report.conversations), ("PURPOSE", report.purposes))
    return [((name, *heads), [_cells(spent) for spent in group]) for name, group in groups]


def caps_sentence(report: SpendingReport) -> str:
    """`today 12,000 of 50,000 tokens`; "" where no cap is set."""
    parts = list[str]()
    if report.daily_tokens:
        parts.append(f"{report.today.tokens:,} of {report.daily_tokens:,} tokens")
    if report.daily_cost:
        amounts = report.today.money or {"": 0.0}
        parts += [
            f"{money(amount, currency).strip()} of {money(report.daily_cost, currency).strip()}"
            for currency, amount in sorted(amounts.items())
        ]
    return f"Today: {', '.join(parts)}." if parts else ""


def _cells(spent: Spent) -> tuple[str, ...]:
    counts = (spent.requests, spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens)
    name = spent.title if len(spent.title) <= MOST_TITLE else spent.title[: MOST_TITLE - 1] + "…"
    return (name or spent.key, *(f"{count:,}" for count in counts), spent.cost)


def _grouped(rows: Iterable[SpendingRow], prices: PriceList, key: Callable[[SpendingRow], str]) -> list[Spent]:
    groups: dict[str, list[SpendingRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [_sum(name, group, prices) for name, group in groups.items()]


def _sum(key: str, rows: Sequence[SpendingSum], prices: PriceList) -> Spent:
    amounts: dict[str, list[float]] = {}
    costs = [_cost(row, prices) for row in rows]
    for cost in costs:
        if cost and not cost.local:
            amounts.setdefault(cost.currency, []).append(cost.amount)
    return Spent(
        key=key,
        requests=sum(row.requests for row in rows),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        money={currency: math.fsum(parts) for currency, parts in amounts.items()},
        local=sum(row.requests for row, cost in zip(rows, costs, strict=True) if cost is not None and cost.local),
        unpriced=sum(row.requests for row, cost in zip(rows, costs, strict=True) if cost is None),
    )


def _cost(row: SpendingSum, prices: PriceList) -> Cost | None:
    """The cost that was stored; else by the price of the model's name, which is what older versions kept."""
    if cost := cost_of_fields(row.cost):
        return cost
    if row.model == "offline":
        return Cost(local=True)
    price = prices.price(row.model)
    return cost_at(price, row.prompt_tokens, row.cached_tokens, row.completion_tokens) if price else None
