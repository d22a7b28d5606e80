"""Token counts of entries, cached by entry and tokenizer: in memory, and in the store from one process to the next."""

from collections.abc import Sequence

from context.counting import Counting
from context.layers.conversation import Sent
from memory.cold import ColdStore


class EntryCounts:
    """Counts messages of the past. What is new is kept back until `take_new` hands it to who writes."""

    def __init__(self, cold: ColdStore) -> None:
        self._cold = cold
        self._key = ""
        self._known: dict[int, int] = {}
        self._new: dict[int, int] = {}

    def of(self, sent: Sequence[Sent], counting: Counting, fleeting: frozenset[int]) -> list[int]:
        """Tokens of each message. Entries in `fleeting` may still change, or are not as stored: counted each time."""
        if counting.key != self._key:
            self._key, self._known, self._new = counting.key, {}, {}
        wanted = {one.entry for one in sent if one.entry is not None and one.entry not in fleeting}
        missing = wanted - self._known.keys()
        if missing:
            self._known |= self._cold.token_counts(missing, counting.key)
        return [self._count(one, counting, fleeting) for one in sent]

    def _count(self, one: Sent, counting: Counting, fleeting: frozenset[int]) -> int:
        if one.entry is None or one.entry in fleeting:
            return counting.message(one.message)
        tokens = self._known.get(one.entry)
        if tokens is None:
            tokens = self._known[one.entry] = self._new[one.entry] = counting.message(one.message)
        return tokens

    def take_new(self) -> tuple[str, dict[int, int]]:
        """The tokenizer's key, and counts that the store does not have; they are not given twice."""
        new, self._new = self._new, {}
        return self._key, new

    def drop(self, entry: int) -> None:
        """Forgets one entry's count: it is sent otherwise than it was counted."""
        self._known.pop(entry, None)
        self._new.pop(entry, None)

    def forget(self) -> None:
        """Drops what is remembered, where entries were changed."""
        self._known, self._new = {}, {}
