"""Deletions that another device made: its tombstones, applied here."""

from collections.abc import Collection

from msgspec.structs import replace

from foundation.clock import from_ms
from memory.cold.sql import each
from memory.forget.choice import Chosen
from memory.forget.job import Forgetting
from memory.forget.plan import plan_forgetting
from memory.forgotten.fingerprints import FORGOTTEN
from memory.forgotten.journal import ForgetJob
from memory.forgotten.tombstones import EntryTombstone, ForgottenName, other_id
from memory.memory import Memory

_NAMES = """SELECT e.seq, c.source, c.id, e.id, e.body IS NOT NULL AND CAST(e.body AS BLOB) = ?
    FROM entries e JOIN conversations c ON c.seq = e.conversation"""
_PLACES = """SELECT e.conversation, c.source, c.id, e.id FROM entries e JOIN conversations c ON c.seq = e.conversation
    WHERE e.body IS NULL OR CAST(e.body AS BLOB) <> ?"""


def present(memory: Memory, tokens: Collection[str]) -> dict[str, int]:
    """Those of the tokens that would take something here, each with the seq of its conversation."""
    if not tokens:
        return {}
    wanted = frozenset(tokens)
    others: dict[str, str] = {other_id(token): token for token in tokens}
    found = dict[str, int]()
    for conversation, *row in memory.cold.read(lambda db: list(each(db, _PLACES, (FORGOTTEN.encode(),)))):
        name = ForgottenName(*row)
        own = wanted & {name.token, name.beside, name.given_up, others.get(name.entry, "")}
        found.update((token, int(conversation)) for token in own)
    return found


class ForeignTombstones:
    """The forgetting of entries that other devices name by tokens (memory.forgotten.tombstones.ForgottenName)."""

    def __init__(self, memory: Memory, forgetting: Forgetting) -> None:
        self._memory = memory
        self._forgetting = forgetting

    def tokens(self) -> frozenset[str]:
        """The tokens of all entries that are forgotten here."""
        return self._memory.conversations.tombstones.tokens()

    def forget(self, tokens: Collection[str], forgotten_ms: int) -> ForgetJob | None:
        """Keeps the tokens, so that nothing brings these entries here, and forgets those that are here. Blocks.

        Gives the job, finished or not; None where none of the entries is here. Raises what stops a step, with the job
        left open: it goes on with the next start.
        """
        stones = self._memory.conversations.tombstones
        new = stones.missing(tokens)
        if not new:
            return None
        blank = (FORGOTTEN.encode(),)  # it came without its words
        rows = self._memory.cold.read(lambda db: list(each(db, _NAMES, blank)))
        wanted, others = frozenset(new), frozenset(map(other_id, new))
        named = [(seq, ForgottenName(*name), is_blank) for seq, *name, is_blank in rows]
        gone = [(seq, name, is_blank) for seq, name, is_blank in named if name.token in wanted or name.entry in others]
        seqs = [seq for seq, _, is_blank in gone if not is_blank]
        bare = [seq for seq, name, _ in named if name.beside in wanted]
        renamed = {seq: name for seq, name, _ in named if name.given_up in wanted}
        known = stones.tokens() | wanted
        again = {name.token for _, name, _ in gone}  # also under its other id
        again |= {other for name in renamed.values() for old, other in name.tokens_of_other if old in known}
        job: ForgetJob | None = None
        if seqs or bare or renamed:
            chosen = Chosen(
                title="deletions from another device", entries=dict.fromkeys(seqs, "forgotten on another device")
            )
            plan = plan_forgetting(self._memory, chosen, from_ms(forgotten_ms))
            changes = replace(plan.job, bare=tuple(bare), renamed=tuple(renamed))
            job = self._forgetting.begin(replace(plan, job=changes))
        stones.add(EntryTombstone(token=token, forgotten_ms=forgotten_ms) for token in (*new, *sorted(again - known)))
        return self._forgetting.run(job) if job else None
