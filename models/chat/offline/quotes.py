"""Quotes whole sentences that answer a question. Pure; no model.

Hard-wrapped lines are joined, so that a sentence is quoted whole: verbatim but for its line breaks. A sentence that
cannot be understood without the one before it (it begins with a pronoun) is quoted with it, and one that announces a
list with the list's beginning.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log

from msgspec import Struct

from foundation.text.analysis import plain_words, token_spans
from foundation.text.paragraphs import ParagraphKind, paragraphs
from foundation.text.sentences import is_question, sentences
from foundation.text.similarity import overlap
from models.chat.offline.question import (
    Piece,
    QuoteQuery,
    content_terms,
    only_repeats,
    question_of,
    worth_of_pieces,
)

LONGEST_QUOTE = 320  # characters of one quoted line
LONGEST_SENTENCE = 900  # characters: a longer one is cut
RANK = 0.35  # what each place further down the order of the search costs, in rare words
SUPERSEDED = 0.75  # of its worth that a quote loses where a newer one says otherwise
MOST_RANKS = 8  # places that cost
IN_VIEW_RANK = 1  # the most places that cost a text in view, which no search ranked
MANY_PARAGRAPHS = 8  # of a source from which on its headings are not quoted
OF_ANOTHER = 0.49  # the largest share of a quote with nothing of the attribute that is asked for, or one character
ENOUGH = 0.5  # share of the question, from which on a quote is not weak
FITTING, NOT_FITTING = 0.25, 0.8  # the same where it holds the kind of thing that is asked for, and where it does not
SOME_WORDS = 3  # of the question, from which on a quote is not weak
SAME = 0.8  # of the shorter quote's terms: one line that is quoted by another, or said again in another order
BESIDE_GOOD = 0.5  # the same for a line beside the best
LONGEST_RUN = 400  # characters of lines that are quoted because they stand beside the best
AS_GOOD = 0.75  # of the best line's worth, which another line of the source needs to be quoted too
ANSWER = 1.2  # of a question's worth, that the sentence after it gets
LEAST = 0.6  # of the best quote's worth, which another source's needs

AGAIN = 0.3  # of a word's worth in a telling sentence, for each other one that has it
FEW_TERMS = 4  # of a sentence, below which it tells little
LEANING = 0.5  # of its worth, for a sentence that needs the one before it

_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_LEANS = re.compile(
    r"(?:it|he|she|they|this|that|these|those|such|its|his|her|their|both|otherwise|however|therefore|thus|then|also|but"
    r"|if so|in this case|in that case|the latter|the former|after that|before that|instead|moreover)\b(?! case\b)"
    r"|[它这该其此他她]|否则|但|因此|所以|此外|上述|前款",
    re.IGNORECASE,
)

_COMPLETES = re.compile(r"otherwise\b|否则", re.IGNORECASE)  # the other half of a condition


class QuoteSource(Struct, frozen=True):
    """A source of quotes. `cited` is shown under the quote."""

    text: str
    cited: str
    speaker: str = ""
    document: bool = False  # a text in paragraphs, and not what somebody said
    listed: bool = True  # among what else is in memory, where it is not quoted
    superseded: bool = False  # a newer one says otherwise
    unverified: bool = False  # an assistant said it, and nothing backs it
    notes: str = ""  # the file of notes that this is text of, where the request holds it without lines
    asked: str = ""  # the question that its first sentence answers
    in_view: bool = False  # the request has it anyway: no search ranked it
    is_dated: bool = False  # of the date that the question names


class Quote(Struct, frozen=True):
    """Lines of one source, each verbatim but for line breaks. `overlap`: how many different words of the question they
    hold.

    `share`: how much of what the question asks that is, rare words counting for more; from 0 to 1. `fits`: they hold
    the kind of thing that is asked for, None where the question asks for no kind.
    """

    lines: tuple[str, ...]
    source: QuoteSource
    score: float
    overlap: int
    share: float = 0.0
    fits: bool | None = None

    @property
    def weak(self) -> bool:
        """Whether it says too little of what is asked to be quoted at all."""
        if not self.overlap:
            return True
        if self.fits is not None:
            return self.share < (NOT_FITTING if not self.fits else ENOUGH if self.overlap < 2 else FITTING)
        return self.share < (FITTING if self.source.is_dated else ENOUGH) and self.overlap < SOME_WORDS


def quotable_sentences(text: str) -> list[Piece]:
    """The sentences of a text in their order, without marks of lists, headings and quotes, and without comments."""
    text = _COMMENT.sub(lambda match: " " * len(match.group()), text)
    pieces: list[Piece] = []
    heading = ""
    parts = paragraphs(text)
    for number, part in enumerate(parts):
        following = parts[number + 1].kind if number + 1 < len(parts) else None
        announces = part.text.endswith((":", "：")) and following in {
            ParagraphKind.ITEM,
            ParagraphKind.ROW,
            ParagraphKind.LINE,
        }
        heads = part.kind is ParagraphKind.HEADING
        whole = heads or part.kind is ParagraphKind.ROW
        split = [part.text] if whole else [sentence.text for sentence in sentences(part.text)]
        pieces += [
            Piece(sentence, number, place, part.start, part.end, heading, heads, announces and place == len(split) - 1)
            for place, sentence in enumerate(split)
        ]
        if heads:
            heading = part.text
    return pieces


def is_only_questions(text: str) -> bool:
    """Whether it is questions and nothing else."""
    return all(is_question(piece.text) for piece in quotable_sentences(text))


def best_quotes(question: str, sources: Sequence[QuoteSource], *, most: int = 3, lines: int = 3) -> list[Quote]:
    """The best lines of the best sources, best first; none twice, and never the question itself.

    `sources` are in the order of the search; what was superseded or is unverified ranks behind the others.
    """
    sources = sorted(sources, key=lambda source: (source.superseded, source.unverified))
    split = [quotable_sentences(source.text) for source in sources]
    asked = [quotable_sentences(source.asked) for source in sources]
    query = question_of(question, [*(source.speaker for source in sources), *("" for _ in asked)], [*split, *asked])
    quotes: list[Quote] = []
    for rank, (source, pieces, before) in enumerate(zip(sources, split, asked, strict=True)):
        worth = _with_answers(pieces, worth_of_pieces(pieces, query, source.speaker))
        if before and pieces:
            worth[0] += ANSWER * max(worth_of_pieces(before, query, ""))
        many = bool(pieces) and pieces[-1].paragraph >= MANY_PARAGRAPHS
        usable = [
            i
            for i, piece in enumerate(pieces)
            if not only_repeats(piece.text, query) and not _heads(pieces, i) and not (many and piece.heads)
        ]
        if usable:
            chosen = _chosen(usable, pieces, worth, min(lines, 2) if source.document else lines, whole=source.document)
            cost = RANK * min(rank, IN_VIEW_RANK if source.in_view else MOST_RANKS)
            best = max(worth[i] for i in usable) - cost
            best -= SUPERSEDED * source.superseded * max(best, 0.0)
            quotes.append(_quote(source, pieces, chosen, best, query))
    quotes.sort(key=lambda quote: -quote.score)
    least = min(LEAST * quotes[0].score, quotes[0].score) if quotes else 0.0
    return [quote for quote in _different(quotes)[:most] if quote.score >= least]


def further_quotes(question: str, shown: Sequence[Quote], sources: Sequence[QuoteSource], *, most: int) -> list[Quote]:
    """The best line of each further source that says something of what is asked, and nothing that was shown."""
    cited = {quote.source.cited for quote in shown}
    left = [source for source in sources if source.listed and source.cited not in cited]
    firm = [quote for quote in best_quotes(question, left, most=most, lines=1) if not quote.weak]
    return _different([*shown, *firm])[len(shown) :]


def section_start(topic: str, sources: Sequence[QuoteSource]) -> Quote | None:
    """The first sentences of the section whose heading names the topic; None where no heading does."""
    split = [quotable_sentences(source.text) for source in sources]
    query = question_of(topic, [source.cited for source in sources], split)
    best: tuple[float, Quote] | None = None
    for rank, (source, pieces) in enumerate(zip(sources, split, strict=True)):
        for heading in dict.fromkeys(piece.heading for piece in pieces if piece.heading):
            terms = set(content_terms(heading))
            named = terms & query.words
            if not named or len(named) < len(terms) / 2:
                continue
            worth = query.worth_of(terms) + query.worth_of(set(content_terms(source.cited)) - terms) - RANK * rank
            if best is None or worth > best[0]:
                section = [piece for piece in pieces if piece.heading == heading and not piece.heads]
                lines = _first_lines(section)
                best = worth, Quote(tuple(lines), source, worth, len(named), 1.0)
    return best[1] if best and best[1].lines else None


def telling_sentences(text: str, *, most: int = 5) -> list[Piece]:
    """Sentences with the words that the text uses most, in its order; a word counts little when it is said again."""
    found = [piece for piece in quotable_sentences(text) if not (piece.heads or piece.goes_on)]
    found = [piece for piece in found if len(piece.text) <= LONGEST_QUOTE and not is_question(piece.text)]
    found = [piece for piece in found if not _is_title(piece.text)]
    terms = [set(content_terms(piece.text)) for piece in found]
    uses = Counter(term for one in terms for term in one)
    said, chosen = Counter[str](), set[int]()

    def worth(i: int) -> float:
        gain = sum(log(uses[term]) * AGAIN ** said[term] for term in terms[i])
        return gain / (2 * FEW_TERMS + len(terms[i])) * (LEANING if _LEANS.match(found[i].text) else 1)

    while len(chosen) < most:
        left = (i for i in range(len(found)) if i not in chosen and len(terms[i]) >= FEW_TERMS)
        best = max(left, key=worth, default=None)
        if best is None or not worth(best):
            break
        chosen.add(best)
        said.update(terms[best])
    return [found[i] for i in sorted(chosen)]


def _is_title(sentence: str) -> bool:
    """Whether nearly all of its longer words are capitalised, as a heading's are."""
    words = [word for word in sentence.split() if len(word) > 3 and word[0].isascii()]
    return bool(words) and sum(word[0].isupper() for word in words) > 0.8 * len(words)


def _first_lines(section: Sequence[Piece]) -> list[str]:
    """Whole sentences of the beginning, a paragraph a line."""
    length, count = 0, 0
    for piece in section:
        length += len(piece.text)
        if count and length > LONGEST_RUN:
            break
        count += 1
    return _joined(section, range(count)) if count else []


def _with_answers(pieces: Sequence[Piece], scores: list[float]) -> list[float]:
    """What follows a question in a dialogue is likely its answer."""
    worth = list(scores)
    for i in range(1, len(pieces)):
        if _heads(pieces, i - 1) or not is_question(pieces[i - 1].text):
            continue  # the same words twice are worth no more
        worth[i] += scores[i - 1] * ANSWER
    return worth


def _chosen(
    usable: list[int], pieces: Sequence[Piece], worth: Sequence[float], lines: int, *, whole: bool
) -> list[list[int]]:
    """Runs of lines: the best with what it needs and good lines beside it (of a document: its paragraph as far as it
    fits), then lines that are nearly as good."""
    ranked = sorted(usable, key=lambda i: (-worth[i], i))
    best = ranked[0]
    good = [best] + [i for i in ranked[1:lines] if worth[i] > AS_GOOD * worth[best] > 0]
    allowed, taken, runs = set(usable), set[int](), list[list[int]]()
    texts = set[str]()
    for i in good:
        if i in taken or pieces[i].text in texts:
            continue
        run = _understood(pieces, i)
        length = sum(len(pieces[n].text) for n in run)
        while (n := _beside(run, pieces, worth, LONGEST_RUN - length)) is not None:
            if n not in allowed or (not whole and worth[n] <= BESIDE_GOOD * worth[i]):
                break
            run = sorted({*run, *_understood(pieces, n)})
            length = sum(len(pieces[n].text) for n in run)
        runs.append([n for n in run if n not in taken])
        taken.update(run)
        texts.update(pieces[n].text for n in run)
    return runs


def _beside(run: Sequence[int], pieces: Sequence[Piece], worth: Sequence[float], room: int) -> int | None:
    """The better of the sentences beside the run in its paragraph that fit; None where none does."""
    paragraph = pieces[run[0]].paragraph
    beside = [
        n
        for n in (run[-1] + 1, run[0] - 1)
        if 0 <= n < len(pieces) and pieces[n].paragraph == paragraph and len(pieces[n].text) <= room
    ]
    return max(beside, key=worth.__getitem__) if beside else None


def _quote(
    source: QuoteSource, pieces: Sequence[Piece], runs: list[list[int]], score: float, query: QuoteQuery
) -> Quote:
    first = runs[0]
    answered = [source.asked] if 0 in first else []
    held = query.terms_in("\n".join([*answered, *(pieces[i].text for i in first)]))
    around = held | query.terms_in("\n".join(pieces[i].heading for i in first))
    spoken = around | (set(content_terms(source.speaker)) & query.named)
    if source.document:  # what its file is called, it is about
        spoken |= set(content_terms(source.cited)) & query.words
    lines = tuple(
        dict.fromkeys(_fitted(line, query.words) for run in sorted(runs) if run for line in _joined(pieces, run))
    )
    fits = query.is_satisfied(" ".join(pieces[i].text for i in first)) if query.wanted else None
    matched, share = query.matched(held), query.share(spoken)
    says_other = bool(query.attribute) and matched.isdisjoint(query.attribute)
    if says_other or (matched != query.words and matched <= query.characters):
        share = min(share, OF_ANOTHER)
    return Quote(lines, source, score, len(matched), share, fits)


def _understood(pieces: Sequence[Piece], n: int) -> list[int]:
    """The sentence, with the one before it where it leans on that, and the list that it announces."""
    group = [n]
    first = pieces[n]
    if n and _LEANS.match(first.text) and pieces[n - 1].paragraph == first.paragraph:
        group.insert(0, n - 1)
    if n + 1 < len(pieces) and _COMPLETES.match(pieces[n + 1].text) and pieces[n + 1].paragraph == first.paragraph:
        group.append(n + 1)
    if first.goes_on:
        length = len(first.text)
        for i in range(n + 1, len(pieces)):
            length += len(pieces[i].text)
            if length > LONGEST_QUOTE or pieces[i].heads or pieces[i].goes_on:
                break
            group.append(i)
    return group


def _joined(pieces: Sequence[Piece], chosen: Sequence[int]) -> list[str]:
    """Sentences that follow one another in a paragraph stay together."""
    runs = [pieces[chosen[0]].text]
    for before, i in pairwise(chosen):
        same = i == before + 1 and pieces[i].paragraph == pieces[before].paragraph
        if same:
            runs[-1] += _between(runs[-1], pieces[i].text) + pieces[i].text
        else:
            runs.append(pieces[i].text)
    return runs


def _between(before: str, after: str) -> str:
    return "" if before[-1] in "。！？；”’）》」』" and not after[0].isascii() else " "


def _fitted(sentence: str, terms: frozenset[str]) -> str:
    """Cuts a very long sentence to the part around the first query term."""
    if len(sentence) <= LONGEST_SENTENCE:
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


def _heads(pieces: Sequence[Piece], i: int) -> bool:
    """Whether the next piece begins with all that this one says, as a note's heading made of its first words."""
    if i + 1 == len(pieces):
        return False
    heading, following = (" ".join(plain_words(piece.text.casefold())) for piece in pieces[i : i + 2])
    return bool(heading) and (following == heading or following.startswith(f"{heading} "))
