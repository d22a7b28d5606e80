"""Contradictions: a hit that a newer one contradicts is shown behind it, marked as superseded.

Rules for English and Chinese compare sentences of one person: the same subject and the same frame of words, with
another value in it (a time, an amount, a name, a place), or a “no longer”. What people type casually has no such form:
there a likelihood decides (supersession.py). Both prefer precision to recall: repeated events, statements about two
persons, questions and suppositions supersede nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from foundation.text.analysis import term_list
from foundation.text.chinese_questions import chinese_terms
from foundation.text.stopwords import is_weak
from memory.search.query.query import NOTE, Hit
from memory.search.results.features import FeaturesOf, TextFeatures, features_of
from memory.search.results.statements import Statement
from memory.search.results.supersession import THRESHOLD, superseding_likelihood
from memory.search.results.utterances import Utterance
from models.messages import Role

_COMPARED = 30  # hits of a page that are compared with each other
_LEAST_SCORE = 0.7  # of the older hit's: what answers the question much worse seldom replaces the answer
_FRAME = 0.6  # share of the shorter sentence's words that the other has too
_SERIES = re.compile(
    r"(?:^\W*(?P<thing>(?:[^\W\d]+[ #]+){1,4})"
    r"|\b(?P<label>number|no\.?|nr\.?|message|line|item|entry|question|answer|part|chapter|step|page|record|turn|section)"
    r" ?#?|(?P<han>消息|问题|条目|第|行|章|页) ?)(?P<number>\d+)(?![\d.,:]*\d|\s*[%€$£¥])",
    re.IGNORECASE,
)


def mark_superseded(hits: Sequence[Hit], worth: Mapping[str, float], look: FeaturesOf = features_of) -> list[Hit]:
    """The same hits; a contradicted one names the newer hit, which is placed before it."""
    compared = [_compared(hit, worth, look) if n < _COMPARED else None for n, hit in enumerate(hits)]
    by = {n: newest for n in range(len(hits)) if (newest := _newest(n, hits, compared)) is not None}
    if not by:
        return list(hits)
    shown = [replace(hit, superseded_by=hits[by[n]].id) if n in by else hit for n, hit in enumerate(hits)]
    placed = {newer: min(older for older, newest in by.items() if newest == newer) for newer in by.values()}
    order = sorted(range(len(hits)), key=lambda n: (min(n, placed.get(n, n)), n not in placed, n))
    return [shown[n] for n in order]


def superseded_texts(texts: Sequence[tuple[str, str]], about: str) -> dict[int, int]:
    """Maps the index of each text that its speaker contradicts later to the index of the newest such text.

    `texts` are speakers and what they said, oldest first. Only texts with a content word of `about` are compared, the
    newest of them.
    """
    characters = frozenset(chinese_terms(about).further)
    terms = _content_terms(about) | characters
    shared = {
        n: len(terms & (_content_terms(text) | characters.intersection(text))) for n, (_, text) in enumerate(texts)
    }
    about_it = [n for n, count in shared.items() if count][-_COMPARED:]
    compared = {n: _of_text(TextFeatures(texts[n][1]), shared[n]) for n in about_it}
    found: dict[int, int] = {}
    for old in about_it:
        newer = [n for n in about_it if n > old and texts[n][0].casefold() == texts[old][0].casefold()]
        newest = next((n for n in reversed(newer) if _supersedes(compared[n], compared[old])), None)
        if newest is not None:
            found[old] = newest
    return found


def _content_terms(text: str) -> set[str]:
    return {term for term in term_list(text) if not is_weak(term)}


def _of_text(features: TextFeatures, score: float) -> "_Compared":
    return _Compared(score, features.statements, features.utterance, features.text)


class _Compared(NamedTuple):
    """What is compared of a hit. The score is the search's, 0 to 1."""

    score: float
    statements: tuple[Statement, ...]
    utterance: Utterance
    text: str


def _newest(n: int, hits: Sequence[Hit], compared: Sequence[_Compared | None]) -> int | None:
    """The newest hit that contradicts hit `n`."""
    old = compared[n]
    if old is None:
        return None
    others = [
        m
        for m, (hit, new) in enumerate(zip(hits, compared, strict=True))
        if new is not None and _is_newer(hit, hits[n]) and _same_source(hit, hits[n]) and _supersedes(new, old)
    ]
    return max(others, key=lambda m: (hits[m].repeated or hits[m].time or 0, -m), default=None)


def _supersedes(new: _Compared, old: _Compared) -> bool:
    if _of_one_series(new, old):
        return False
    if new.utterance.people <= old.utterance.people and any(
        contradicts(statement, older) for statement in new.statements for older in old.statements
    ):
        return True
    if new.score < _LEAST_SCORE * old.score:
        return False
    return superseding_likelihood(new.utterance, old.utterance) >= THRESHOLD


def _of_one_series(new: _Compared, old: _Compared) -> bool:
    """Whether both have a number of the same thing: “Message 12” says nothing about “Message 13”."""
    if new.utterance.signs:
        return False
    numbers, before = _numbered(new.text), _numbered(old.text)
    return any(numbers[thing] != before[thing] for thing in numbers.keys() & before.keys())


def _numbered(text: str) -> dict[str, str]:
    """The number of each thing that a text numbers."""
    matches = _SERIES.finditer(text)
    return {(match["thing"] or match["label"] or match["han"]).casefold().strip(): match["number"] for match in matches}


def _compared(hit: Hit, worth: Mapping[str, float], look: FeaturesOf) -> _Compared | None:
    if hit.time is None or (hit.kind != NOTE and hit.role != Role.USER.value):
        return None
    features = look(hit)
    statements = (each for each in features.statements if not worth or not each.all_terms.isdisjoint(worth))
    return _Compared(hit.score, tuple(statements), features.utterance, features.text)


def _is_newer(hit: Hit, other: Hit) -> bool:
    """Whether the hit was said, or said again, after the other."""
    said, said_before = hit.repeated or hit.time, other.repeated or other.time
    return said is not None and said_before is not None and said > said_before


def _same_source(hit: Hit, other: Hit) -> bool:
    """Whether both are of one speaker, or both are notes."""
    if NOTE in (hit.kind, other.kind):
        return hit.kind == other.kind
    return hit.speaker.casefold() == other.speaker.casefold()


def contradicts(new: Statement, old: Statement) -> bool:
    """Whether the newer statement supersedes the older."""
    if new.leaves(old):
        return True
    if not new.subject or new.subject != old.subject:
        return False
    if new.denies != old.denies:
        return new.denies and new.values == old.values and _same_frame(new, old, least=1 if new.changes else 2)
    return _names_the_old(new, old) or _changes_value(new, old, _differing(new, old))


def _changes_value(new: Statement, old: Statement, kinds: Sequence[str]) -> bool:
    """Whether exactly one value differs; `kinds` are the kinds of the differing values."""
    slot = _slot_differs(new, old)
    if not kinds:
        return slot and new.values == old.values
    if kinds == ["name"] and not new.changes and not slot:
        return False  # one may love Rome and Paris
    return len(kinds) == 1 and _same_frame(new, old, least=1)


def _differing(new: Statement, old: Statement) -> list[str]:
    """Kinds of the values that the other statement lacks, where both have such: two values of a kind may be of two
    things."""
    new_kinds = sorted(kind for kind, _ in new.values - old.values)
    old_kinds = sorted(kind for kind, _ in old.values - new.values)
    return max(new_kinds, old_kinds, key=len) if set(new_kinds) & set(old_kinds) else []


def _same_frame(new: Statement, old: Statement, *, least: int) -> bool:
    """Whether the other words, without values and signs of change, are largely the same, and none replaces another."""
    shared = new.frame & old.frame
    new_words, old_words = new.frame - shared, old.frame - shared
    if len(shared) < least or (new_words and old_words and not new.changes):
        return False
    return len(shared) >= _FRAME * min(len(new.frame), len(old.frame)) and len(new_words) <= 2 and len(old_words) <= 2


def _slot_differs(new: Statement, old: Statement) -> bool:
    """Whether both fill the same single-valued slot, with different values."""
    return bool(new.slot and old.slot and new.slot[0] == old.slot[0] and new.slot[1] != old.slot[1])


def _names_the_old(new: Statement, old: Statement) -> bool:
    """“From Jira to Linear”, where the older says Jira and not Linear."""
    if new.instead is None or not (old.slot or new.frame & old.frame):
        return False
    return new.instead[0] <= old.all_terms and not new.instead[1] & old.all_terms
