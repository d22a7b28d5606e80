"""Snippets: the part of a passage that answers best, from the beginning of a sentence or line to the end of one.

best_window(text, {"warranti": 7.1, "boiler": 6.4}, tokens=200)  →  (1204, 1987)
best_windows(text, {"mailer": 7.1, "pool": 6.4})                 →  [(0, 812), (2210, 2391)]

Highlights: spans of the question's terms in a snippet, which show why it was found.

marked("Die Fähre: src/ferry_times.py", {"ferri": 4.1})  →  ((15, 20),)
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, pairwise

from msgspec import Struct

from foundation.text.analysis import terms_of, token_spans
from foundation.text.folding import is_unspaced
from foundation.text.sentences import boundaries
from foundation.text.stopwords import is_weak
from models.tokens import estimate

SHOWN, SHOWN_UNSPACED = 200, 100  # tokens of a snippet that is shown
_LONG = 8_000  # characters: of a longer text only the surroundings of the question's terms are analysed
_SHORT = 4_000  # characters: of a longer text only sentences with a beginning of a term are analysed
_AROUND = 1_000  # characters on each side of such a term
_MOST_PLACES = 24
_MOST_NEEDLES = 60  # terms of the question, the heaviest, that are searched in a long text
_COUNTED = 1_000  # occurrences: from here on all terms count as equally frequent
_REPEAT = 0.1  # weight of each further occurrence of a term in a window
_FURTHER = 60  # tokens of a further window
_MOST_FURTHER = 2
_LEAST_MISSING = 0.2  # of the weight of the question's terms, that a further window has and the others lack
_FAR = 8  # characters a token, which hardly a text has: a window is never as long
_CLAUSE = 160  # characters: a sentence is cut at its commas only when it is longer


class SnippetPart(Struct, frozen=True):
    """A sentence, a line, or a part of a long one."""

    start: int
    end: int
    tokens: int
    terms: frozenset[str]


def shown_tokens(text: str) -> int:
    """Tokens of a snippet that is shown: a Chinese character is two cells wide, and says as much as three letters."""
    start = text[:_COUNTED]
    unspaced = sum(map(is_unspaced, start))
    return SHOWN_UNSPACED if unspaced * 2 > len(start) else SHOWN


def best_window(text: str, worth: Mapping[str, float], tokens: int = 200) -> tuple[int, int]:
    """Span of the best part, in characters, of about `tokens` tokens at most. `worth` are weights of the query's
    terms."""
    return best_windows(text, worth, tokens)[0]


def best_windows(text: str, worth: Mapping[str, float], tokens: int = 200) -> list[tuple[int, int]]:
    """The best window, and short further ones where a long text has the question's other terms elsewhere."""
    if len(text) <= tokens * 2 or (len(text) < tokens * 8 and estimate(text) <= tokens):
        return [_trimmed(text, 0, len(text))]
    regions = [_pieces(text, start, end, worth, tokens) for start, end in _regions(text, worth)]
    chosen = [_best_span(regions, worth, tokens)]
    strong = {term: weight for term, weight in worth.items() if not is_weak(term)}
    while len(chosen) <= _MOST_FURTHER:
        told = {
            term
            for pieces in regions
            for piece in pieces
            if any(start <= piece.start < end for start, end in chosen)
            for term in piece.terms
        }
        missing = {term: weight for term, weight in strong.items() if term not in told}
        if sum(missing.values()) < _LEAST_MISSING * sum(strong.values()):
            break
        outside = [run for pieces in regions for run in _outside(pieces, chosen)]
        least = _LEAST_MISSING * sum(strong.values())
        span = _best_span(outside, missing, min(_FURTHER, tokens), least) if outside else (0, 0)
        if span == (0, 0):
            break
        chosen.append(span)
    return [_trimmed(text, start, end) for start, end in (chosen[0], *sorted(chosen[1:]))]


def _best_span(
    regions: Sequence[Sequence[SnippetPart]], worth: Mapping[str, float], tokens: int, least: float = -1.0
) -> tuple[int, int]:
    """Span of the heaviest run of pieces, widened to the token limit; (0, 0) where none weighs `least`."""
    best: tuple[float, int, int] = (least - 1e-9, 0, 0)
    for pieces in regions:
        score, first, last = _best_run(pieces, worth, tokens)
        if score > best[0]:
            first, last = _widened(pieces, first, last, tokens)
            best = score, pieces[first].start, pieces[last].end
    return best[1], best[2]


def _outside(pieces: Sequence[SnippetPart], chosen: Sequence[tuple[int, int]]) -> Iterator[list[SnippetPart]]:
    """The runs of pieces between the chosen spans."""
    for is_chosen, run in groupby(pieces, key=lambda piece: any(a <= piece.start < b for a, b in chosen)):
        if not is_chosen:
            yield list(run)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end].rstrip()
    return start + len(part) - len(part.lstrip()), start + len(part)


def _regions(text: str, worth: Mapping[str, float]) -> list[tuple[int, int]]:
    """Parts of a long text around the question's terms; its beginning where there are none."""
    if len(text) <= _LONG:
        return [(0, len(text))]
    regions: list[tuple[int, int]] = []
    for offset in _rarest_first(text, _needles(worth)):
        start, end = max(0, offset - _AROUND), min(len(text), offset + _AROUND)
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], end)
        else:
            regions.append((start, end))
    return regions or [(0, min(len(text), 2 * _AROUND))]


def _needles(worth: Mapping[str, float]) -> list[str]:
    """The beginnings of the heaviest terms, as a text may spell them: stems end in i where a word ends in y."""
    strong = [term for term in worth if not is_weak(term)] or list(worth)
    best = sorted(strong, key=lambda term: -worth[term])[:_MOST_NEEDLES]
    found = (term[: 4 if term[:5].endswith("i") else 5] if term.isascii() and term.isalpha() else term for term in best)
    return list(dict.fromkeys(needle.lower() for needle in found if needle))


def _rarest_first(text: str, needles: Iterable[str]) -> list[int]:
    """Offsets of the needles, ascending: where there are too many, those of rare needles are preferred.

    Each is searched by itself: a case-insensitive alternation of them would be tried at each offset of the text.
    """
    lowered = text.replace("\u0130", "i").lower()  # İ alone would become two characters
    chosen: list[int] = []
    for offsets in sorted((list(islice(_occurrences(lowered, needle), _COUNTED)) for needle in needles), key=len):
        chosen.extend(offsets[: max(4, _MOST_PLACES - len(chosen))])
    return sorted(chosen[:_MOST_PLACES])


def _lowered(text: str) -> str:
    """The text in lower case, as long as before: İ alone would become two characters."""
    return text.replace("\u0130", "i").lower()


def _occurrences(text: str, needle: str) -> Iterator[int]:
    offset = text.find(needle) if needle else -1
    while offset >= 0:
        yield offset
        offset = text.find(needle, offset + len(needle))


def _pieces(text: str, start: int, end: int, worth: Mapping[str, float], tokens: int) -> list[SnippetPart]:
    edges = _edges(text, start, end, tokens)
    if end - start > _SHORT:
        return _sparse_pieces(text, edges, worth, tokens)
    found: list[set[str]] = [set() for _ in edges[1:]]
    for terms, at, _ in token_spans(text[start:end]):
        if hits := _hits(terms, worth):
            found[max(0, bisect_left(edges, start + at + 1) - 1)].update(hits)
    return [
        SnippetPart(first, last, estimate(text[first:last]), frozenset(terms))
        for first, last, terms in zip(edges, edges[1:], found, strict=False)
    ]


def _sparse_pieces(text: str, edges: Sequence[int], worth: Mapping[str, float], tokens: int) -> list[SnippetPart]:
    """The same where most pieces hold no term: those are not analysed, and far from a term their tokens are a guess."""
    lowered = _lowered(text[edges[0] : edges[-1]])
    holding = {
        bisect_left(edges, edges[0] + offset + 1) - 1
        for needle in _needles(worth)
        for offset in islice(_occurrences(lowered, needle), _COUNTED)
    }
    near = _near(edges, {0, *holding}, tokens * _FAR)  # the beginning, where no term is found after all
    pieces: list[SnippetPart] = []
    for number, (first, last) in enumerate(pairwise(edges)):
        piece, terms = text[first:last], frozenset[str]()
        if number in holding:
            terms = frozenset(term for span in token_spans(piece) for term in _hits(span[0], worth))
        size = estimate(piece) if number in near else (last - first) // 4 + 1
        pieces.append(SnippetPart(first, last, size, terms))
    return pieces


def _hits(terms: tuple[str, ...], worth: Mapping[str, float]) -> list[str]:
    """The terms of the question among these; a single Chinese character is found in its pairs, too."""
    characters = terms[0] if len(terms) == 1 and len(terms[0]) == 2 and not terms[0].isascii() else ""
    return [term for term in (*terms, *characters) if term in worth]


def _near(edges: Sequence[int], holding: Iterable[int], characters: int) -> set[int]:
    """Numbers of the pieces that may be in a window with one that holds a term."""
    near = set[int]()
    for number in holding:
        first = bisect_left(edges, edges[number] - characters) - 1
        near.update(range(max(0, first), bisect_left(edges, edges[number + 1] + characters)))
    return near


def _edges(text: str, start: int, end: int, tokens: int) -> list[int]:
    """Offsets at which sentences and lines begin; a piece is never much longer than a quarter of the window."""
    edges, last = [start], start
    for at in boundaries(text, start, end, clause=_CLAUSE):
        _cut(text, edges, last, at, tokens)
        last = at
    _cut(text, edges, last, end, tokens)
    return edges


def _cut(text: str, edges: list[int], start: int, end: int, tokens: int) -> None:
    """Adds the edge `end`, and edges before it that split an overlong piece, at blanks where there are any."""
    max_length = max(40, tokens)
    while end - start > 2 * max_length:
        blank = text.rfind(" ", start + max_length // 2, start + max_length)
        start = blank + 1 if blank > 0 else start + max_length
        edges.append(start)
    if end > edges[-1]:
        edges.append(end)


def _best_run(pieces: Sequence[SnippetPart], worth: Mapping[str, float], tokens: int) -> tuple[float, int, int]:
    """The heaviest run of pieces within the token limit, of several the shortest: its weight, first and last piece."""
    best, first, used = (-1.0, 0, 0), 0, 0
    counts: dict[str, int] = {}
    for last, piece in enumerate(pieces):
        used += piece.tokens
        for term in piece.terms & worth.keys():
            counts[term] = counts.get(term, 0) + 1
        while used > tokens and first < last:
            used -= pieces[first].tokens
            _remove_terms(counts, pieces[first].terms & worth.keys())
            first += 1
        if not piece.terms and last:
            continue  # the run weighs no more than before
        score = sum(worth[term] * (1 + _REPEAT * min(count - 1, 5)) for term, count in counts.items())
        if score > best[0] + 1e-9:
            best = score, first, last
    score, first, last = best
    while first < last and worth.keys().isdisjoint(pieces[first].terms):
        first += 1
    return score, first, last


def _remove_terms(counts: dict[str, int], terms: Iterable[str]) -> None:
    for term in terms:
        if counts[term] == 1:
            del counts[term]
        else:
            counts[term] -= 1


def _widened(pieces: Sequence[SnippetPart], first: int, last: int, tokens: int) -> tuple[int, int]:
    """Extends the run by pieces after and before it in turn, within the token limit."""
    used = sum(piece.tokens for piece in pieces[first : last + 1])
    while True:
        grown = False
        if last + 1 < len(pieces) and used + pieces[last + 1].tokens <= tokens:
            last, grown = last + 1, True
            used += pieces[last].tokens
        if first > 0 and used + pieces[first - 1].tokens <= tokens:
            first, grown = first - 1, True
            used += pieces[first].tokens
        if not grown:
            return first, last


_PART = re.compile(r"[^\W_]+")

HighlightSpans = tuple[tuple[int, int], ...]
"""Spans of characters, first to last and not touching."""

TermSpan = tuple[tuple[str, ...], int, int]


def marked(snippet: str, worth: Mapping[str, float], found: Iterable[TermSpan] | None = None) -> HighlightSpans:
    """`worth` are weights of the question's terms. Stop words are marked only where the question has no other terms.
    `found` are the snippet's `spans`, where they are at hand."""
    wanted = {term for term in worth if not is_weak(term)} or set(worth)
    if not wanted:
        return ()
    return _joined(snippet, (part for span in found or token_spans(snippet) for part in _within(snippet, span, wanted)))


def _within(snippet: str, found: TermSpan, wanted: set[str]) -> Iterator[tuple[int, int]]:
    """The matching parts of a path, an address or a camel-case name; the whole where no part matches."""
    terms, start, end = found
    if wanted.isdisjoint(terms):
        return
    parts = [match.span() for match in _PART.finditer(snippet, start, end)]
    if len(parts) > 1:
        hit = [(at, to) for at, to in parts if not wanted.isdisjoint(terms_of(snippet[at:to], "word"))]
        if hit:
            yield from hit
            return
    yield start, end


def _joined(snippet: str, parts: Iterator[tuple[int, int]]) -> HighlightSpans:
    """Joins overlapping spans, and spans with only blanks between them."""
    marks: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if marks and not snippet[marks[-1][1] : start].strip(" "):
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return tuple(marks)
