"""Deletions that another device made: its tombstones, applied here."""

from collections.abc import Collection
from datetime import datetime

from memory.cold.sql import each
from memory.forget.choice import Chosen
from memory.forget.plan import ForgetPlan, plan_forgetting
from memory.forgotten.tombstones import ForgottenName, Tombstone
from memory.memory import Memory

_NAMES = """SELECT e.seq, c.source, c.id, e.id FROM entries e JOIN conversations c ON c.seq = e.conversation"""


def plan_foreign(memory: Memory, tokens: Collection[str], now: datetime) -> ForgetPlan | None:
    """The plan that forgets the entries of these tokens; None where none of them is here.

    `Forgetting(…).run(forgetting.begin(plan))` carries it out. Of entries that come later, `note_foreign` keeps the
    tokens; `memory.conversations.tombstones.has(ForgottenName(…))` is asked before one is added.
    """
    wanted = frozenset(tokens)
    rows = memory.cold.read(lambda db: list(each(db, _NAMES))) if wanted else []
    seqs = [seq for seq, *name in rows if ForgottenName(*name).token in wanted]
    return (
        plan_forgetting(memory, Chosen(title="what another device forgot", entries=dict.fromkeys(seqs)), now)
        if seqs
        else None
    )


def note_foreign(memory: Memory, tokens: Collection[str], forgotten_ms: int) -> int:
    """Keeps the tokens of another device, so that nothing brings these entries here; gives the number of new ones."""
    stones = memory.conversations.tombstones
    return stones.add(Tombstone(token=token, forgotten_ms=forgotten_ms) for token in stones.missing(tokens))
