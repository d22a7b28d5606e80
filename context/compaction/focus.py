"""The focus of a compaction: what a person wants kept longest (`/compact the parser`)."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from foundation.text.analysis import term_list
from foundation.text.stopwords import is_weak

FOCUS_PREFIX: Final = "Focus: "
"""Begins the line of a summary that names its focus. A summary that replaces it keeps that focus."""
BOOST: Final = 6.0  # times the weight of a line that has all words of the focus, and one less
_LINE: Final = re.compile(rf"^{FOCUS_PREFIX}(.+)$", re.MULTILINE)


class Focus:
    """A few words in any language. False without a word that can be looked for."""

    def __init__(self, words: str = "") -> None:
        terms = dict.fromkeys(term_list(words, ""))
        self._terms = frozenset(term for term in terms if not is_weak(term)) or frozenset(terms)

    def __bool__(self) -> bool:
        return bool(self._terms)

    def factor(self, terms: Collection[str]) -> float:
        """What the weight of a line with these terms is multiplied by: 1 for a line about something else."""
        if not self._terms:
            return 1.0
        return 1.0 + (BOOST - 1.0) * len(self._terms.intersection(terms)) / len(self._terms)

    def matches(self, text: str) -> bool:
        return not self._terms.isdisjoint(term_list(text, "")) if self._terms else False

    def lines_of(self, texts: Iterable[str]) -> Iterator[str]:
        """The lines that are about the focus."""
        return (line for text in texts for line in text.splitlines() if self.matches(line))


def focus_in(summary: str) -> str:
    """The words that a summary names as its focus; "" where it has none."""
    match = _LINE.search(summary)
    return match[1].strip() if match else ""
