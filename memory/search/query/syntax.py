"""A query's text as a person words it: plain words, `"an exact phrase"`, `-word` and `-"a phrase"` to leave out.

    "the boiler" leaks -gas   →   the words the, boiler, leaks; the phrase `the boiler`; without `gas`

Quotes and dashes mean this only in a short line: a text that was pasted is looked for as it stands. What ends with a
question mark (`Who likes "The Hobbit"?`) quotes a name, which its answer need not say: it is looked for by its words.
"""

import re
from functools import lru_cache

from msgspec import Struct

from foundation.text.analysis import term_list, token_spans
from foundation.text.folding import fold, is_unspaced

_LONGEST = 400  # characters of a line in which quotes and dashes are taken as signs
_SIGNS = re.compile(
    r'(?P<minus>(?<!\S)[-−–])?(?:"(?P<straight>[^"\n]+)"|“(?P<curly>[^”\n]+)”)'
    r'|(?<!\S)[-−–](?P<word>[^\W\d_][^\s"“”]*)'
)
_BLANKS = re.compile(r"\s+")


class ParsedQuery(Struct, frozen=True):
    """`question` is what is looked for by its words, the phrases' among them; `without` is what may not be there."""

    question: str = ""
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether a passage's text must be read to tell if it fits."""
        return bool(self.phrases) or any(not one_term(each) for each in self.without)

    def says(self, text: str) -> bool:
        """Whether a passage says each phrase, and nothing that it may not."""
        if not self.reads:
            return True
        said = _flat(text)
        return all(_stands(phrase, said) for phrase in self.phrases) and not any(
            _stands(each, said) for each in self.without
        )


@lru_cache(maxsize=64)
def worded(text: str) -> ParsedQuery:
    """The text, taken apart."""
    text = text.strip()
    if len(text) > _LONGEST or "\n" in text:
        return ParsedQuery(text)
    asks = text.endswith(("?", "？"))
    question, phrases, without, last = "", list[str](), list[str](), 0
    for found in _SIGNS.finditer(text):
        phrase = (found["straight"] or found["curly"] or "").strip()
        question += text[last : found.start()]
        last = found.end()
        if found["word"] or found["minus"]:
            without.append(found["word"] or phrase)
        elif phrase:
            question += f" {phrase} "
            if not asks:
                phrases.append(phrase)
    return ParsedQuery(
        " ".join((question + text[last:]).split()), tuple(phrases), tuple(each for each in without if each)
    )


def required(text: str) -> tuple[str, ...]:
    """The terms that an entry which says these words holds at least. Of what has joints, its parts: `src/http` stands
    in `src/http.py`, whose whole is another."""
    found = dict.fromkeys(term for its, _, _ in token_spans(text) for term in (_plain(its) or its))
    return tuple(found)


def one_term(word: str) -> str:
    """The one term of a plain word, "" where it has several: then only its text tells."""
    found = term_list(word)
    return found[0] if len(found) == 1 and not is_unspaced(found[0]) else ""


def _plain(terms: tuple[str, ...]) -> list[str]:
    return [term for term in terms if term.isalnum()]


@lru_cache(maxsize=8)
def _flat(text: str) -> str:
    return _BLANKS.sub(" ", fold(text))


def _stands(phrase: str, said: str) -> bool:
    """Whether the phrase stands there, and not within a longer word."""
    wanted = _BLANKS.sub(" ", fold(phrase)).strip()
    before = r"(?<!\w)" if wanted[:1].isascii() and wanted[:1].isalnum() else ""
    after = r"(?!\w)" if wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    if not (before or after):
        return wanted in said
    return re.search(f"{before}{re.escape(wanted)}{after}", said, re.ASCII) is not None
