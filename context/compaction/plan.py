"""Selects the turns to archive when a request exceeds the high-water mark. Pure functions."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from context.assembly.view import BranchView
from context.compaction.carried import own_messages
from context.settings import ContextSettings
from memory.records import Entry, EntryKind
from models.messages import Role

SUMMARY_PART = 0.12  # tokens of a summary, as a part of the tokens that leave
SUMMARY_FLOOR = 60
FRAME = 30  # tokens of zone B's frames and its reply
NEARLY_FULL = 0.85  # of the working set: the last turn stays where the request is within this with it


class CompactionBudget(Struct, frozen=True):
    """Token budget of a compaction.

    `fixed` outside the conversation (head and tail); `summaries` in view; `low`, the target after the compaction;
    `high`, the working set, above which the running turn's older rounds leave too; `own`, for the user's own words,
    which stay word for word in the summary.
    """

    fixed: int
    summaries: int
    low: int
    high: int
    own: int = 0


class CompactionPlan(Struct, frozen=True):
    """Entries that leave and entries that stay.

    `pinned`: the running turn's question, kept even though entries after it leave. `joins`: the new summary replaces
    the summaries in view.
    """

    leaving: tuple[Entry, ...]
    kept: tuple[Entry, ...]
    pinned: Entry | None
    summary_limit: int
    joins: bool
    turns: int

    @property
    def first_kept(self) -> int | None:
        """The seq at which reading the branch stops."""
        seqs = [entry.seq for entry in self.kept if self.pinned is None or entry.seq != self.pinned.seq]
        return min(seqs) if seqs else None


def turns_of(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Groups entries by turn: each begins with a user's message (the first may not)."""
    return _split(entries, lambda entry: entry.kind is EntryKind.MESSAGE and entry.role is Role.USER)


def _with_unanswered(turns: Sequence[tuple[Entry, ...]]) -> list[tuple[Entry, ...]]:
    """The turns; a question without an answer belongs to the turn before it, which the next message is about too."""
    joined: list[tuple[Entry, ...]] = []
    for turn in turns:
        if joined and all(entry.role is Role.USER for entry in turn):
            joined[-1] += turn
        else:
            joined.append(turn)
    return joined


def rounds_of(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Groups a turn's entries after its question by round: an assistant's message with the results of its calls."""
    return _split(entries, lambda entry: entry.kind is EntryKind.MESSAGE)


def _split(entries: Sequence[Entry], begins: Callable[[Entry], bool]) -> list[tuple[Entry, ...]]:
    groups: list[list[Entry]] = []
    for entry in entries:
        if begins(entry) or not groups:
            groups.append([])
        groups[-1].append(entry)
    return [tuple(group) for group in groups]


def plan_entries(
    view: BranchView, tokens: Mapping[int, int], figures: CompactionBudget, settings: ContextSettings, *, running: bool
) -> CompactionPlan | None:
    """Selects whole turns, oldest first, down to the low-water mark; None where no turn can leave.

    The question of a `running` turn stays; its own older rounds leave only where all older turns are not enough.
    """
    turns = turns_of(view.entries)
    if not turns:
        return None
    current = turns.pop() if running else ()
    turns = _with_unanswered(turns)
    estimate = _CostEstimate(tokens, figures, settings, view.entries)
    staying = deque(turns)
    while staying and estimate.size() > figures.low:
        if estimate.leaving and len(staying) == 1 and estimate.size() <= figures.high * NEARLY_FULL:
            break  # the next message is about the last turn
        estimate.leave(staying.popleft())
    turns_left = len(turns_of(estimate.leaving))
    pinned: Entry | None = None
    if current and estimate.size() > figures.high:
        pinned, current = _drop_older_rounds(current, estimate)
    if not estimate.leaving or estimate.size() >= estimate.unchanged:
        return None
    kept = tuple(entry for turn in (*staying, current) for entry in turn)
    return estimate.plan(kept, pinned, turns_left)


def _drop_older_rounds(current: tuple[Entry, ...], estimate: "_CostEstimate") -> tuple[Entry | None, tuple[Entry, ...]]:
    """Lets the running turn's older rounds leave; the last round always stays."""
    question, rounds = current[0], deque(rounds_of(current[1:]))
    before = len(rounds)
    while len(rounds) > 1 and estimate.size() > estimate.low:
        estimate.leave(rounds.popleft())
    shorter = (question, *(entry for round_ in rounds for entry in round_))
    return (question if len(rounds) < before else None), shorter


class _CostEstimate:
    """Estimated tokens of a request and its summary, as entries leave. Each entry is counted once, when it leaves."""

    def __init__(
        self,
        tokens: Mapping[int, int],
        figures: CompactionBudget,
        settings: ContextSettings,
        entries: Sequence[Entry],
    ) -> None:
        self._tokens = tokens
        self._figures = figures
        self._settings = settings
        self._entries_tokens = self._of(entries)
        self._leaving_tokens = 0
        self._own_tokens = 0  # of the user's messages among those that leave
        self.leaving: list[Entry] = []
        self.low = figures.low

    def leave(self, group: Sequence[Entry]) -> None:
        """Lets a turn or a round leave."""
        self.leaving.extend(group)
        self._leaving_tokens += self._of(group)
        self._own_tokens += self._of(own_messages(group))

    @property
    def unchanged(self) -> int:
        """Tokens of the request where nothing leaves."""
        return self._figures.fixed + self._figures.summaries + self._entries_tokens

    def size(self) -> int:
        """Tokens of the request after those entries have left."""
        if not self.leaving:
            return self.unchanged
        staying = self._entries_tokens - self._leaving_tokens
        return self._figures.fixed + self._summaries() + FRAME + staying

    def plan(self, kept: tuple[Entry, ...], pinned: Entry | None, turns: int) -> CompactionPlan:
        joins = self._joins()
        limit = self._joined_limit() if joins else self._limit()
        return CompactionPlan(tuple(self.leaving), kept, pinned, limit, joins, turns)

    def _of(self, entries: Iterable[Entry]) -> int:
        return sum(self._tokens.get(entry.seq, 0) for entry in entries)

    def _limit(self) -> int:
        """Maximum tokens of a summary of the entries that leave."""
        ceiling = min(self._settings.summary_tokens, max(SUMMARY_FLOOR, self._figures.high // 8))
        return min(ceiling, max(SUMMARY_FLOOR, int(self._leaving_tokens * SUMMARY_PART)))

    def _joins(self) -> bool:
        share = int(self._figures.high * self._settings.summaries_share)
        return self._figures.summaries > 0 and self._figures.summaries + self._limit() > share

    def _summaries(self) -> int:
        carried = min(self._figures.own, self._own_tokens) if self._figures.own else 0
        if self._joins():
            return self._joined_limit() + carried
        return self._figures.summaries + self._limit() + carried

    def _joined_limit(self) -> int:
        """Maximum tokens of a summary that replaces earlier ones, within the summaries' share."""
        share = int(self._figures.high * self._settings.summaries_share)
        return max(self._limit(), min(2 * self._settings.summary_tokens, int(share * 0.6)))
