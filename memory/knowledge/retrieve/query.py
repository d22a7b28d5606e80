"""What a question to knowledge is about, and what the search finds on it.

"What did I learn about transformers in my notes?" asks of transformers: that a person learned it, and that it stands in
notes, every file here could say. So those words are left out, and asked with only where nothing is found without them.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from memory.search import Hit, Query, Results
from memory.search.query.query import KNOWLEDGE

LOOKED_AT = 75  # hits
EACH, EACH_OF_FEW = 3, 8  # hits of one file; and where no more than FEW files have any
FEW = 2
STEM_ONLY = 0.4  # what a passage is worth that has other forms of the question's words, and none as it was asked
PASSAGE = 200  # tokens
_OF_KNOWING = frozenset(
    [
        "learn",
        "learned",
        "learnt",
        "know",
        "knew",
        "known",
        "read",
        "note",
        "noted",
        "notes",
        "file",
        "files",
        "document",
        "documents",
        "say",
        "says",
        "said",
        "tell",
        "tells",
        "show",
        "find",
        "found",
        "write",
        "wrote",
        "written",
        "saved",
        "knowledge",
        "paper",
        "papers",
        "pdf",
        "screenshot",
        "screenshots",
        "slides",
        "summarise",
        "summarize",
    ]
)
_ASKING = frozenset(
    [
        "what",
        "did",
        "do",
        "does",
        "i",
        "me",
        "my",
        "mine",
        "we",
        "our",
        "us",
        "about",
        "in",
        "on",
        "of",
        "from",
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "have",
        "has",
        "which",
        "where",
        "when",
        "how",
        "that",
    ]
)
_WORD = re.compile(r"[^\W_][\w'’.+#/-]*")


def asked(
    search: Callable[[Query], Results], question: str, among: Sequence[frozenset[int]]
) -> tuple[tuple[Hit, ...], int]:
    """The hits on what the question is about; on the whole of it, or its words one by one, where that finds nothing.

    `among` are sets of conversations: each is asked only where those before it have nothing. Gives also which one had.
    """
    for text in _wordings(question):
        for place, conversations in enumerate(among):
            if found := _found(search, text, conversations):
                return tuple(sorted(_by_exact_words(found, text), key=lambda hit: -hit.score)), place
    return (), 0


def _found(search: Callable[[Query], Results], text: str, conversations: frozenset[int]) -> tuple[Hit, ...]:
    """A few passages of each file, so that one large file does not stand before all the others."""
    if not conversations:
        return ()
    query = Query(text=text, limit=LOOKED_AT, kinds=(KNOWLEDGE,), window_tokens=PASSAGE, among=conversations, each=EACH)
    hits = search(query).hits
    if hits and len({hit.conversation for hit in hits}) <= FEW:
        return search(
            Query(
                text=text,
                limit=LOOKED_AT,
                kinds=(KNOWLEDGE,),
                window_tokens=PASSAGE,
                among=conversations,
                each=EACH_OF_FEW,
            )
        ).hits
    return hits


def _by_exact_words(hits: Sequence[Hit], text: str) -> Iterator[Hit]:
    """The search goes by stems, to which `transformers` is `transformed`: the word as it was asked says more."""
    words = {_singular(word) for word in map(_bare, text.split()) if word} - _ASKING - _OF_KNOWING
    for hit in hits:
        there = {_singular(word[0]) for word in _WORD.finditer(f"{hit.citation.title} {hit.snippet}".casefold())}
        share = len(words & there) / len(words) if words else 1.0
        yield replace(hit, score=hit.score * (STEM_ONLY + (1 - STEM_ONLY) * share))


def _singular(word: str) -> str:
    """Near enough: `transformers` and `transformer` are the same word."""
    word = word.rstrip(".'’-/+").removesuffix("'s").removesuffix("’s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def topic(question: str) -> str:
    """The question without the words that say only that something was learnt, noted or filed."""
    return " ".join(word for word in question.split() if _bare(word) not in _OF_KNOWING)


def _wordings(question: str) -> Iterator[str]:
    first = topic(question)
    if any(_bare(word) not in _ASKING for word in first.split()):
        yield first
    yield question
    words = {_bare(word) for word in question.split()} - _OF_KNOWING - _ASKING
    yield from sorted((word for word in words if len(word) > 3), key=lambda word: (-len(word), word))


def _bare(word: str) -> str:
    found = _WORD.search(word.casefold())
    return found[0] if found else ""
