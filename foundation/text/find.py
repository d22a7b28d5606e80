"""Finds a text inside another one, as a search in an editor does."""

import re
from functools import cached_property
from typing import Final

MOST_SPANS: Final = 10_000
_BREAK: Final = r"[ \u258e]*\n[ \u258e]*"  # a wrapped line, with its indentation and the bar of a quote


class TextFinder:
    """One query: upper and lower case are alike, any run of blanks matches any other, "" is found nowhere."""

    def __init__(self, query: str) -> None:
        self.words = query.split()
        self._longest = max((word.casefold() for word in self.words), key=len, default="")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(r"\s+".join(map(re.escape, self.words)), re.IGNORECASE)

    @cached_property
    def _wrapped(self) -> re.Pattern[str]:
        """The pattern for lines that were wrapped, at blanks and between any characters."""
        words = [f"(?:{_BREAK})?".join(map(re.escape, word)) for word in self.words]
        return re.compile(rf"(?:\s|{_BREAK})+".join(words), re.IGNORECASE)

    def count(self, text: str) -> int:
        """How often it occurs, at most MOST_SPANS."""
        return len(self.spans(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The spans in the text, in order; at most MOST_SPANS."""
        if not self._longest or self._longest not in text.casefold():
            return []
        return [match.span() for match, _ in zip(self._pattern.finditer(text), range(MOST_SPANS), strict=False)]

    def spans_in_lines(self, text: str) -> list[tuple[int, int]]:
        """The same in lines that were wrapped, joined by newlines."""
        if not self.words:
            return []
        return [match.span() for match, _ in zip(self._wrapped.finditer(text), range(MOST_SPANS), strict=False)]

    def narrows(self, other: "TextFinder") -> bool:
        """Whether it occurs only where the other one does."""
        return bool(other.words) and " ".join(other.words).casefold() in " ".join(self.words).casefold()


def find_spans(text: str, query: str) -> list[tuple[int, int]]:
    """The spans of `query` in the text, upper and lower case alike, in order; at most MOST_SPANS."""
    return TextFinder(query).spans(text)
