"""Chooses the turns that leave when a request passes the high water mark. Pure."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from context.assembly.view import BranchView
from context.settings import ContextSettings
from memory.records import Entry, EntryKind
from models.messages import Role

SUMMARY_PART = 0.12  # of what leaves, that its summary takes
SUMMARY_FLOOR = 60
FRAME = 30  # tokens of zone B's frames and its reply
NEARLY_FULL = 0.85  # of the budget: the last turn stays where the request is no fuller than this with it


class CompactionBudget(Struct, frozen=True):
    """Tokens: `total` of a request, `fixed` outside the conversation (head and tail), of the summaries in view, and
    `low`, the target after the compaction.
    """

    total: int
    fixed: int
    summaries: int
    low: int


class CompactionPlan(Struct, frozen=True):
    """The entries that leave and those that stay. `pinned`: the running turn's question, kept though entries after it
    leave.

    `joins`: the new summary replaces the summaries in view.
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
        rest = [entry.seq for entry in self.kept if self.pinned is None or entry.seq != self.pinned.seq]
        return min(rest) if rest else None


def turns_of(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Groups entries by turn: each begins with a user's message (the first may not)."""
    return _split(entries, lambda entry: entry.kind is EntryKind.MESSAGE and entry.role is Role.USER)


def rounds_of(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Groups a turn's entries after its question by round: an assistant's message with the results of its calls."""
    return _split(entries, lambda entry: entry.kind is EntryKind.MESSAGE)


def _split(entries: Sequence[Entry], begins: Callable[[Entry], bool]) -> list[tuple[Entry, ...]]:
    found: list[list[Entry]] = []
    for entry in entries:
        if begins(entry) or not found:
            found.append([])
        found[-1].append(entry)
    return [tuple(one) for one in found]


def plan_entries(
    view: BranchView, tokens: Mapping[int, int], figures: CompactionBudget, settings: ContextSettings, *, running: bool
) -> CompactionPlan | None:
    """Chooses whole turns, oldest first, down to the low water mark; None where nothing can leave.

    While a turn is `running` its question stays, and its own older rounds leave only where all older turns are not
    enough.
    """
    turns = turns_of(view.entries)
    if not turns:
        return None
    current = turns.pop() if running else ()
    weigh = _CostEstimate(tokens, figures, settings)
    stay: list[tuple[Entry, ...]] = list(turns)
    gone: list[tuple[Entry, ...]] = []
    while stay and weigh.size(gone, [*stay, current]) > figures.low:
        if gone and len(stay) == 1 and weigh.size(gone, [*stay, current]) <= figures.total * NEARLY_FULL:
            break  # the last turn is what the next message is about
        gone.append(stay.pop(0))
    left_turns = len(gone)
    pinned: Entry | None = None
    if current and weigh.size(gone, [*stay, current]) > figures.total * settings.high_water:
        pinned, current = _shortened(current, gone, stay, weigh)
    if not gone or weigh.size(gone, [*stay, current]) >= weigh.size([], [*gone, *stay, current]):
        return None
    kept = tuple(entry for turn in [*stay, current] for entry in turn)
    return weigh.plan(gone, kept, pinned, left_turns)


def _shortened(
    current: tuple[Entry, ...], gone: list[tuple[Entry, ...]], stay: list[tuple[Entry, ...]], weigh: "_CostEstimate"
) -> tuple[Entry | None, tuple[Entry, ...]]:
    """The running turn without its older rounds; the last round always stays."""
    question, rounds = current[0], rounds_of(current[1:])
    before = len(gone)
    while len(rounds) > 1 and weigh.size(gone, [*stay, (question,), *rounds]) > weigh.low:
        gone.append(rounds.pop(0))
    shorter = (question, *(entry for one in rounds for entry in one))
    return (question if len(gone) > before else None), shorter


class _CostEstimate:
    def __init__(self, tokens: Mapping[int, int], figures: CompactionBudget, settings: ContextSettings) -> None:
        self._tokens = tokens
        self._figures = figures
        self._settings = settings
        self.low = figures.low

    def of(self, groups: Sequence[Sequence[Entry]]) -> int:
        return sum(self._tokens.get(entry.seq, 0) for group in groups for entry in group)

    def limit(self, gone: Sequence[Sequence[Entry]]) -> int:
        """The most tokens of a summary of these entries."""
        most = min(self._settings.summary_tokens, max(SUMMARY_FLOOR, self._figures.total // 8))
        return min(most, max(SUMMARY_FLOOR, int(self.of(gone) * SUMMARY_PART)))

    def joins(self, gone: Sequence[Sequence[Entry]]) -> bool:
        share = int(self._figures.total * self._settings.summaries_share)
        return self._figures.summaries > 0 and self._figures.summaries + self.limit(gone) > share

    def size(self, gone: Sequence[Sequence[Entry]], stay: Sequence[Sequence[Entry]]) -> int:
        """Tokens of the request after these entries have left."""
        if not gone:
            return self._figures.fixed + self._figures.summaries + self.of(stay)
        return self._figures.fixed + self._summaries(gone) + FRAME + self.of(stay)

    def _summaries(self, gone: Sequence[Sequence[Entry]]) -> int:
        if self.joins(gone):
            return self.joined_limit(gone)
        return self._figures.summaries + self.limit(gone)

    def joined_limit(self, gone: Sequence[Sequence[Entry]]) -> int:
        """The most tokens of a summary that replaces earlier ones, within the summaries' share."""
        share = int(self._figures.total * self._settings.summaries_share)
        return max(self.limit(gone), min(2 * self._settings.summary_tokens, int(share * 0.6)))

    def plan(
        self, gone: Sequence[Sequence[Entry]], kept: tuple[Entry, ...], pinned: Entry | None, turns: int
    ) -> CompactionPlan:
        joins = self.joins(gone)
        limit = self.joined_limit(gone) if joins else self.limit(gone)
        leaving = tuple(entry for group in gone for entry in group)
        return CompactionPlan(leaving, kept, pinned, limit, joins, turns)
