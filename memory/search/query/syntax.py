"""Query syntax: plain words, `"an exact phrase"`, `-word` and `-"a phrase"` to exclude.

    "the boiler" leaks -gas   →   the words the, boiler, leaks; the phrase `the boiler`; without `gas`

Quotes and dashes are operators only in a short line: a pasted text is searched literally. In a question (`Who likes
"The Hobbit"?`) quotes mark a name, which its answer need not contain: the phrase is searched by its words.
"""

import re
from functools import lru_cache

from msgspec import Struct

from foundation.text.analysis import term_list, token_spans
from foundation.text.folding import fold, is_unspaced

_LONGEST = 400  # characters of a line in which quotes and dashes are operators
_SIGNS = re.compile(
    r'(?P<minus>(?<!\S)[-−–])?(?:"(?P<straight>[^"\n]+)"|“(?P<curly>[^”\n]+)”)'
    r'|(?<!\S)[-−–](?P<word>[^\W\d_][^\s"“”]*)'
)
_BLANKS = re.compile(r"\s+")


class ParsedQuery(Struct, frozen=True):
    """`question` has the words to search, those of phrases included; `without` are excluded words and phrases."""

    question: str = ""
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def needs_text(self) -> bool:
        """Whether only the text of a passage, and not its terms, shows that it matches."""
        return bool(self.phrases) or any(not one_term(excluded) for excluded in self.without)

    def matches(self, text: str) -> bool:
        """Whether a text contains every phrase, and none of the excluded ones."""
        if not self.needs_text:
            return True
        flat = _flat(text)
        return all(_occurs(phrase, flat) for phrase in self.phrases) and not any(
            _occurs(excluded, flat) for excluded in self.without
        )


@lru_cache(maxsize=64)
def parse_text(text: str) -> ParsedQuery:
    """Parses the text."""
    text = text.strip()
    if len(text) > _LONGEST or "\n" in text:
        return ParsedQuery(text)
    is_question = text.endswith(("?", "？"))
    question, phrases, without, end = "", list[str](), list[str](), 0
    for match in _SIGNS.finditer(text):
        phrase = (match["straight"] or match["curly"] or "").strip()
        question += text[end : match.start()]
        end = match.end()
        if match["word"] or match["minus"]:
            without.append(match["word"] or phrase)
        elif phrase:
            question += f" {phrase} "
            if not is_question:
                phrases.append(phrase)
    return ParsedQuery(
        " ".join((question + text[end:]).split()), tuple(phrases), tuple(excluded for excluded in without if excluded)
    )


def required_terms(text: str) -> tuple[str, ...]:
    """Terms that every entry with these words holds. Of a compound only the parts: `src/http` is a part of
    `src/http.py`, whose whole is another term."""
    required_terms = dict.fromkeys(
        term for span_terms, _, _ in token_spans(text) for term in (_plain(span_terms) or span_terms)
    )
    return tuple(required_terms)


def one_term(word: str) -> str:
    """The single term of a plain word; "" where it has several, which only a text can match."""
    terms = term_list(word)
    return terms[0] if len(terms) == 1 and not is_unspaced(terms[0]) else ""


def _plain(terms: tuple[str, ...]) -> list[str]:
    return [term for term in terms if term.isalnum()]


@lru_cache(maxsize=8)
def _flat(text: str) -> str:
    return _BLANKS.sub(" ", fold(text))


def _occurs(phrase: str, text: str) -> bool:
    """Whether the phrase occurs there, and not within a longer word."""
    needle = _BLANKS.sub(" ", fold(phrase)).strip()
    before = r"(?<!\w)" if needle[:1].isascii() and needle[:1].isalnum() else ""
    after = r"(?!\w)" if needle[-1:].isascii() and needle[-1:].isalnum() else ""
    if not (before or after):
        return needle in text
    return re.search(f"{before}{re.escape(needle)}{after}", text, re.ASCII) is not None
