"""Selects the turns to archive when a request exceeds the high-water mark. Pure functions."""

from collections.abc import Callable, Mapping, Sequence

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
    estimate = _CostEstimate(tokens, figures, settings)
    staying: list[tuple[Entry, ...]] = list(turns)
    leaving: list[tuple[Entry, ...]] = []
    while staying and estimate.size(leaving, [*staying, current]) > figures.low:
        if leaving and len(staying) == 1 and estimate.size(leaving, [*staying, current]) <= figures.high * NEARLY_FULL:
            break  # the next message is about the last turn
        leaving.append(staying.pop(0))
    leaving_turns = len(leaving)
    pinned: Entry | None = None
    if current and estimate.size(leaving, [*staying, current]) > figures.high:
        pinned, current = _drop_older_rounds(current, leaving, staying, estimate)
    if not leaving or estimate.size(leaving, [*staying, current]) >= estimate.size([], [*leaving, *staying, current]):
        return None
    kept = tuple(entry for turn in [*staying, current] for entry in turn)
    return estimate.plan(leaving, kept, pinned, leaving_turns)


def _drop_older_rounds(
    current: tuple[Entry, ...],
    leaving: list[tuple[Entry, ...]],
    staying: list[tuple[Entry, ...]],
    estimate: "_CostEstimate",
) -> tuple[Entry | None, tuple[Entry, ...]]:
    """Moves the running turn's older rounds to `leaving`; the last round always stays."""
    question, rounds = current[0], rounds_of(current[1:])
    before = len(leaving)
    while len(rounds) > 1 and estimate.size(leaving, [*staying, (question,), *rounds]) > estimate.low:
        leaving.append(rounds.pop(0))
    shorter = (question, *(entry for round_ in rounds for entry in round_))
    return (question if len(leaving) > before else None), shorter


class _CostEstimate:
    """Estimated tokens of a request and its summary after a compaction."""

    def __init__(self, tokens: Mapping[int, int], figures: CompactionBudget, settings: ContextSettings) -> None:
        self._tokens = tokens
        self._figures = figures
        self._settings = settings
        self.low = figures.low

    def of(self, groups: Sequence[Sequence[Entry]]) -> int:
        return sum(self._tokens.get(entry.seq, 0) for group in groups for entry in group)

    def limit(self, leaving: Sequence[Sequence[Entry]]) -> int:
        """Maximum tokens of a summary of these entries."""
        ceiling = min(self._settings.summary_tokens, max(SUMMARY_FLOOR, self._figures.high // 8))
        return min(ceiling, max(SUMMARY_FLOOR, int(self.of(leaving) * SUMMARY_PART)))

    def joins(self, leaving: Sequence[Sequence[Entry]]) -> bool:
        share = int(self._figures.high * self._settings.summaries_share)
        return self._figures.summaries > 0 and self._figures.summaries + self.limit(leaving) > share

    def size(self, leaving: Sequence[Sequence[Entry]], staying: Sequence[Sequence[Entry]]) -> int:
        """Tokens of the request after these entries have left."""
        if not leaving:
            return self._figures.fixed + self._figures.summaries + self.of(staying)
        return self._figures.fixed + self._summaries(leaving) + FRAME + self.of(staying)

    def _summaries(self, leaving: Sequence[Sequence[Entry]]) -> int:
        own = sum(self._tokens.get(entry.seq, 0) for group in leaving for entry in own_messages(group))
        carried = min(self._figures.own, own) if self._figures.own else 0
        if self.joins(leaving):
            return self.joined_limit(leaving) + carried
        return self._figures.summaries + self.limit(leaving) + carried

    def joined_limit(self, leaving: Sequence[Sequence[Entry]]) -> int:
        """Maximum tokens of a summary that replaces earlier ones, within the summaries' share."""
        share = int(self._figures.high * self._settings.summaries_share)
        return max(self.limit(leaving), min(2 * self._settings.summary_tokens, int(share * 0.6)))

    def plan(
        self, leaving: Sequence[Sequence[Entry]], kept: tuple[Entry, ...], pinned: Entry | None, turns: int
    ) -> CompactionPlan:
        joins = self.joins(leaving)
        limit = self.joined_limit(leaving) if joins else self.limit(leaving)
        entries = tuple(entry for group in leaving for entry in group)
        return CompactionPlan(entries, kept, pinned, limit, joins, turns)
