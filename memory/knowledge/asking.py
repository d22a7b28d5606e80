"""What a question to knowledge is about, and what the search finds on it.

"What did I learn about transformers in my notes?" asks of transformers: that a person learned it, and that it stands in
notes, every file here could say. So those words are left out, and asked with only where nothing is found without them.
"""

import re
from collections.abc import Callable, Iterator

from memory.search import Hit, Query, Results
from memory.search.query import KNOWLEDGE

LOOKED_AT = 60  # hits
PASSAGE = 200  # tokens
_OF_KNOWING = frozenset(
    ["learn", "learned", "learnt", "know", "knew", "known", "read", "note", "noted", "notes", "file", "files",
     "document", "documents", "say", "says", "said", "tell", "tells", "show", "find", "found", "write", "wrote",
     "written", "saved", "knowledge", "paper", "papers", "pdf", "screenshot", "screenshots", "slides",
     "summarise", "summarize"]
)  # fmt: skip
_ASKING = frozenset(
    ["what", "did", "do", "does", "i", "me", "my", "mine", "we", "our", "us", "about", "in", "on", "of", "from", "the",
     "a", "an", "is", "are", "was", "were", "have", "has", "which", "where", "when", "how", "that"]
)  # fmt: skip
_WORD = re.compile(r"[^\W_][\w'’.+#/-]*")


def asked(search: Callable[[Query], Results], question: str) -> tuple[Hit, ...]:
    """The hits on what the question is about; on the whole of it, or its words one by one, where that finds nothing."""
    for text in _wordings(question):
        found = search(Query(text=text, limit=LOOKED_AT, kinds=(KNOWLEDGE,), window_tokens=PASSAGE)).hits
        if found:
            return found
    return ()


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
