"""Recall: what memory has on a message, in passages of about 200 tokens, within a share of the budget."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from context.counting import Counting, fitted
from context.fence import fenced
from memory.search import Hit, Query, Results
from models.messages import Recalled

SHORT_MESSAGE = 6  # words: a message as short as this leans on the one before it
ALIKE = 0.8  # of their word triples: the same thing said twice
LOOKED_AT = 3  # times as many hits as are wanted, so that folding leaves enough
CLOSE = 0.03  # of the best score: hits within one such step below it are taken newest first

_WORD = re.compile(r"[\w']+|[\u3400-\u9fff]")


class Wanted(Struct, frozen=True):
    """What to recall for: the message, the one before it, and what is in view already."""

    text: str
    before: str = ""
    entries: frozenset[int] = frozenset()
    notes: frozenset[str] = frozenset()
    shown: tuple[tuple[str, str], ...] = ()  # passages recalled before and still in view: reference, text


class Limits(Struct, frozen=True):
    """Tokens in all, tokens a passage, and passages."""

    tokens: int
    passage: int
    most: int


def question(text: str, before: str) -> str:
    """What is searched for: the message, and where it is short the words of the user's previous one."""
    words = _WORD.findall(text)
    if len(words) >= SHORT_MESSAGE or not before:
        return text
    return f"{text}\n{' '.join(_WORD.findall(before)[:40])}"


def recalled(
    search: Callable[[Query], Results], wanted: Wanted, limits: Limits, counting: Counting
) -> tuple[Recalled, ...]:
    """The passages, most relevant first, the newest first among equals. Nothing where nothing is relevant."""
    if not wanted.text.strip() or limits.most == 0 or limits.tokens <= 0:
        return ()
    text = question(wanted.text, wanted.before)
    results = search(
        Query(text=text, limit=limits.most * LOOKED_AT, exclude=wanted.entries, window_tokens=limits.passage)
    )
    if not results.found:
        return ()
    hits = [hit for hit in results.hits if not _in_view(hit, wanted)]
    return _within(_folded(_ranked(hits)), limits, counting)


def _in_view(hit: Hit, wanted: Wanted) -> bool:
    if hit.entry in wanted.entries or (hit.note is not None and hit.note in wanted.notes):
        return True
    if _echoes(hit, wanted.text):
        return True  # the same question, asked before: its words are in view
    said = [text for ref, text in wanted.shown if ref == hit.citation.ref]
    return bool(said) and any(_alike(_triples(hit.snippet), _triples(text)) for text in said)


def _echoes(hit: Hit, text: str) -> bool:
    """Whether the hit holds nothing beyond the message itself."""
    said, asked = _triples(hit.snippet), _triples(text)
    return len(said) <= 1.25 * len(asked) and _alike(said, asked)


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return sorted(
        hits, key=lambda hit: (int((best - hit.score) / best / CLOSE), -(hit.time.timestamp() if hit.time else 0.0))
    )


def _folded(hits: Sequence[Hit]) -> list[Hit]:
    """Of passages that say the same, the first."""
    kept: list[tuple[Hit, frozenset[tuple[str, ...]]]] = []
    for hit in hits:
        triples = _triples(hit.snippet)
        if not any(_alike(triples, other) for _, other in kept):
            kept.append((hit, triples))
    return [hit for hit, _ in kept]


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < 3:
        return frozenset([tuple(words)])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    smaller = min(len(one), len(other))
    return smaller > 0 and len(one & other) >= ALIKE * smaller


def _within(hits: Sequence[Hit], limits: Limits, counting: Counting) -> tuple[Recalled, ...]:
    kept: list[Recalled] = []
    used = 0
    for hit in hits:
        text, _ = fitted(fenced(hit.snippet.strip()), limits.passage * 2, counting, "…")
        if not text.strip():
            continue
        part = Recalled(text, hit.citation, hit.trust, hit.score, hit.time)
        tokens = counting.part(part) + 2
        if used + tokens > limits.tokens:
            continue
        used += tokens
        kept.append(part)
        if len(kept) == limits.most:
            break
    return tuple(kept)
