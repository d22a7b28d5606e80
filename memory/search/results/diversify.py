"""Folding: of hits that say the same, one is shown, and it counts the others.

What is shown stands where the best of them was found: the one that is exact where others are not, and of those the
newest. Hits that differ in a value (a date, an amount, a name, a “not”) say different things however alike they look.
A thousand that are alike are folded without comparing each with each: what may be alike shares one of a few sampled
shingles, after Manber, "Finding similar files in a large file system" (1994).

Spreading: one conversation, or one file, does not fill the page where others answer as well.

Its first hits stand where they were found. Each further one gives way to hits of others that are nearly as good, and to
no worse ones: where all that answers is in one conversation, nothing changes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from foundation.text.similarity import alike
from foundation.trust import Trust
from memory.search.query.query import Hit
from memory.search.results.features import FeaturesOf, TextFeatures, afresh
from memory.search.results.values import differ
from models.messages import Role

_MOST_SHARING = 64  # hits looked at that share one shingle
_MOST_COMPARED = 8  # of those that share most
_OWN = frozenset({"", Role.USER.value})


def folded(hits: Iterable[Hit], wanted: int, look: FeaturesOf = afresh) -> list[Hit]:
    """The first `wanted` hits that differ, and one more where there is one, in their order."""
    folds = _DuplicateGroups(look)
    for hit in hits:
        folds.add(hit)
        if len(folds.groups) > wanted:
            break
    return [_face(group) for group in folds.groups]


class _Group:
    """Hits that say the same, best first."""

    def __init__(self, hit: Hit, words: TextFeatures) -> None:
        self.words = words
        self.hits = [hit]

    def holds(self, hit: Hit, words: TextFeatures) -> bool:
        if not alike(self.words.shingles, words.shingles) or _said_by_others(self.hits[0], hit):
            return False
        return not differ(self.words.said, words.said)


class _DuplicateGroups:
    """Groups, and for each sampled shingle the groups that have it."""

    def __init__(self, look: FeaturesOf) -> None:
        self._look = look
        self.groups: list[_Group] = []
        self._having: dict[int, list[int]] = {}

    def add(self, hit: Hit) -> None:
        words = self._look(hit)
        if twin := self._twin(hit, words):
            twin.hits.append(hit)
            return
        for one in words.sample:
            self._having.setdefault(one, []).append(len(self.groups))
        self.groups.append(_Group(hit, words))

    def _twin(self, hit: Hit, words: TextFeatures) -> _Group | None:
        shared = Counter[int]()
        for one in words.sample:
            shared.update(self._having.get(one, ())[:_MOST_SHARING])
        near = (self.groups[place] for place, _ in shared.most_common(_MOST_COMPARED))
        return next((group for group in near if group.holds(hit, words)), None)


def _said_by_others(one: Hit, other: Hit) -> bool:
    """Whether two people said it, each of themselves."""
    both = one.role in _OWN and other.role in _OWN
    return both and bool(one.speaker and other.speaker) and one.speaker.casefold() != other.speaker.casefold()


def _face(group: _Group) -> Hit:
    """The exact one, and of several the newest, with the place and the score of the best."""
    if len(group.hits) == 1:
        return group.hits[0]
    best = group.hits[0]
    face = max(group.hits, key=lambda hit: (hit.trust is Trust.EXACT, hit.time.timestamp() if hit.time else 0.0))
    others = tuple(hit.id for hit in group.hits if hit is not face)
    return replace(face, score=best.score, parts=best.parts, like=others)


FREE = 0.6  # of a page: so many hits of one conversation give way to nobody
AGAIN = 0.1  # of its score, what each further one yields
MOST = 0.3


def spread(hits: Sequence[Hit], page: int) -> list[Hit]:
    """The same hits in the order in which they are shown, so many on a page."""
    free = int(FREE * page)
    before = Counter[str]()
    placed: list[tuple[float, Hit]] = []
    for hit in hits:
        place = hit.conversation or hit.citation.ref
        placed.append((hit.score * (1 - min(MOST, AGAIN * max(0, before[place] - free + 1))), hit))
        before[place] += 1
    return [hit for _, hit in sorted(placed, key=lambda one: -one[0])]
