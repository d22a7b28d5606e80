"""Recall: memory's passages on a message, of about 200 tokens each, within a share of the budget."""

from collections.abc import Callable, Mapping, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.tokens import MessageCounter, fit_lines
from context.recall.citations import CitablePassage, cited_parts
from context.settings import ContextSettings
from foundation.clock import iso
from foundation.privacy import TextSource, clear
from foundation.text.analysis import tokens
from foundation.text.folding import is_unspaced
from foundation.text.similarity import Shingles, alike, shingles
from foundation.trust import Citation, Trust
from memory.search import Hit, Query, SearchResults
from models.fence import SAMPLE_NONCE
from models.recalled import RecalledSpan, passage_lines, recalled_block, shared_label

SHORT_MESSAGE = 6  # words: a message as short as this leans on the one before it
SHOWN_ALREADY = 0.8  # of a passage's shingles, however short it is: the text in view says it
SHORTEST = 25  # tokens of a short turn and its label's share: no more passages than that are looked at
_MOST_OF_PREVIOUS = 40  # words of the previous message that are searched for with a short one
SPARE = 20  # hits more, for those that are in view already
TELLING = 25  # characters: anybody says what is shorter
LENGTH = 0.2  # the power of its tokens that a passage's worth falls with: best at 0.15 to 0.3 on talk of two kinds
CLOSE = 0.03  # of the best score: hits within one such step below it are taken newest first


class RecallRequest(Struct, frozen=True):
    """What to recall for: the message, the previous one, and what is already in view."""

    text: str
    before: str = ""
    entries: frozenset[int] = frozenset()
    notes: frozenset[str] = frozenset()
    shown: tuple[tuple[str, str], ...] = ()  # passages recalled before and still in view: reference, text
    cited: tuple[CitablePassage, ...] = ()  # what the message points at; its citations are no part of `text`


class RecallLimits(Struct, frozen=True):
    """Tokens in all, tokens of a passage, the number of passages, and tokens of cited passages, which may be more."""

    tokens: int
    passage: int
    most: int
    cited: int = 0


def limits_of(settings: ContextSettings, total: int) -> RecallLimits:
    """The limits for a request of `total` tokens."""
    share = int(total * settings.recall_share)
    tokens = min(share, settings.recall_tokens) if settings.recall_tokens else share
    return RecallLimits(tokens, settings.recall_passage, settings.recall_most, share)


def search_text(text: str, before: str) -> str:
    """The text to search for: the message, with the user's previous one where it is short."""
    if not before or _length(text) >= SHORT_MESSAGE:
        return text
    return f"{text}\n{' '.join(tokens(before)[:_MOST_OF_PREVIOUS])}"


def _length(text: str) -> float:
    """Words of a message; two characters of a script without spaces count as one."""
    return sum(len(token) / 2 if is_unspaced(token) else 1 for token in tokens(text))


def query_for(text: str, before: str, limits: RecallLimits, exclude: frozenset[int] = frozenset()) -> Query | None:
    """The query; None where nothing is searched. It asks for more than fits: some hits are in view, some too long."""
    if not text.strip() or limits.most == 0 or limits.tokens <= 0:
        return None
    most = min(limits.most, limits.tokens // SHORTEST) + SPARE
    asked = search_text(text, before)
    return Query(text=asked, limit=most, exclude=exclude, window_tokens=limits.passage, as_it_stands=True)


def recall_passages(
    search: Callable[[Query], SearchResults], wanted: RecallRequest, limits: RecallLimits, counting: MessageCounter
) -> tuple[RecalledSpan, ...]:
    """Searches and gives the passages that fit: cited ones first, then hits by relevance; none where nothing is
    relevant.

    Passages of one day of a conversation share a label, at the rank of the best of them, in chronological order.
    """
    query = query_for(wanted.text, wanted.before, limits, wanted.entries)
    return fit_passages(search(query) if query else None, wanted, limits, counting)


def fit_passages(
    results: SearchResults | None, wanted: RecallRequest, limits: RecallLimits, counting: MessageCounter
) -> tuple[RecalledSpan, ...]:
    """The same for the results of a search; None where nothing was searched."""
    first = cited_parts(wanted.cited, max(limits.cited, limits.tokens), counting)
    found = results.hits if results else ()
    hits = [hit for hit in found if not _in_view(hit, wanted) and not _is_told(hit, first)]
    newer = {hit.id: hit for hit in found}
    parts = [_part(hit, rank, newer, limits, counting) for rank, hit in enumerate(_ranked(hits), len(first))]
    return (
        *first,
        *_arranged(_within([(part, seq) for part, seq in parts if part.text.strip()], first, limits, counting)),
    )


def _in_view(hit: Hit, wanted: RecallRequest) -> bool:
    if hit.entry in wanted.entries or (hit.note is not None and hit.note in wanted.notes):
        return True
    if _echoes(hit, wanted.text):
        return True  # the same question, asked before: its words are in view
    said = [text for ref, text in wanted.shown if ref == hit.citation.ref]
    return bool(said) and any(_says(shingles(hit.snippet), shingles(text)) for text in said)


def _is_told(hit: Hit, first: Sequence[RecalledSpan]) -> bool:
    """Whether a cited passage already holds the hit."""
    if not first:
        return False
    words, place = " ".join(clear(hit.snippet, TextSource.OTHER).split()), (hit.citation.ref, hit.citation.lines)
    return any(
        place == (part.citation.ref, part.citation.lines)
        or hit.entry_id == part.citation.ref
        or (len(words) >= TELLING and words in " ".join(part.text.split()))
        for part in first
    )


def _echoes(hit: Hit, text: str) -> bool:
    """Whether the hit adds nothing to the message itself."""
    said, asked = shingles(hit.snippet), shingles(text)
    return len(said) <= 1.25 * len(asked) and _says(said, asked)


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return sorted(
        hits, key=lambda hit: (int((best - hit.score) / best / CLOSE), -(hit.time.timestamp() if hit.time else 0.0))
    )


def _says(one: Shingles, other: Shingles) -> bool:
    """Whether one text contains the other. Unlike two hits, of which both may be shown, a short passage counts too:
    its words are in view."""
    return alike(one, other, within=SHOWN_ALREADY, shortest=1)


def _part(
    hit: Hit, rank: int, newer: Mapping[str, Hit], limits: RecallLimits, counting: MessageCounter
) -> tuple[RecalledSpan, int]:
    """The passage, and its entry's seq."""
    text, _ = fit_lines(clear(hit.snippet.strip(), TextSource.OTHER), limits.passage * 2, counting, "…")
    by = newer.get(hit.superseded_by)
    superseded = iso(by.time)[:10] if by and by.time else ""
    return RecalledSpan(
        text, hit.citation, hit.trust, hit.score, hit.time, rank, superseded=superseded, nonce=SAMPLE_NONCE
    ), hit.entry or 0


_Placed = tuple[RecalledSpan, int]


class _Cost(Struct, frozen=True):
    """The tokens of a passage with a label of its own and under an existing one, and its value per token for both."""

    placed: _Placed
    key: tuple[str, ...]
    tokens: tuple[int, int]
    worth: tuple[float, float]

    @classmethod
    def of(cls, placed: _Placed, counting: MessageCounter) -> Self:
        part = placed[0]
        tokens = tuple(counting.text("\n" + passage_lines(part, before)) for before in (None, part))
        alone, after = (part.score / max(each, 1) ** LENGTH for each in tokens)
        return cls(placed, shared_label(part), (tokens[0], tokens[1]), (alone, after))


def _within(
    parts: Sequence[_Placed], first: tuple[RecalledSpan, ...], limits: RecallLimits, counting: MessageCounter
) -> list[_Placed]:
    """As many passages as fit after the `first`, by value per token: a label is paid once, and of two equally relevant
    passages the shorter comes first.
    """
    kept: list[_Placed] = []
    labels: dict[tuple[str, ...], RecalledSpan] = {}
    frame = (RecalledSpan("", Citation(kind="", ref=""), Trust.EXACT, nonce=SAMPLE_NONCE),)
    room = limits.tokens - counting.text(recalled_block(first or frame))
    left = [_Cost.of(part, counting) for part in parts]
    while left and len(kept) < limits.most:
        best = max(left, key=lambda cost: cost.worth[cost.key in labels])
        left.remove(best)
        tokens = best.tokens[best.key in labels]
        if tokens > room:
            continue
        room -= tokens
        labels.setdefault(best.key, best.placed[0])
        kept.append(best.placed)
    while kept and counting.text(recalled_block((*first, *_arranged(kept)))) > limits.tokens:
        kept.pop()
    return kept


def _arranged(parts: Sequence[_Placed]) -> tuple[RecalledSpan, ...]:
    """Groups the passages that share a label at the rank of the best, in chronological order."""
    groups: dict[tuple[str, ...], list[_Placed]] = {}
    for part, seq in parts:
        groups.setdefault(shared_label(part), []).append((part, seq))
    arranged: list[RecalledSpan] = []
    for group in groups.values():
        last = 0
        for part, seq in sorted(group, key=lambda one: (one[1], one[0].rank)):
            arranged.append(replace(part, follows=bool(last) and seq == last + 1))
            last = seq
    return tuple(arranged)
