"""What recall need not bring: text that a summary in view holds, and a model's words for what the person says.

A summary has the sentences of its turns, some of them shortened: a passage is in it where each of its sentences is. An
unverified answer says again what the person says where a text of theirs has HALF of the content terms and all values of
those sentences that match the message. (Of other answers those that repeat are derived: memory/repetition.py.)
"""

from collections.abc import Iterable, Sequence
from typing import Final

from foundation.text.analysis import plain_words, term_list
from foundation.text.sentences import sentences
from foundation.text.stopwords import is_weak
from memory.search import Hit
from memory.search.results.values import values
from models.messages import Role

HALF: Final = 0.5
IN_SUMMARY: Final = 0.8  # of a sentence's runs of three words
MOST_OWN: Final = 40  # texts of the person that an answer is compared with
_MOST_CHARACTERS: Final = 2_000
_Stated = tuple[frozenset[str], frozenset[str]]


def without_held(hits: Sequence[Hit], summaries: Iterable[str], own: Sequence[str]) -> list[Hit]:
    """The hits but those that the summaries hold, and unverified answers that say what the person says: in one of
    the hits, or in one of the messages `own`."""
    held = frozenset(run for text in summaries for line in text.split("\n") for run in _runs(line))
    held |= {(word,) for run in held for word in run}
    kept = [hit for hit in hits if not (held and _is_held(hit.snippet, held))]
    if not any(hit.unverified for hit in kept):
        return kept
    said = (hit.snippet for hit in hits if hit.role == Role.USER)
    known = [_stated(text) for text in [*own[-MOST_OWN // 2 :], *said][:MOST_OWN]]
    return [hit for hit in kept if not (hit.unverified and _says_again(hit, known))]


def _is_held(text: str, held: frozenset[tuple[str, ...]]) -> bool:
    found = [_runs(sentence.text) for sentence in sentences(text)]
    return all(len(runs & held) >= IN_SUMMARY * len(runs) for runs in found)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = [*plain_words(text.casefold())]
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset((word,) for word in words)


def _says_again(hit: Hit, known: Sequence[_Stated]) -> bool:
    spans = [start for start, _ in hit.marks]
    pieces = sentences(hit.snippet)
    matching = [piece.text for piece in pieces if any(piece.start <= start < piece.end for start in spans)]
    terms, claims = _stated("\n".join(matching) or hit.snippet)
    return bool(terms) and any(claims <= said and len(terms & own) >= HALF * len(terms) for own, said in known)


def _stated(text: str) -> _Stated:
    """The content terms of a text, and the values in it: numbers, dates, names."""
    text = text[:_MOST_CHARACTERS]
    terms = frozenset(term for term in term_list(text) if not is_weak(term))
    return terms, frozenset(value.value for value in values(text))
