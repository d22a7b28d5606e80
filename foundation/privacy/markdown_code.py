"""Tracks, line by line, whether an offset in Markdown is in code, in doubt, or not."""

import re
from functools import cache

# After one of these, or at a line's start, or after a character that is not ASCII, backticks may open a code span.
# After a letter (`don`t`), a digit or a secret's last character they do not.
_BEFORE_A_SPAN = frozenset(" \t([{\"'*,;:>|")


class CodeContext:
    """The code blocks open at the scanner's position. Feed it all text that is not removed, in order.

    With `fences_talk` a tag in a fence that is closed is talk about the tag; without, only one in a code span is.
    """

    def __init__(self, *, fences_talk: bool = False) -> None:
        self._fences_talk = fences_talk
        self._fence: tuple[str, int] | None = None  # character and length of the fence that is open
        self._fence_closes = False  # it is known that it will be closed
        self._new_fence: tuple[str, int] | None = None  # this line opens one, if it goes on as it began
        self._ends_fence = False  # this line closes the fence, if nothing follows
        self._span = 0  # length of the run that would open a code span on this line
        self._blank = True  # nothing but space so far on this line
        self._last = "\n"

    @property
    def in_fence(self) -> bool:
        return self._fence is not None

    def plain(self, text: str) -> None:
        """Text without line ends (a mark has none either)."""
        if not text:
            return
        if not text.isspace():
            self._blank = False
            self._ends_fence = False
        self._last = text[-1]

    def newline(self) -> None:
        if self._fence is None:
            self._fence = self._new_fence
            self._fence_closes = False
        elif self._ends_fence:
            self._fence = None
        self._new_fence = None
        self._ends_fence = False
        self._span = 0
        self._blank = True
        self._last = "\n"

    def run(self, run: str) -> None:
        """A run of backticks, or of three tildes and more."""
        mark, length = run[0], len(run)
        if self._fence is not None:
            self._ends_fence = self._blank and mark == self._fence[0] and length >= self._fence[1]
        elif mark == "`":
            self._span_mark(length)
        elif self._blank:
            self._new_fence = (mark, length)
        self._blank = False
        self._last = mark

    def _span_mark(self, length: int) -> None:
        if self._new_fence and self._new_fence[0] == "`":
            self._new_fence = None  # a fence's first line holds no more backticks
        elif self._blank and length >= 3:
            self._new_fence = ("`", length)
        if self._span == length:
            self._span = 0
        elif not self._span and (self._last in _BEFORE_A_SPAN or self._last == "\n" or not self._last.isascii()):
            self._span = length

    def talk_until(self, text: str, tag_end: int, *, final: bool) -> bool | None:
        """Whether the tag that ends at `tag_end` is talk about the tag; None where more text must come first."""
        if self._fence is not None:
            return self._fences_talk and self._in_fence(text, tag_end, final=final)
        if not self._span:
            return False
        line_end = text.find("\n", tag_end)
        rest = text[tag_end:] if line_end < 0 else text[tag_end:line_end]
        closing = _run_of(self._span).search(rest)
        if line_end < 0 and not final and (closing is None or closing.end() == len(rest)):
            return None
        return closing is not None

    def _in_fence(self, text: str, tag_end: int, *, final: bool) -> bool | None:
        if self._fence is None:
            return False
        if not self._fence_closes:
            closing = _closing_fence(*self._fence).search(text, tag_end)
            if closing is None:
                return False if final else None
            if closing.end() == len(text) and not closing.group().endswith("\n") and not final:
                return None
            self._fence_closes = True
        return True


@cache
def _run_of(length: int) -> re.Pattern[str]:
    return re.compile(rf"(?<!`)`{{{length}}}(?!`)")


@cache
def _closing_fence(mark: str, length: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]*{re.escape(mark)}{{{length},}}[ \t]*(?:\n|\Z)")
