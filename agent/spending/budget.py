"""What a session may still spend: the limits of a run, and the caps of a day. Reaching one asks."""

import math
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from foundation.clock import Clock
from memory.records import SpendingSum
from models.chat.port import Profile
from models.messages import Usage
from models.prices import Cost, PriceList, cost_of_fields, money
from models.settings import ModelSettings

TOKENS, COST, DAILY_TOKENS, DAILY_COST = "tokens", "cost", "daily_tokens", "daily_cost"
OFFLINE: Final = "offline"  # is no model: what it quotes costs nothing
DAILY: Final = frozenset({DAILY_TOKENS, DAILY_COST})

_NOTHING: Final = Usage()


class Limit(Struct, frozen=True):
    """A limit that is reached. `sentence` says which, and how much was used."""

    name: str
    sentence: str


class RunLimits(Struct, frozen=True, kw_only=True):
    """The most of one run, over all of its turns; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None


class SpendingPort(Protocol):
    """The store of what was spent (memory.memory)."""

    def spent_since(self, since: datetime) -> Sequence[SpendingSum]:
        """The usage of the requests since then."""
        ...


class SpendingBudget:
    """Counts what the session spends, and says where a limit is reached.

    What the day has cost is read from the store, so that it counts other processes too.
    """

    def __init__(self, settings: ModelSettings, store: SpendingPort, clock: Clock) -> None:
        self.prices = PriceList(settings.prices)
        self.run = RunLimits()
        self.tokens = self.calls = 0  # of this run
        self.spent: dict[str, float] = {}  # by currency
        self.is_priced = True  # whether the price of all that was used is known
        self._settings = settings
        self._store = store
        self._clock = clock
        self._lifted: set[str] = set()

    def cost(self, profile: Profile, usage: Usage) -> Cost | None:
        """What this usage costs; None where the price is unknown."""
        return self.prices.cost(usage, profile.spec, profile.name, remote=profile.remote)

    def take(self, profile: Profile, usage: Usage) -> None:
        """Counts the usage of a request."""
        if profile.spec == OFFLINE:
            return
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        cost = self.cost(profile, usage)
        if cost is None:
            self.is_priced = False
        elif not cost.local:
            self.spent[cost.currency] = self.spent.get(cost.currency, 0.0) + cost.amount

    def take_calls(self, calls: int) -> None:
        """Counts tool calls that are made."""
        self.calls += calls

    @property
    def calls_left(self) -> int:
        """Tool calls that the run may still make."""
        return sys.maxsize if self.run.calls is None else max(self.run.calls - self.calls, 0)

    def lift(self, limit: Limit) -> None:
        """Lets the session go on past the limit."""
        self._lifted.add(limit.name)

    def reached(self, profile: Profile, prompt_tokens: int) -> Limit | None:
        """The limit that a request of so many tokens would pass; None for none. Reads the store."""
        if profile.spec == OFFLINE:
            return None
        usage = Usage(prompt_tokens=prompt_tokens)
        return self._of_run(profile, usage, "with the next request") or self._of_day(self._lifted, profile, usage)

    def passed(self, profile: Profile, prompt_tokens: int, completion_tokens: int) -> Limit | None:
        """The limit of the run that an answer under way has passed. Reads nothing."""
        return self._of_run(profile, Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens), "by now")

    def background_refusal(self) -> str:
        """Why no model may be called in the background, in a sentence; "" where one may. Reads the store."""
        limit = self._of_day(frozenset())
        return limit.sentence if limit else ""

    def _of_run(self, profile: Profile, usage: Usage, when: str) -> Limit | None:
        total = self.tokens + usage.prompt_tokens + usage.completion_tokens
        if self.run.tokens is not None and TOKENS not in self._lifted and total > self.run.tokens:
            return Limit(TOKENS, f"This run uses {total:,} tokens {when}; the maximum is {self.run.tokens:,}.")
        if self.run.cost is None or COST in self._lifted:
            return None
        cost = self.cost(profile, usage)
        if cost is None:
            return Limit(
                COST, f"The price of {profile.spec} is not set (models.prices), so the cost limit does not apply."
            )
        spent = math.fsum([*self.spent.values(), cost.amount])
        if spent > self.run.cost:
            currency = cost.currency or next(iter(self.spent), "")
            most = f"the limit is {money(self.run.cost, currency)}"
            return Limit(COST, f"This run costs {money(spent, currency)} {when}, and {most}.")
        return None

    def _of_day(
        self, lifted: "frozenset[str] | set[str]", profile: Profile | None = None, usage: Usage = _NOTHING
    ) -> Limit | None:
        """The cap of the day that is reached, or that a request of this usage would pass."""
        settings = self._settings
        caps = {DAILY_TOKENS: settings.daily_tokens, DAILY_COST: settings.daily_cost}
        if not any(caps[name] for name in DAILY - lifted):
            return None
        rows = [row for row in self._store.spent_since(self._midnight()) if row.model != OFFLINE]
        if caps[DAILY_TOKENS] and DAILY_TOKENS not in lifted:
            used = sum(row.prompt_tokens + row.completion_tokens for row in rows)
            total = used + usage.prompt_tokens + usage.completion_tokens
            if used >= caps[DAILY_TOKENS] or total > caps[DAILY_TOKENS]:
                count = f"{used:,} tokens were used today"
                if used < caps[DAILY_TOKENS]:
                    count = f"Today's tokens are {total:,} with the next request"
                most = f"the limit is {settings.daily_tokens:,} (models.daily_tokens)"
                return Limit(DAILY_TOKENS, f"{count}, and {most}.")
        if caps[DAILY_COST] and DAILY_COST not in lifted:
            next_cost = self.cost(profile, usage) if profile else None
            amounts = sums(rows)
            if next_cost and not next_cost.local:
                amounts.setdefault(next_cost.currency, 0.0)
            for currency, amount in amounts.items():
                is_next = next_cost is not None and not next_cost.local and next_cost.currency == currency
                total = math.fsum([amount, next_cost.amount if next_cost and is_next else 0.0])
                if amount >= caps[DAILY_COST] or total > caps[DAILY_COST]:
                    spent = f"{money(amount, currency)} were spent today"
                    if amount < caps[DAILY_COST]:
                        spent = f"Today costs {money(total, currency)} with the next request"
                    most = f"the limit is {money(settings.daily_cost, currency)} (models.daily_cost)"
                    return Limit(DAILY_COST, f"{spent}, and {most}.")
        return None

    def _midnight(self) -> datetime:
        return self._clock.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


def sums(rows: Sequence[SpendingSum]) -> dict[str, float]:
    """The money of the rows, by currency."""
    amounts: dict[str, list[float]] = {}
    for row in rows:
        if (cost := cost_of_fields(row.cost)) and not cost.local:
            amounts.setdefault(cost.currency, []).append(cost.amount)
    return {currency: math.fsum(parts) for currency, parts in amounts.items()}
