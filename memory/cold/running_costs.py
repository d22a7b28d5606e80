"""What requests since a moment cost together, for the panel and the caps of a day: each answer is read once.

The usage of an answer is written in the transaction that adds a row to the journal of changes, so the journal names
what is new, whichever process wrote it. Requests without an entry are corrected in place: their small rows are read
anew.
"""

import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import apsw
from msgspec import Struct, field

from foundation.clock import to_ms
from memory.cold.changes import last_change
from memory.cold.costs import decoded_cost, kept_cost
from memory.cold.rows import LARGEST_FIELDS
from memory.cold.sql import each
from memory.records import SpendingSum
from models.prices import Cost, cost_of_fields

_ANSWERS = f"""SELECT e.seq, CASE WHEN length(e.meta) <= {LARGEST_FIELDS} THEN e.meta END,
    u.model, u.prompt_tokens, u.completion_tokens, coalesce(u.cached_tokens, 0)
    FROM entries e JOIN usage u ON u.entry = e.seq WHERE"""
_CHANGED = "SELECT entry FROM changes WHERE seq > ? AND op <> 'archive'"  # a text that moves costs what it did
_WITHOUT_ENTRY = """SELECT cost, model, prompt_tokens, completion_tokens, coalesce(cached_tokens, 0)
    FROM model_requests WHERE time_ms >= ?"""


class _Request(Struct, frozen=True):
    model: str
    cost: Cost | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int  # at most those of the prompt, as a price takes them

    @classmethod
    def of(cls, fields: object, model: object, prompt: int, completion: int, cached: int) -> "_Request":
        return cls(str(model), cost_of_fields(fields), prompt, completion, min(cached, prompt))

    @property
    def group(self) -> tuple[str, str]:
        """Requests of one group are added up: the model, and the currency, `local` or `unknown`."""
        return self.model, "unknown" if self.cost is None else "local" if self.cost.local else self.cost.currency


class _Sum(Struct):
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    amounts: list[float] = field(default_factory=list[float])  # one by one, so that their sum is exact

    def add(self, request: _Request, sign: int = 1) -> None:
        self.requests += sign
        self.prompt_tokens += sign * request.prompt_tokens
        self.completion_tokens += sign * request.completion_tokens
        self.cached_tokens += sign * request.cached_tokens
        if request.cost and sign > 0:
            self.amounts.append(request.cost.amount)
        elif request.cost:
            self.amounts.remove(request.cost.amount)


class RunningCosts:
    """Sums that are kept between two readings. One object serves all threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin(0)

    def _begin(self, since_ms: int) -> None:
        self._since_ms, self._change = since_ms, 0
        self._answers: dict[int, _Request] = {}  # by the entry's seq
        self._sums: dict[tuple[str, str], _Sum] = defaultdict(_Sum)

    def read(self, connection: apsw.Connection, since: datetime) -> list[SpendingSum]:
        """What requests since then cost, by model and currency. `connection` reads one snapshot."""
        with self._lock:
            newest = last_change(connection)
            if to_ms(since) != self._since_ms or not 0 < self._change <= newest:  # another day, or another store
                self._begin(to_ms(since))
            self._count_changes(connection)
            self._change = newest
            others = dict[tuple[str, str], _Sum]()
            for cost, *row in each(connection, _WITHOUT_ENTRY, (self._since_ms,)):
                request = _Request.of(decoded_cost(cost), *row)
                others.setdefault(request.group, _Sum()).add(request)
            return [*_totals(self._sums), *_totals(others)]

    def _count_changes(self, connection: apsw.Connection) -> None:
        if self._change:
            changed = [seq for (seq,) in each(connection, _CHANGED, (self._change,))]
            rows = each(
                connection, f"{_ANSWERS} +e.time_ms >= ? AND e.seq IN ({_CHANGED})", (self._since_ms, self._change)
            )
        else:
            changed, rows = [], each(connection, f"{_ANSWERS} e.time_ms >= ?", (self._since_ms,))
        found = [(seq, _Request.of(kept_cost(meta), *row)) for seq, meta, *row in rows]
        for seq in changed:
            if known := self._answers.pop(seq, None):
                self._sums[known.group].add(known, -1)
        for seq, request in found:
            self._answers[seq] = request
            self._sums[request.group].add(request)


def _totals(sums: Mapping[tuple[str, str], _Sum]) -> Iterable[SpendingSum]:
    for (model, kind), group in sums.items():
        if group.requests:
            cost: dict[str, Any] = {"amount": math.fsum(group.amounts), "currency": kind}
            yield SpendingSum(
                model=model,
                requests=group.requests,
                prompt_tokens=group.prompt_tokens,
                completion_tokens=group.completion_tokens,
                cached_tokens=group.cached_tokens,
                cost={"local": True} if kind == "local" else None if kind == "unknown" else cost,
            )
