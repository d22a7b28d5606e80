"""Rewrites a question to knowledge, and searches for its subject.

"What did I learn about transformers in my notes?" is about transformers; that the person learned it, and has notes on
it, holds for every file here. So those words are left out, and used only where nothing is found without them.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from foundation.text.analysis import term_list, tokens
from foundation.text.stopwords import is_function_word
from memory.search import Hit, Query, SearchResults
from memory.search.query.query import KNOWLEDGE

LOOKED_AT = 75  # hits
EACH, EACH_OF_FEW = 3, 8  # hits of one file; and where no more than FEW files have any
FEW = 2
STEM_ONLY = 0.4  # weight of a passage that holds only other forms of the question's words
PASSAGE = 200  # tokens
_OF_KNOWING = frozenset(
    """learn learned learnt know knew known read note noted notes file files document documents say says said tell tells
    show find found write wrote written saved knowledge paper papers pdf screenshot screenshots slides summarise
    summarize""".split()  # noqa: SIM905 — a list of them fills a screen
)


def search_subject(
    search: Callable[[Query], SearchResults], question: str, among: Sequence[frozenset[int]]
) -> tuple[tuple[Hit, ...], int]:
    """Hits on the question's subject; on the whole question, then on its words one by one, where that finds nothing.

    `among` are sets of conversations, searched in order until one has hits. Returns the hits and the index of that set.
    """
    for text in _wordings(question):
        for index, conversations in enumerate(among):
            if found := _search_files(search, text, conversations):
                return tuple(sorted(_by_exact_words(found, text), key=lambda hit: -hit.score)), index
    return (), 0


def _search_files(
    search: Callable[[Query], SearchResults], text: str, conversations: frozenset[int]
) -> tuple[Hit, ...]:
    """A few passages of each file, so that one large file does not crowd out the others."""
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
    """The hits, with a lower score for each word of the question that they hold only in another form.

    The search matches stems, for which `transformers` is `transformed`.
    """
    wanted = {_singular(word) for word in _content_words(text)}
    for hit in hits:
        held = {_singular(word) for word in tokens(f"{hit.citation.title} {hit.snippet}".casefold())}
        share = len(wanted & held) / len(wanted) if wanted else 1.0
        yield replace(hit, score=hit.score * (STEM_ONLY + (1 - STEM_ONLY) * share))


def _singular(word: str) -> str:
    """The word without its plural's `s`. A stemmer would merge forms that differ here."""
    word = word.removesuffix("'s").removesuffix("’s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _content_words(text: str) -> list[str]:
    """The words of a question that name its subject, in small letters."""
    return [word for word in tokens(text.casefold()) if word not in _OF_KNOWING and not _is_function_word(word)]


def _is_function_word(word: str) -> bool:
    return all(map(is_function_word, term_list(word, "")))


def topic(question: str) -> str:
    """The question without words such as “learned” and “noted”, which hold for every file."""
    return " ".join(word for word in question.split() if _OF_KNOWING.isdisjoint(tokens(word.casefold())[:1]))


def _wordings(question: str) -> Iterator[str]:
    """The question about its subject, the whole question, and each longer word by itself, the longest first."""
    if _content_words(question):
        yield topic(question)
    yield question
    yield from sorted({word for word in _content_words(question) if len(word) > 3}, key=lambda word: (-len(word), word))
