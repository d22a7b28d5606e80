"""Forgetting: selects what stays in view when everything added would exceed the budget of vision tokens. Pure.

The selection is computed anew from current scores, so nothing is lost by it: raise an importance, use a memory, or
raise the budget, and what was out of view is in view again. The archive is not touched.

In this order, and only while the budget is exceeded (seed 001): memories that score under 3.0 leave the view, the
lowest first; those used more than 10 times go to a smaller mode, the lowest first, a step at a time; of near-duplicates
the one that scores highest stands for both. Where that is not enough, the rest stays: no question is given more than
its budget of it anyway.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from memory.pages.render.modes import MODES

OUT_UNDER = 3.0
USED_MORE_THAN = 10
_SIDES = tuple(MODES)  # tiny … large
_TOKENS = {name: mode.vision_tokens for name, mode in MODES.items()}

SimilarPairs = Callable[[Sequence[int]], Sequence[tuple[int, int]]]
"""Gives the near-duplicate pairs among these memories (by seq)."""


class MemoryWeight(Struct, frozen=True):
    """The inputs of forgetting for one memory. `views` is the count of its pages or pictures by mode."""

    seq: int
    score: float
    accesses: int
    views: Mapping[str, int]


class ViewState(Struct, frozen=True):
    """Whether and how a memory is in view. `mode` is the largest that its pages are shown in; `stood_for_by` is
    the seq of its twin."""

    seq: int
    in_view: bool
    mode: str
    tokens: int  # in view
    stood_for_by: int | None = None

    @property
    def state(self) -> str:
        """in view | merged | out of view"""
        if self.in_view:
            return "in view"
        return "out of view" if self.stood_for_by is None else "merged"


def view_states(memories: Sequence[MemoryWeight], budget: int, alike: SimilarPairs) -> dict[int, ViewState]:
    """The view state of each memory, by seq. `alike` is called only where the first two rules do not suffice."""
    found = {memory.seq: _fully_in_view(memory) for memory in memories}
    over = sum(state.tokens for state in found.values()) - budget
    lowest_first = sorted(memories, key=lambda memory: (memory.score, memory.seq))
    over = _remove_lowest(found, lowest_first, over)
    over = _reduce_modes(found, lowest_first, over)
    _merge(found, lowest_first, over, alike)
    return found


def tokens_at(views: Mapping[str, int], mode: str) -> int:
    """Vision tokens of so many pages, none of them larger than `mode`."""
    most = _TOKENS[mode]
    return sum(count * min(_TOKENS[name], most) for name, count in views.items())


def tokens_within(best_first: Iterable[tuple[Mapping[str, int], str]], budget: int) -> int:
    """Vision tokens of as many pages as the budget holds, of memories given by their views and their modes."""
    used = 0
    for views, mode in best_first:
        for name, count in views.items():
            memory = min(_TOKENS[name], _TOKENS[mode])
            used += memory * min(count, (budget - used) // memory)
    return used


def _fully_in_view(memory: MemoryWeight) -> ViewState:
    largest = max((name for name, count in memory.views.items() if count), key=_SIDES.index, default=_SIDES[0])
    return ViewState(memory.seq, True, largest, tokens_at(memory.views, largest))


def _remove_lowest(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int) -> int:
    for memory in lowest_first:
        if over <= 0 or memory.score >= OUT_UNDER:
            break
        over -= found[memory.seq].tokens
        found[memory.seq] = _out_of_view_state(found[memory.seq], None)
    return over


def _reduce_modes(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int) -> int:
    much_used = [memory for memory in lowest_first if memory.accesses > USED_MORE_THAN and found[memory.seq].in_view]
    for step in reversed(_SIDES[:-1]):
        for memory in much_used:
            view_state = found[memory.seq]
            if over <= 0:
                return over
            if _SIDES.index(view_state.mode) > _SIDES.index(step):
                tokens = tokens_at(memory.views, step)
                over -= view_state.tokens - tokens
                found[memory.seq] = ViewState(memory.seq, True, step, tokens)
    return over


def _merge(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int, alike: SimilarPairs) -> None:
    if over <= 0:
        return
    rank = {memory.seq: place for place, memory in enumerate(lowest_first)}
    pairs = alike([seq for seq, view_state in found.items() if view_state.in_view])
    for pair in sorted(pairs, key=lambda both: min(rank[both[0]], rank[both[1]])):
        lower, higher = sorted(pair, key=rank.__getitem__)
        if over <= 0:
            return
        if found[lower].in_view and found[higher].in_view:
            over -= found[lower].tokens
            found[lower] = _out_of_view_state(found[lower], higher)


def _out_of_view_state(view_state: ViewState, twin: int | None) -> ViewState:
    return ViewState(view_state.seq, False, view_state.mode, 0, twin)
