"""Which memories a newer one contradicts: shown still, behind the newer one, and said to be superseded.

Rules for English and Chinese, sentence against sentence of one person: the same subject and the same frame of words,
and in it another value (a time, an amount, a name, a place), or a “no longer”. They would rather miss one than be
wrong: what happened twice, what two people are, what is only asked or supposed, supersedes nothing.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memory.search.query.query import NOTE, Hit
from memory.search.results.features import FeaturesOf, afresh
from memory.search.results.statements import Statement
from models.messages import Role

_LOOKED_AT = 30  # hits of a page that are compared with each other
_FRAME = 0.6  # of the shorter sentence's words are the other's too


def superseded(hits: Sequence[Hit], worth: Mapping[str, float], look: FeaturesOf = afresh) -> list[Hit]:
    """The same hits: those that a newer one contradicts name it, and it stands before them."""
    said = [_statements(hit, worth, look) if n < _LOOKED_AT else () for n, hit in enumerate(hits)]
    by = {n: newest for n in range(len(hits)) if said[n] and (newest := _newest(n, hits, said)) is not None}
    if not by:
        return list(hits)
    shown = [replace(hit, superseded_by=hits[by[n]].id) if n in by else hit for n, hit in enumerate(hits)]
    placed = {newer: min(older for older, its in by.items() if its == newer) for newer in by.values()}
    order = sorted(range(len(hits)), key=lambda n: (min(n, placed.get(n, n)), n not in placed, n))
    return [shown[n] for n in order]


def _newest(n: int, hits: Sequence[Hit], said: Sequence[tuple[Statement, ...]]) -> int | None:
    """The newest hit that contradicts hit `n`."""
    others = [
        m
        for m, hit in enumerate(hits)
        if said[m]
        and _is_newer(hit, hits[n])
        and _same_source(hit, hits[n])
        and any(contradicts(new, old) for new in said[m] for old in said[n])
    ]
    return max(others, key=lambda m: (hits[m].time or 0, -m), default=None)


def _statements(hit: Hit, worth: Mapping[str, float], look: FeaturesOf) -> tuple[Statement, ...]:
    if hit.time is None or (hit.kind != NOTE and hit.role != Role.USER.value):
        return ()
    return tuple(one for one in look(hit).statements if not worth or not one.all_terms.isdisjoint(worth))


def _is_newer(one: Hit, other: Hit) -> bool:
    return one.time is not None and other.time is not None and one.time > other.time


def _same_source(one: Hit, other: Hit) -> bool:
    """One person said both, or both are notes."""
    if NOTE in (one.kind, other.kind):
        return one.kind == other.kind
    return one.speaker.casefold() == other.speaker.casefold()


def contradicts(new: Statement, old: Statement) -> bool:
    """Whether the newer statement takes the place of the older."""
    if not new.subject or new.subject != old.subject:
        return False
    if new.denies != old.denies:
        return new.denies and new.values == old.values and _same_frame(new, old, least=1 if new.changes else 2)
    return _names_the_old(new, old) or _says_otherwise(new, old, _differing(new, old))


def _says_otherwise(new: Statement, old: Statement, kinds: Sequence[str]) -> bool:
    """Whether one value is another; `kinds` are of those that differ."""
    slot = _slot_differs(new, old)
    if not kinds:
        return slot and new.values == old.values
    if kinds == ["name"] and not new.changes and not slot:
        return False  # one may love Rome and Paris
    return len(kinds) == 1 and _same_frame(new, old, least=1)


def _differing(new: Statement, old: Statement) -> list[str]:
    """The kind of each value that the other lacks, where both have such: two of a kind may be of two things."""
    mine = sorted(kind for kind, _ in new.values - old.values)
    theirs = sorted(kind for kind, _ in old.values - new.values)
    return max(mine, theirs, key=len) if set(mine) & set(theirs) else []


def _same_frame(new: Statement, old: Statement, *, least: int) -> bool:
    """The words beside values and signs of change are those of the other, and no two of them stand for each other."""
    shared = new.frame & old.frame
    mine, theirs = new.frame - shared, old.frame - shared
    if len(shared) < least or (mine and theirs and not new.changes):
        return False
    return len(shared) >= _FRAME * min(len(new.frame), len(old.frame)) and len(mine) <= 2 and len(theirs) <= 2


def _slot_differs(new: Statement, old: Statement) -> bool:
    """Whether they are alike up to what has one value at a time, and there say another."""
    return bool(new.slot and old.slot and new.slot[0] == old.slot[0] and new.slot[1] != old.slot[1])


def _names_the_old(new: Statement, old: Statement) -> bool:
    """“From Jira to Linear”, where the older says Jira and not Linear."""
    if new.instead is None or not (old.slot or new.frame & old.frame):
        return False
    return new.instead[0] <= old.all_terms and not new.instead[1] & old.all_terms
