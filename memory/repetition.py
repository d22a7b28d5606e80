"""Repetition: whether a text says only what its sources say.

A model that answers from memory writes the recalled facts once more. Such an answer is derived (memory/origin.py): its
sources are found themselves. Sentence by sentence, two neighbouring sentences of one source must hold at least COVERED
of the content terms and deny or affirm as it does, and each value (a date, an amount, a name) must occur in the
sources. A question, a supposition or a wish is no source: an answer that affirms it says something new. Citations,
questions, offers of help, words that only say where it stands (“according to your message”) and sentences without a
content term say nothing. A piece of a memory tool's result, copied as it is, says nothing either. When in doubt a text
counts as new: it is then found beside its sources, where the ranking prefers these.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.languages import language_of
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from foundation.text.tags import TAG_PREFIX
from memory.cold.recalled_results import passages_in
from memory.search.results.statements import SUPPOSED
from memory.search.results.values import NEGATION, values

COVERED = 0.7
"""Least share of a sentence's content terms that two neighbouring sentences of one source hold."""

LONGEST = 20_000
"""Characters of a text from which on it counts as new without being compared, and those read of a source."""

_MOST_SENTENCES = 4_000  # of all sources together
_CITATION = re.compile(r"[\[【][^\[\]【】\n]{0,300}(?: · |\b[emp]g?_)[^\[\]【】\n]{0,300}[\]】]")
_FENCE = re.compile(r"^```\w*$", re.MULTILINE)
_SHORTEST_COPY = 40  # characters: shorter ones are anybody's words
_DENYING = re.compile("[没未别]")
_ASKING = re.compile(
    r"\s*(?:(?:so|and|but|ok|hey),? )*(?:is|are|was|were|do|does|did|can|will|has|have|had|shall"
    r"|(?:is|are|do|does|did|was)n['’]t|who|what|where|when|why|how|which)\b|.*(?:是不是|有没有|对吧|什么|哪|几|谁|多少)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:let me know|feel free|hope (?:this|that|it) helps|(?:happy|glad) to help|need anything|anything else"
    r"|just ask|would you like)\b|告诉我|随时|需要帮|还有(?:什么|其他)|希望.{0,6}帮",
    re.IGNORECASE,
)

_FRAMING = frozenset(
    term_list(
        "according message memory source note record say mention tell earlier previous previously conversation chat"
        " recall remember remind answer find search result show state write store stored date fact detail information",
        "",
    )
) | {"根据", "记录", "记忆", "之前", "资料", "来源", "消息", "提到", "说过", "对话", "答案"}
"""Terms that say where something stands."""

_MOST_FRAMING = 2
"""Such terms in a sentence of nothing else: with more of them it may say something of its own."""


_ENGLISH_ANNOUNCING = """
look search check find keep see recall remember memory note tell moment second minute ask understand help
"""
_CHINESE_ANNOUNCING = """
查找 找找 看看 搜索 稍等 片刻 想想 帮您 帮你 告诉 记住 记下 明白 收到
找一 一找 来查 查一 看一 一查 一看 您查 你查 您看 你看 索一 诉我 下来 记忆
"""
ANNOUNCING = frozenset(term_list(_ENGLISH_ANNOUNCING, "")) | frozenset(_CHINESE_ANNOUNCING.split())
"""Terms of what a model writes before it calls a tool, or where it has nothing to say: “Let me look.”"""


class SourceText(Struct, frozen=True):
    """A text that another may repeat. `label` is what is said about it: its citation, its date."""

    ref: str
    text: str
    label: str = ""


def passages_of_result(result: str) -> Iterator[SourceText]:
    """The passages that the result of a memory tool brought back."""
    return (SourceText(ref, text, cite) for ref, text, cite in passages_in(result))


def repeated_sources(text: str, sources: Iterable[SourceText]) -> tuple[str, ...]:
    """References of the sources that the text repeats; none where it says anything new, or nothing at all."""
    if len(text) > LONGEST or not text.strip():  # the answers of a long run of tool calls say nothing
        return ()
    known = _Windows(sources)
    used: dict[str, None] = {}
    for sentence in sentences(_CITATION.sub(" ", text)):
        stated = known.beside_labels(_content(sentence.text))
        terms = stated - _FRAMING or (stated if len(stated) > _MOST_FRAMING else frozenset[str]())
        if not terms or is_question(sentence.text) or _OFFER.search(sentence.text):
            continue
        if (ref := known.source_of(terms, sentence.text)) is None:
            return ()
        used[ref] = None
    return tuple(used)


def only_announces(text: str, about: Iterable[str]) -> bool:
    """Whether the text says no more than that the model looks for what the texts `about` it name, or keeps it."""
    named = {term for source in about for term in term_list(source[:LONGEST])}
    return len(text) <= LONGEST and set(_content(text)) <= named | ANNOUNCING | _FRAMING


def is_copied(text: str, results: Iterable[str]) -> bool:
    """Whether the text is a piece of one of the results, in a fence of code or not."""
    words = " ".join(_FENCE.sub(" ", text).split())
    return len(words) >= _SHORTEST_COPY and any(words in " ".join(result.split()) for result in results)


class _Windows:
    """Pairs of neighbouring sentences of the sources, by the terms that they hold."""

    def __init__(self, sources: Iterable[SourceText]) -> None:
        self._refs: list[str] = []
        self._denials: list[frozenset[bool]] = []  # of the sentences of each pair
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        self._all: set[str] = set()
        self._labels: set[str] = set()
        self._values: set[str] = set()
        for ref, terms, denials in islice(self._pairs(sources), _MOST_SENTENCES):
            for term in terms:
                self._holding[term].append(len(self._refs))
            self._refs.append(ref)
            self._denials.append(denials)

    def _pairs(self, sources: Iterable[SourceText]) -> Iterator[tuple[str, frozenset[str], frozenset[bool]]]:
        for source in sources:
            self._labels.update(term_list(source.label))
            before, denied = frozenset[str](), frozenset[bool]()
            for sentence in sentences(source.text[:LONGEST]):
                terms = frozenset[str]() if _states_nothing(sentence.text) else frozenset(_content(sentence.text))
                self._all.update(term_list(sentence.text))
                self._values.update(value.value for value in values(sentence.text))
                denies = frozenset({_denies(sentence.text)})
                yield source.ref, before | terms, denied | denies
                before, denied = terms, denies

    def beside_labels(self, terms: Iterable[str]) -> frozenset[str]:
        """The terms, without those that only say where the sources stand."""
        return frozenset(term for term in terms if term in self._all or term not in self._labels)

    def source_of(self, terms: frozenset[str], sentence: str) -> str | None:
        """Reference of the source that holds the sentence best; None where none does, or a value is new."""
        if any(self._is_new(term, value) for term, value in _claims(sentence)):
            return None
        denies, held = _denies(sentence), defaultdict[int, int](int)
        for term in terms:
            for window in self._holding.get(term, ()):
                held[window] += denies in self._denials[window]
        best = max(held, key=lambda window: (held[window], -window), default=None)
        return self._refs[best] if best is not None and held[best] >= COVERED * len(terms) else None

    def _is_new(self, terms: frozenset[str], value: str) -> bool:
        return value not in self._values and not terms <= self._all | self._labels


def _content(text: str) -> Iterator[str]:
    """Content terms, without tags."""
    language = language_of(text)
    return (term for term in term_list(text, language) if not is_weak(term) and not term.startswith(TAG_PREFIX))


def _states_nothing(sentence: str) -> bool:
    return SUPPOSED.search(sentence) is not None or _ASKING.match(sentence) is not None


def _denies(text: str) -> bool:
    return NEGATION.search(text) is not None or _DENYING.search(text) is not None


def _claims(sentence: str) -> Iterator[tuple[frozenset[str], str]]:
    """The terms of each value of a sentence, and the value in its normal form."""
    for value in values(sentence):
        yield frozenset(term_list(sentence[value.start : value.end])), value.value
