"""Finding the sentences that answer a question, and quoting them to the letter. Pure; no model.

A sentence is worth the rare words it shares with the question, a little for the kind of thing that is asked for (a
date for *when*, a number for *how many*, a name for *who*), and something for following the question in a dialogue.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from foundation.text.analysis import plain_words, term_list, token_spans
from foundation.text.sentences import Sentence, is_question, sentences
from foundation.text.similarity import overlap
from foundation.text.stopwords import is_function_word

LONGEST_QUOTE = 320  # characters of one quoted line
FEW_WORDS = 3  # a line with fewer that say something is worth less
RANK = 0.5  # what each place further down the order of the search costs, in rare words
MOST_RANKS = 8  # places that cost: further down there is no search, but what stands in view
_MARK = re.compile(r"(?:[-*+]|#{1,6}|>)\s+")  # of a list, a heading, a quote
SAME = 0.8  # of the shorter quote's terms: one line that is quoted by another, or said again in another order
NEAR = 0.6  # of the shorter question's words: the same question, asked in other words
OWN = 0.5  # in rare words: the one asked about speaks, and of what is asked
ADDRESSED = 0.5  # of a name's worth, where the line is not of the one who bears it
_OPEN = re.compile(
    r"\b(who|whom|whose|what|when|where|which|why|how)\b|什么|怎|如何|哪|谁|几|多少|多久|多大|何时", re.IGNORECASE
)
_KIND_NAMED = re.compile(r"\b(?:what|which|how)\s+(\w+)", re.IGNORECASE)
_DATE = re.compile(
    r"\d|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)\w*|yester|today|tomorrow"
    r"|\b(morning|noon|evening|night|week|month|year|ago)\b|[年月日点号]|昨|今|明天|星期|周[一二三四五六日]",
    re.IGNORECASE,
)
_KINDS = (
    (re.compile(r"\b(when|what (time|day|date|year)|how long)\b|什么时候|几点|哪天|哪年|多久|何时", re.I), _DATE),
    (
        re.compile(r"\bhow (many|much|old|far|tall|big)\b|多少|几[个只本岁次]|多大", re.I),
        re.compile(r"\d|[一二三四五六七八九十百千两]"),
    ),
    (re.compile(r"\b(who|whom|whose)\b|谁", re.I), re.compile(r"\b[A-Z][a-z]+\b")),
)


class QuoteSource(Struct, frozen=True):
    """A source of quotes. `cited` is shown under the quote."""

    text: str
    cited: str
    speaker: str = ""


class Quote(Struct, frozen=True):
    """Lines of one source, each verbatim. `overlap`: how many different words of the question they hold.

    `share`: how much of what the question asks that is, rare words counting for more; from 0 to 1.
    """

    lines: tuple[str, ...]
    source: QuoteSource
    score: float
    overlap: int
    share: float = 0.0


def content_terms(text: str) -> list[str]:
    """The analyser's terms that say something. All languages are taken as English: a question of two words does not
    show its language, and must match the sentences that answer it."""
    return [term for term in term_list(text, "") if not is_function_word(term)]


def quotable_sentences(text: str) -> list[Sentence]:
    """The sentences of a text in their order, without marks of lists, headings and quotes, and without comments."""
    quotable: list[Sentence] = []
    for sentence in sentences(text):
        mark = _MARK.match(sentence.text)
        bare = sentence.text[mark.end() :] if mark else sentence.text
        if bare and not bare.startswith("<!--"):
            quotable.append(Sentence(bare, sentence.end - len(bare), sentence.end))
    return quotable


def is_only_questions(text: str) -> bool:
    """Whether it is questions and nothing else."""
    return all(is_question(sentence.text) for sentence in quotable_sentences(text))


def best_quotes(question: str, sources: Sequence[QuoteSource], *, most: int = 3, lines: int = 3) -> list[Quote]:
    """The best lines of the best sources, best first; none twice, and never the question itself."""
    split = [quotable_sentences(source.text) for source in sources]
    query = _asked(question, sources, split)
    quotes: list[Quote] = []
    for rank, (source, pieces) in enumerate(zip(sources, split, strict=True)):
        worth = _with_answers(pieces, [_worth(piece.text, query, source.speaker) for piece in pieces])
        usable = [i for i, piece in enumerate(pieces) if not _only_repeats(piece.text, query) and not _heads(pieces, i)]
        if usable:
            chosen = _chosen(usable, pieces, worth, lines)
            best = max(worth[i] for i in chosen) - RANK * min(rank, MOST_RANKS)
            quotes.append(_quote(source, [pieces[i] for i in chosen], best, query))
    quotes.sort(key=lambda quote: -quote.score)
    least = min(0.4 * quotes[0].score, quotes[0].score) if quotes else 0.0
    return [quote for quote in _different(quotes)[:most] if quote.score >= least]


class _QuoteQuery(Struct, frozen=True):
    """The question: its words, what each is worth, the kinds of answer it wants, and whom it names that speaks."""

    text: str
    words: frozenset[str]
    weights: dict[str, float]
    wanted: tuple[re.Pattern[str], ...]
    named: frozenset[str]
    kind: frozenset[str]  # the word after “what” or “which”: what kind of thing the answer is, and need not say
    is_open: bool  # asks for something that it does not say itself

    def worth_of(self, words: set[str]) -> float:
        return sum(self.weights.get(term, 0.0) for term in words & self.words)

    def share(self, words: set[str]) -> float:
        """The share of the query terms, by weight; a term that no source has counts as the rarest."""
        rarest = max(self.weights.values(), default=1.0)
        total = sum(
            self.weights.get(term, rarest) for term in self.words if term in self.weights or term not in self.kind
        )
        return self.worth_of(words) / total if total else 0.0


def _asked(question: str, sources: Sequence[QuoteSource], split: Sequence[list[Sentence]]) -> _QuoteQuery:
    words = frozenset(content_terms(question))
    weights = _rarity(
        [
            set(content_terms(piece.text)) | set(content_terms(source.speaker))
            for source, pieces in zip(sources, split, strict=True)
            for piece in pieces
        ]
    )
    shapes = tuple(shape for kind, shape in _KINDS if kind.search(question))
    kind = frozenset(term for word in _KIND_NAMED.findall(question) for term in content_terms(word))
    named = frozenset(term for source in sources for term in content_terms(source.speaker)) & words
    return _QuoteQuery(question.strip(), words, weights, shapes, named, kind, _OPEN.search(question) is not None)


def _rarity(documents: list[set[str]]) -> dict[str, float]:
    counts = Counter(term for document in documents for term in document)
    return {term: math.log(1 + len(documents) / count) for term, count in counts.items()}


def _worth(sentence: str, query: _QuoteQuery, speaker: str) -> float:
    words = set(content_terms(sentence))
    own = set(content_terms(speaker)) & query.named
    score = query.worth_of(words | own)
    if own and words & query.words - own:
        score += OWN
    elif not own:
        score -= ADDRESSED * query.worth_of(words & query.named)  # to speak to somebody is not to speak of them
    if not is_question(sentence):
        score += 0.01
    score *= min(1.0, len(words) / FEW_WORDS)  # “Thanks, Ann!” names her and tells nothing
    if score > 0.1 and any(shape.search(sentence) for shape in query.wanted):
        score += 1.0
    if is_question(sentence):
        score *= 0.5  # a question tells less than its answer
    return score / (1 + 0.02 * max(0, len(words) - 20))


def _with_answers(pieces: list[Sentence], scores: list[float]) -> list[float]:
    """What follows a question in a dialogue is likely its answer."""
    worth = list(scores)
    for i in range(1, len(pieces)):
        if _heads(pieces, i - 1):
            continue  # the same words twice are worth no more
        worth[i] += scores[i - 1] * (1.2 if is_question(pieces[i - 1].text) else 0.2)
    return worth


def _chosen(usable: list[int], pieces: list[Sentence], worth: list[float], lines: int) -> list[int]:
    """The best line, and those nearly as good, in their own order; none twice."""
    ranked = sorted(usable, key=lambda i: (-worth[i], i))
    best = worth[ranked[0]]
    chosen = {
        pieces[i].text: i for i in reversed(ranked[:1] + [i for i in ranked[1:lines] if worth[i] > 0.55 * best > 0])
    }
    return sorted(chosen.values())


def _quote(source: QuoteSource, pieces: list[Sentence], score: float, query: _QuoteQuery) -> Quote:
    held = set(content_terms(" ".join(piece.text for piece in pieces)))
    spoken = held | (set(content_terms(source.speaker)) & query.named)
    lines = tuple(_fitted(line, query.words) for line in _join_adjacent(source.text, pieces))
    return Quote(lines, source, score, len(held & query.words), query.share(spoken))


def _join_adjacent(text: str, pieces: list[Sentence]) -> list[str]:
    """Sentences that follow one another on one line of the source stay together."""
    runs: list[tuple[int, int]] = []
    for piece in pieces:
        if runs and not text[runs[-1][1] : piece.start].strip(" \t"):
            first = runs[-1][0]
            if piece.end - first <= LONGEST_QUOTE:
                runs[-1] = (first, piece.end)
                continue
        runs.append((piece.start, piece.end))
    return [text[start:end] for start, end in runs]


def _fitted(sentence: str, terms: frozenset[str]) -> str:
    """Cuts a very long sentence to the part around the first query term."""
    if len(sentence) <= LONGEST_QUOTE:
        return sentence
    at = next((start for held, start, _ in token_spans(sentence) if not terms.isdisjoint(held)), 0)
    start = max(0, min(at - LONGEST_QUOTE // 3, len(sentence) - LONGEST_QUOTE))
    if start and (space := sentence.find(" ", start, start + 40)) >= 0:
        start = space + 1
    return sentence[start : start + LONGEST_QUOTE].strip()


def _different(quotes: list[Quote]) -> list[Quote]:
    distinct: list[Quote] = []
    term_sets: list[set[str]] = []
    for quote in quotes:
        held = set(content_terms(" ".join(quote.lines)))
        if any(overlap(held, other) > SAME for other in term_sets):
            continue
        distinct.append(quote)
        term_sets.append(held)
    return distinct


def _only_repeats(sentence: str, query: _QuoteQuery) -> bool:
    """Whether the sentence only repeats the question, or adds nothing to its words.

    “Is the flight late?” may well be answered by “The flight is late.”, which says nothing else either.
    """
    words = set(content_terms(sentence))
    if sentence == query.text:
        return True
    if not words or not query.words:
        return False
    if is_question(sentence):
        shared = len(words & query.words)
        return shared >= NEAR * min(len(words), len(query.words)) and len(words - query.words) <= shared
    if any(match[0] not in query.text for shape in query.wanted for match in shape.finditer(sentence)):
        return False  # a date or a name, though its word says nothing elsewhere: May
    return query.is_open and words <= query.words


def _heads(pieces: list[Sentence], i: int) -> bool:
    """Whether the next piece begins with all that this one says, as a note's heading made of its first words."""
    if i + 1 == len(pieces):
        return False
    heading, following = (" ".join(plain_words(piece.text.casefold())) for piece in pieces[i : i + 2])
    return bool(heading) and (following == heading or following.startswith(f"{heading} "))
