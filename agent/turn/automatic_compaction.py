"""The compactions that the requests of one turn need, each before its request is sent."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Final

import msgspec

from agent import events
from agent.events import SessionEvent
from agent.turn.ports import TurnPorts
from context import AssembledRequest, Turn
from context.compaction.audit import AuditFailed
from context.compaction.compact import CAUSE_AUTOMATIC, CAUSE_OVERFLOW, with_sizes
from context.errors import RequestTooLarge, UselessCompaction
from context.working_set.receipt import starting_at
from foundation.errors import PalimpsestError
from memory.errors import OutOfDate

MOST_OUTDATED: Final = 3  # plans in a row that another program's change overtook; then the request is made without
MOST_USELESS: Final = 2  # compactions in a row after which the request was no smaller


class AutomaticCompaction:
    """Compacts until the request fits. `assembled` and `turn` are the result; `assembled` None: it was stopped."""

    def __init__(self, ports: TurnPorts, is_stopped: Callable[[], bool]) -> None:
        self._ports = ports
        self._is_stopped = is_stopped
        self._useless = 0  # compactions in a row
        self._is_told = False  # that a compaction was refused
        self.assembled: AssembledRequest | None = None
        self.turn = Turn()

    async def run(self, turn: Turn, rejected: int) -> AsyncGenerator[SessionEvent, None]:
        """Assembles the turn's request. `rejected`: tokens of the request that the server rejected, where this one
        answers it. Each receipt begins with the size at which the one before it ended, and the last one ends with what
        is sent. Raises RequestTooLarge where compactions do not help."""
        ports, cause, before = self._ports, CAUSE_OVERFLOW if rejected else CAUSE_AUTOMATIC, rejected
        self.turn, self.assembled = turn, None
        assembled, outdated = await asyncio.to_thread(ports.assemble, turn), 0
        while (compaction := assembled.compaction) is not None:
            if ports.summaries is not None:
                yield events.Summarising()
                compaction = await ports.summaries.write(compaction, ports.model.counter)
            if compaction is None or self._is_stopped():
                return
            if ports.hooks:
                await asyncio.to_thread(ports.hooks.before_compaction, "auto")
            try:
                receipt = await asyncio.to_thread(ports.compact, compaction, cause)
            except (AuditFailed, UselessCompaction, OutOfDate) as refused:
                if isinstance(refused, OutOfDate) and (outdated := outdated + 1) < MOST_OUTDATED:
                    assembled = await asyncio.to_thread(ports.assemble, self.turn)
                    continue
                if not self._is_told:  # sent without, where that fits the window
                    self._is_told = True
                    yield events.Notice("warning", f"{refused.title}: {refused.message}")
                without = msgspec.structs.replace(self.turn, uncompacted=True)
                assembled = await asyncio.to_thread(ports.assemble, without)
                break
            await asyncio.to_thread(ports.store.compacted, receipt)
            self.turn = msgspec.structs.replace(self.turn, leaf=receipt.summary_seq)
            before = before or receipt.tokens_before
            try:
                assembled = await asyncio.to_thread(ports.assemble, self.turn)
            except PalimpsestError:  # no request has the size after it: the one that was planned is told
                yield events.Compacted(with_sizes(receipt, before, receipt.tokens_after))
                raise
            receipt = with_sizes(receipt, before, _size(assembled))
            before = receipt.tokens_after
            yield events.Compacted(receipt)
            if receipt.warning:
                yield events.Notice("warning", receipt.warning)
            self._count(compaction.plan.before, assembled)
        if before and (reduction := assembled.reduction):
            assembled = msgspec.structs.replace(assembled, reduction=starting_at(reduction, before))
        self.assembled = assembled

    def _count(self, before: int, assembled: AssembledRequest) -> None:
        planned = assembled.compaction  # the report is then of the request after it
        after = planned.plan.before if planned else assembled.report.total_tokens
        self._useless = self._useless + 1 if after >= before else 0
        if self._useless >= MOST_USELESS:
            raise RequestTooLarge(
                "Archiving does not help",
                f"Older messages were archived {self._useless} times in a row, but the request did not "
                f"shrink: {after:,} tokens after {before:,}.",
                "Recalled or attached text takes the space. /context shows the sizes; /new starts a new conversation.",
            )


def _size(assembled: AssembledRequest) -> int:
    """Tokens of a request after a compaction, before what else shortens it: a further one, or what is reduced."""
    if (planned := assembled.compaction) is not None:
        return planned.plan.unchanged
    return assembled.reduction.tokens_before if assembled.reduction else assembled.report.total_tokens
