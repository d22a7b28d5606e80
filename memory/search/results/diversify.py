"""Deduplication and diversification of hits.

Deduplication: of near-duplicates one is shown, and lists the others. It takes the rank of the best of them. It is the
source: an exact one where others are not, of the preferred origin (memory/origin.py), and the earliest. Hits that
differ in a value (a date, an amount, a name, a “not”) are no duplicates however similar they look. A thousand
near-duplicates are grouped without pairwise comparison: candidates share one of a few sampled shingles, after Manber,
"Finding similar files in a large file system" (1994).

Diversification: one conversation, or one file, does not fill the page where others answer as well. Its first hits keep
their rank. Each further one is ranked behind hits of others that are nearly as good, and no worse ones: where all
answers are in one conversation, nothing changes.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from foundation.text.similarity import alike
from foundation.trust import Trust
from memory.search.query.query import Hit
from memory.search.results.features import FeaturesOf, TextFeatures, features_of
from memory.search.results.values import differ
from models.messages import Role

_MOST_SHARING = 64  # hits looked at that share one shingle
_MOST_COMPARED = 8  # of those that share most
_OWN = frozenset({"", Role.USER.value})


def deduplicate(hits: Iterable[Hit], wanted: int, look: FeaturesOf = features_of) -> list[Hit]:
    """The first `wanted` distinct hits, and one more where there is one, in their order."""
    folds = _DuplicateGroups(look)
    for hit in hits:
        folds.add(hit)
        if len(folds.groups) > wanted:
            break
    return [_representative(group) for group in folds.groups]


class _Group:
    """Near-duplicate hits, best first."""

    def __init__(self, hit: Hit, features: TextFeatures) -> None:
        self.features = features
        self.hits = [hit]

    def holds(self, hit: Hit, features: TextFeatures) -> bool:
        if not alike(self.features.shingles, features.shingles) or _of_two_speakers(self.hits[0], hit):
            return False
        return not differ(self.features.claims, features.claims)


class _DuplicateGroups:
    """Groups, and for each sampled shingle the groups that have it."""

    def __init__(self, look: FeaturesOf) -> None:
        self._look = look
        self.groups: list[_Group] = []
        self._having: dict[int, list[int]] = {}

    def add(self, hit: Hit) -> None:
        features = self._look(hit)
        if twin := self._duplicate_of(hit, features):
            twin.hits.append(hit)
            return
        for shingle in features.sample:
            self._having.setdefault(shingle, []).append(len(self.groups))
        self.groups.append(_Group(hit, features))

    def _duplicate_of(self, hit: Hit, features: TextFeatures) -> _Group | None:
        shared = Counter[int]()
        for shingle in features.sample:
            shared.update(self._having.get(shingle, ())[:_MOST_SHARING])
        likely = (self.groups[index] for index, _ in shared.most_common(_MOST_COMPARED))
        return next((group for group in likely if group.holds(hit, features)), None)


def _of_two_speakers(hit: Hit, other: Hit) -> bool:
    """Whether the hits are of two speakers, each about themselves."""
    both = hit.role in _OWN and other.role in _OWN
    return both and bool(hit.speaker and other.speaker) and hit.speaker.casefold() != other.speaker.casefold()


def _representative(group: _Group) -> Hit:
    """The source: an exact hit, of the preferred origin, the earliest; with the rank and the score of the best."""
    if len(group.hits) == 1:
        return group.hits[0]
    best = group.hits[0]
    face = min(group.hits, key=_preference)
    others = tuple(dict.fromkeys(hit.id for hit in group.hits if hit.id != face.id))  # a page may have two entries
    said = [hit.time for hit in group.hits if hit.time and hit.origin is face.origin]
    return replace(face, score=best.score, parts=best.parts, like=others, repeated=max(said, default=None))


def _preference(hit: Hit) -> tuple[bool, int, float]:
    return hit.trust is not Trust.EXACT, hit.origin.rank, hit.time.timestamp() if hit.time else math.inf


FREE = 0.6  # share of a page: so many hits of one conversation keep their score
AGAIN = 0.1  # share of its score that each further hit loses, up to MOST
MOST = 0.3


def diversify_hits(hits: Sequence[Hit], page: int) -> list[Hit]:
    """Reorders the hits for pages of `page` hits each."""
    free = int(FREE * page)
    counts = Counter[str]()
    scored: list[tuple[float, Hit]] = []
    for hit in hits:
        source = hit.conversation or hit.citation.ref
        scored.append((hit.score * (1 - min(MOST, AGAIN * max(0, counts[source] - free + 1))), hit))
        counts[source] += 1
    return [hit for _, hit in sorted(scored, key=lambda pair: -pair[0])]
