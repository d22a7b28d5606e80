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
"""Of these memories (by seq), the pairs that are near-duplicates."""


class MemoryWeight(Struct, frozen=True):
    """A memory, as forgetting sees it. `views` says how many pages or pictures it has in each mode."""

    seq: int
    score: float
    accesses: int
    views: Mapping[str, int]


class ViewState(Struct, frozen=True):
    """Where a memory stands. `mode` is the largest that its pages are shown in; `stood_for_by` the seq of its twin."""

    seq: int
    in_view: bool
    mode: str
    tokens: int  # that it takes in view
    stood_for_by: int | None = None

    @property
    def state(self) -> str:
        """in view | merged | out of view"""
        if self.in_view:
            return "in view"
        return "out of view" if self.stood_for_by is None else "merged"


def standings(memories: Sequence[MemoryWeight], budget: int, alike: SimilarPairs) -> dict[int, ViewState]:
    """By seq. `alike` is asked only where the first two rules do not suffice."""
    found = {each.seq: _whole(each) for each in memories}
    over = sum(one.tokens for one in found.values()) - budget
    lowest_first = sorted(memories, key=lambda each: (each.score, each.seq))
    over = _out_of_view(found, lowest_first, over)
    over = _smaller(found, lowest_first, over)
    _merge(found, lowest_first, over, alike)
    return found


def tokens_at(views: Mapping[str, int], mode: str) -> int:
    """Vision tokens of so many pages, none of them larger than `mode`."""
    most = _TOKENS[mode]
    return sum(count * min(_TOKENS[name], most) for name, count in views.items())


def filled(best_first: Iterable[tuple[Mapping[str, int], str]], budget: int) -> int:
    """Vision tokens of as many pages as the budget holds, of memories given by their views and their modes."""
    used = 0
    for views, mode in best_first:
        for name, count in views.items():
            each = min(_TOKENS[name], _TOKENS[mode])
            used += each * min(count, (budget - used) // each)
    return used


def _whole(memory: MemoryWeight) -> ViewState:
    largest = max((name for name, count in memory.views.items() if count), key=_SIDES.index, default=_SIDES[0])
    return ViewState(memory.seq, True, largest, tokens_at(memory.views, largest))


def _out_of_view(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int) -> int:
    for memory in lowest_first:
        if over <= 0 or memory.score >= OUT_UNDER:
            break
        over -= found[memory.seq].tokens
        found[memory.seq] = _gone(found[memory.seq], None)
    return over


def _smaller(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int) -> int:
    much_used = [each for each in lowest_first if each.accesses > USED_MORE_THAN and found[each.seq].in_view]
    for step in reversed(_SIDES[:-1]):
        for memory in much_used:
            standing = found[memory.seq]
            if over <= 0:
                return over
            if _SIDES.index(standing.mode) > _SIDES.index(step):
                tokens = tokens_at(memory.views, step)
                over -= standing.tokens - tokens
                found[memory.seq] = ViewState(memory.seq, True, step, tokens)
    return over


def _merge(found: dict[int, ViewState], lowest_first: Sequence[MemoryWeight], over: int, alike: SimilarPairs) -> None:
    if over <= 0:
        return
    rank = {memory.seq: place for place, memory in enumerate(lowest_first)}
    pairs = alike([seq for seq, standing in found.items() if standing.in_view])
    for pair in sorted(pairs, key=lambda both: min(rank[both[0]], rank[both[1]])):
        lower, higher = sorted(pair, key=rank.__getitem__)
        if over <= 0:
            return
        if found[lower].in_view and found[higher].in_view:
            over -= found[lower].tokens
            found[lower] = _gone(found[lower], higher)


def _gone(standing: ViewState, twin: int | None) -> ViewState:
    return ViewState(standing.seq, False, standing.mode, 0, twin)
