"""A question, and how well a sentence answers it. Pure; no model.

A sentence is worth the rare words it shares with the question (a synonym counts in part, as does a word that stands
beside it: in the sentence before, the rest of the paragraph, the heading), a little for the kind of thing that is asked
for (a date for *when*, a number for *how many*, a reason for *why*), for words of the question side by side, and for
defining what a question asks the meaning of.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.chinese_questions import chinese_terms, number_forms, plain_question
from foundation.text.folding import fold, is_unspaced
from foundation.text.sentences import is_question
from foundation.text.stopwords import is_function_word, is_weak, may_be_name

FEW_WORDS = 3  # a line with fewer that say something is worth less
NEAR = 0.6  # of the shorter question's words: the same question, asked in other words
OWN = 0.5  # in rare words: the one asked about speaks, and of what is asked
ADDRESSED = 0.5  # of a name's worth, where the line is not of the one who bears it
HALF = 0.5  # likeness of a pair of Chinese characters, which nothing holds, to a pair with one of the two
LEAST_SHARED = 0.4  # likeness from which on another word counts as a synonym
SYNONYM = 0.6  # of a word's worth, at full likeness
ABOVE_TOO = 0.2  # of a word's worth that stands in the line and in its heading
BESIDE, AROUND, ABOVE = 0.45, 0.25, 0.3  # of a word's worth in the sentence before, in the paragraph, in the heading
ADJACENT = 0.25  # of the worth of two words that stand side by side, as in the question
KIND = 1.0  # in rare words: the line holds the kind of thing that is asked for
DEFINES = 2.0
LENGTH = 0.015  # of its worth that a line loses with each word beyond 20
COMMON = 0.45  # of a word's worth, for the commonest of English
WEAK = 0.5  # of the worth of a word that says little

_OPEN = re.compile(
    r"\b(who|whom|whose|what|when|where|which|why|how)\b|什么|怎|如何|哪|谁|几|多少|多久|多大|何时", re.IGNORECASE
)
_KIND_NAMED = re.compile(r"\b(?:what|which|how)\s+(\w+)", re.IGNORECASE)
_DATE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)\w*"
    r"|yester|today|tomorrow"
    r"|\b(?:morning|evening|night|week|month|year|ago|when|once|until|as soon as|prior to)\b"
    r"|[年月日点号]|昨|今|明天|星期|周[一二三四五六日]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千两]|\b(two|three|four|five|six|seven|eight|nine|ten|once|twice|dozen)\b",
    re.IGNORECASE,
)
_KINDS = (  # a quote without one of these is weak
    (
        re.compile(
            r"(?:^|[,;:] *|\b(?:since|until|and|or|know|tell me) )when\b|\bhow long\b"
            r"|\bwhat (?:time|day|date|year|point)\b"
            r"|什么时候|几点|哪天|哪年|多久|何时|多长时间",
            re.I,
        ),
        _DATE,
    ),
    (
        re.compile(
            r"\bhow (many|much|old|far|tall|big|often|large|fast)\b|\b(what|which) (port|number|year)\b"
            r"|多少|几[个只本岁次级]|多[大高远重]",
            re.I,
        ),
        _NUMBER,
    ),
    (
        re.compile(r"(?:^|[,;:] *|\b(?:and|or|know|tell me|by|to|of) )(?:who|whom|whose)\b|谁", re.I),
        re.compile(r"\b[A-Z][a-z]+\b|[\u3400-\u9fff]"),
    ),
    (
        re.compile(r"\bwhich (company|person|author|country|city|town|language|programming language|firm)\b", re.I),
        re.compile(r"(?<=[a-z,;] )(?!I\b)[A-Z][a-z]+"),
    ),
)
_CUES = (  # these are worth more, and no more
    (
        re.compile(r"\bwhy\b|为什么|为何", re.I),
        re.compile(
            r"\b(because|since|so that|in order to|due to|reason|otherwise|would)\b|因为|由于|因|以免|以便", re.I
        ),
    ),
    (re.compile(r"\bshould\b|应该|应当", re.I), re.compile(r"\b(should|must|has to|need)\b|应当|应该|须", re.I)),
    (
        re.compile(r"\bwhich \w+s\b|哪些", re.I),
        re.compile(r":|\bfollowing\b|\w, .{1,80}\b(and|or)\b|：|、", re.I),
    ),
    (
        re.compile(r"\b(allowed|permitted|may i|can i|am i|must i|do i have to)\b|可以|允许|能不能|必须", re.I),
        re.compile(r"\b(may|must|allowed|permitted|can|cannot|need not)\b|可以|不得|应当|禁止|须|不能", re.I),
    ),
)
_DEFINITION = re.compile(
    r"^\s*(?:what(?:'s|\s+is|\s+are|\s+does)\s+(?:meant\s+by\s+)?(?:an?\s+|the\s+)?(?P<what>[^?]{2,60}?)(?:\s+mean)?"
    r"|define\s+(?P<defined>[^?]{2,60}?)|什么是(?P<zh>[^？?]{1,20})|(?P<zh2>[^？?]{1,20}?)(?:是什么(?:意思)?|是指什么))\s*[?？。.]?\s*$",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"的(?P<name>[^的，。？?]{2,6}?)[是叫有在]?(?:多少|什么|几|哪|谁|啥)")
_DEFINED = (
    r"[\"“'‘«*_\s]{{0,3}}(?:an?\s|the\s)?[\"“'‘*_]{{0,2}}{term}[\"”'’*_]{{0,2}}(?:\s+(?:for|of)\s[^.,]{{1,30}})?\s*"
)
_MEANS = r"(?:means|refers to|is\b|are\b|stands for|denotes|:|：|是指|指|是)"

_CAPITALISED = re.compile(r"\b[A-Z][a-z]{2,}\b(?!-)")
_SAME_FORM = {"leav": {"leaf": 1.0}, "live": {"life": 1.0}}  # `leaves` and `lives`, which the analyser takes for nouns


class Piece(Struct, frozen=True):
    """A sentence that may be quoted. `paragraph` and `place`: which sentence of which paragraph of its source."""

    text: str
    paragraph: int
    place: int
    start: int
    end: int
    heading: str = ""
    heads: bool = False  # is a heading itself
    goes_on: bool = False  # a list follows that it announces


@lru_cache(maxsize=20_000)
def _terms(text: str) -> tuple[str, ...]:
    names = {term for word in _CAPITALISED.findall(text) for term in term_list(word, "") if may_be_name(word, term)}
    return tuple(term for term in term_list(text, "") if term in names or not is_function_word(term))


def content_terms(text: str) -> list[str]:
    """The analyser's terms that say something. All languages are taken as English: a question of two words does not
    show its language, and must match the sentences that answer it."""
    return list(_terms(text))


class QuoteQuery(Struct, frozen=True):
    """The question: its words, what each is worth, the kinds of answer it wants, and whom it names that speaks."""

    text: str
    words: frozenset[str]
    weights: dict[str, float]
    unseen: float  # what a word that stands nowhere is worth, if it is a rare one
    synonyms: dict[str, dict[str, float]]  # by word of the question: words that count in part
    pairs: frozenset[tuple[str, str]]
    wanted: tuple[re.Pattern[str], ...]
    cues: tuple[re.Pattern[str], ...]
    named: frozenset[str]
    kind: frozenset[str]  # the word after “what” or “which”: what kind of thing the answer is, and need not say
    attribute: frozenset[str]  # of a thing, that it asks for: 王老师的微信号是多少
    characters: frozenset[str]  # single Chinese characters that it asks about
    is_open: bool  # asks for something that it does not say itself
    defines: re.Pattern[str] | None

    def terms_in(self, text: str) -> set[str]:
        """The terms of a text, and the characters that are asked about, wherever they are in a word."""
        folded = fold(text) if self.characters else ""
        return {*content_terms(text), *(character for character in self.characters if character in folded)}

    def matched(self, words: Set[str]) -> frozenset[str]:
        """The words of the question that are in a sentence; a Chinese one by a synonym or a part of it, too."""
        return frozenset(
            term
            for term in self.words
            if term in words or (is_unspaced(term[:1]) and not words.isdisjoint(self.synonyms.get(term, ())))
        )

    def worth_of(self, words: Set[str]) -> float:
        return sum(self.weights.get(term, 0.0) for term in words & self.words)

    def share(self, words: Set[str]) -> float:
        """The share of the query terms, by weight; a term that no source has counts as the rarest."""
        total = sum(
            self.weights.get(term, self.unseen * _unseen(term))
            for term in self.words
            if term in self.weights or term not in self.kind
        )
        return min(1.0, (self.worth_of(words) + self.by_synonyms(words)) / total) if total else 0.0

    def is_satisfied(self, sentences: str) -> bool:
        """Whether the sentences hold all kinds of things that it asks for."""
        return all(shape.search(sentences) is not None for shape in self.wanted)

    def by_synonyms(self, words: Set[str]) -> float:
        """What synonyms of the question's words are worth in a sentence."""
        return sum(
            self.weights.get(term, self.unseen * _rareness(term))
            * SYNONYM
            * max((near[word] for word in near.keys() & words), default=0.0)
            for term, near in self.synonyms.items()
            if term not in words
        )


def _unseen(term: str) -> float:
    """What a word of the question that stands nowhere is worth: pairs of Chinese characters are often no word."""
    return 0.35 if is_unspaced(term) else _rareness(term)


def _rareness(term: str) -> float:
    """How much a word says, whatever text it stands in: `kernel` more than `use`. From COMMON to 1."""
    from foundation.text.synonyms import rareness

    return (COMMON + (1 - COMMON) * rareness(term)) * (WEAK if is_weak(term) else 1.0)


def question_of(text: str, speakers: Sequence[str], pieces: Sequence[Sequence[Piece]]) -> QuoteQuery:
    """The question, its words weighed by how rare they are in the sources. `speakers` are those of the sources."""
    text = plain_question(text)
    chinese, numbers = chinese_terms(text), number_forms(text)
    terms = [term for term in content_terms(text) if term not in chinese.asking]
    words = frozenset((*terms, *chinese.further))
    characters = frozenset(term for term in chinese.further if len(term) == 1)
    documents = [
        {*content_terms(piece.text), *content_terms(speaker), *characters.intersection(fold(piece.text))}
        for speaker, source in zip(speakers, pieces, strict=True)
        for piece in source
    ]
    weights = _rarity(documents)
    weights = {term: weights[term] * _rareness(term) for term in words & weights.keys()}
    held = frozenset(term for document in documents for term in document)
    kind = frozenset(term for word in _KIND_NAMED.findall(text) for term in content_terms(word))
    return QuoteQuery(
        text.strip(),
        words,
        weights,
        math.log(1 + sum(map(len, pieces))),
        {term: near for term in words if (near := _synonyms(term, held, numbers.get(term, ())))},
        frozenset(pairwise(terms)),
        tuple(shape for asked, shape in _KINDS if asked.search(text)),
        tuple(shape for asked, shape in _CUES if asked.search(text)),
        frozenset(term for speaker in speakers for term in content_terms(speaker)) & words,
        kind,
        words & frozenset(content_terms(attribute["name"])) if (attribute := _ATTRIBUTE.search(text)) else frozenset(),
        characters,
        _OPEN.search(text) is not None,
        _definition(text),
    )


def _synonyms(term: str, held: Set[str], spellings: Sequence[str]) -> dict[str, float]:
    from foundation.text.synonyms import synonyms_of  # brings numpy

    near = {other.term: other.share for other in synonyms_of(term) if other.share >= LEAST_SHARED}
    near |= _SAME_FORM.get(term, {}) | dict.fromkeys(spellings, 1.0)
    if len(term) == 2 and is_unspaced(term) and term not in held:
        near |= {character: HALF for character in term if character not in near and not is_weak(character)}
    for character in [other for other in near if len(other) == 1 and is_unspaced(other)]:
        near |= {other: near[character] for other in held if character in other and other not in near}
    return {other: share for other, share in near.items() if other in held and other != term}


def _definition(text: str) -> re.Pattern[str] | None:
    match = _DEFINITION.match(text)
    term = next((group for group in match.groups() if group), "").strip(" \"“”'‘’") if match else ""
    return re.compile(_DEFINED.format(term=re.escape(term)) + _MEANS, re.IGNORECASE) if term else None


def _rarity(documents: list[set[str]]) -> dict[str, float]:
    counts = Counter(term for document in documents for term in document)
    return {term: math.log(1 + len(documents) / count) for term, count in counts.items()}


def worth_of_pieces(pieces: Sequence[Piece], question: QuoteQuery, speaker: str) -> list[float]:
    """What each sentence of one source is worth as an answer."""
    paragraphs: dict[int, set[str]] = {}
    for piece in pieces:
        paragraphs.setdefault(piece.paragraph, set()).update(question.terms_in(piece.text))
    worth: list[float] = []
    before: Piece | None = None
    for piece in pieces:
        beside = set[str]()
        if before is not None and before.paragraph == piece.paragraph and not is_question(before.text):
            beside = question.terms_in(before.text)
        context = (beside, paragraphs[piece.paragraph], question.terms_in(piece.heading))
        worth.append(_worth(piece, question, speaker, context))
        before = piece
    return worth


def _worth(piece: Piece, question: QuoteQuery, speaker: str, context: tuple[set[str], set[str], set[str]]) -> float:
    sentence, terms = piece.text, content_terms(piece.text)
    words = question.terms_in(sentence)
    own = set(content_terms(speaker)) & question.named
    score = question.worth_of(words | own) + question.by_synonyms(words)
    if own and words & question.words - own:
        score += OWN
    elif not own:
        score -= ADDRESSED * question.worth_of(words & question.named)  # to speak to somebody is not to speak of them
    if score > 0:
        held = words | own
        for share, around in zip((BESIDE, AROUND, ABOVE), context, strict=True):
            score += share * question.worth_of(around - held)
            held |= around
        score += ABOVE_TOO * question.worth_of(words & context[2])
        score += sum(
            ADJACENT * (question.weights.get(first, 0.0) + question.weights.get(second, 0.0))
            for first, second in question.pairs & set(pairwise(terms))
        )
    if not is_question(sentence):
        score += 0.01
    score *= min(1.0, len(words) / FEW_WORDS)  # “Thanks, Ann!” names her and tells nothing
    if score > 0.1:
        score += KIND * sum(shape.search(sentence) is not None for shape in (*question.wanted, *question.cues))
        score += DEFINES * (question.defines is not None and question.defines.match(sentence) is not None)
    if is_question(sentence):
        score *= 0.5  # a question tells less than its answer
    return score / (1 + LENGTH * max(0, len(words) - 20))


def only_repeats(sentence: str, question: QuoteQuery) -> bool:
    """Whether the sentence only repeats the question, or adds nothing to its words.

    “Is the flight late?” may well be answered by “The flight is late.”, which says nothing else either.
    """
    words = set(content_terms(sentence))
    if sentence == question.text:
        return True
    if not words or not question.words:
        return False
    if is_question(sentence):
        shared = len(words & question.words)
        return shared >= NEAR * min(len(words), len(question.words)) and len(words - question.words) <= shared
    if any(match[0] not in question.text for shape in question.wanted for match in shape.finditer(sentence)):
        return False  # a date or a name, though its word says nothing elsewhere: May
    return question.is_open and words <= question.words
