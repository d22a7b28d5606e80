"""Cuts a stream of Markdown into blocks that never change again, so that each is rendered once.

A paragraph ends at a blank line. What could go on for ever (a fence, a table, a list, a paragraph) is cut inside as
well, at the quietest place near a bound, so what is still open stays small and the work grows with the text alone.
"""

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct

from foundation.terminal_text import visible
from foundation.text.sentences import boundaries

CODE_LINES: Final = 16  # a fence is cut at the first calm line after so many, or at four times as many
TABLE_ROWS: Final = 40
PROSE_LINES: Final = 40
PARAGRAPH: Final = 1_500  # characters of one line, after which it is cut at the end of a sentence
LONGEST_LINE: Final = 4_000

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
_ITEM = re.compile(r"^ *(?:[-*+]|\d{1,9}[.)])(?: |$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


class BlockKind(StrEnum):
    PROSE = "prose"
    CODE = "code"
    TABLE = "table"


class MarkdownBlock(Struct, frozen=True):
    """A piece of an answer. `opens` and `ends` tell whether a fence or a table begins and ends in it."""

    kind: BlockKind
    source: str
    gap: bool = True  # a blank line stands before it
    indent: int = 0  # columns
    language: str = ""
    header: str = ""  # of a table: its first two lines
    sample: str = ""  # of a table that goes on: the rows its columns were measured by
    opens: bool = True
    ends: bool = True


class _Fence(Struct):
    mark: str
    indent: int
    language: str


class MarkdownSplitter:
    """Feed it text as it comes. What `feed` and `close` give is final; `tail` is what is still open.

    Blocks hold visible text: they are whole lines, so no character is judged without its neighbours.
    """

    def __init__(self) -> None:
        self._partial = ""
        self._lines: list[str] = []
        self._chars = 0
        self._indent = 0  # of the list item whose inside we are in, after a cut
        self._listing = False
        self._fence: _Fence | None = None
        self._header = ""
        self._sample = ""
        self._opens = True
        self._gap = False
        self._done: list[MarkdownBlock] = []

    def feed(self, text: str) -> list[MarkdownBlock]:
        """The blocks that this text finishes."""
        first, *rest = text.split("\n")
        self._partial += first
        for piece in rest:
            self._line(self._partial)
            self._partial = piece
        if len(self._partial) > PARAGRAPH:
            self._cut_partial()
        return self._take()

    def close(self) -> list[MarkdownBlock]:
        """The last blocks. The splitter is empty after it."""
        if self._partial:
            self._line(self._partial)
            self._partial = ""
        self._seal(ends=True)
        return self._take()

    def tail(self) -> list[MarkdownBlock]:
        """What is still open, as if it ended here."""
        ghost = MarkdownSplitter()
        ghost.__dict__.update(self.__dict__)
        ghost._lines = list(self._lines)
        ghost._done = []
        if set(ghost._partial.strip()) in ({"`"}, {"~"}):
            ghost._partial = ""  # a fence about to open or close
        return ghost.close()

    def _take(self) -> list[MarkdownBlock]:
        done, self._done = self._done, []
        return done

    def _line(self, line: str) -> None:
        line = line.removesuffix("\r")
        if self._fence:
            self._line_of_code(self._fence, line)
            return
        if self._indent:
            line = self._out_of_indent(line)
        if self._header and not ("|" in line and line.strip()):
            self._seal(ends=True)
        if self._header:
            self._row(line)
            return
        if (fence := _FENCE.match(line)) and (len(fence[1]) < 4 or self._listing):
            self._seal(ends=True)
            self._fence = _Fence(fence[2], self._indent + len(fence[1]), fence[3].split(" ")[0].strip())
            return
        self._prose(line)

    def _prose(self, line: str) -> None:
        words = line.strip()
        flush = words and line[0] != " "
        is_item = bool(_ITEM.match(line))
        fresh = not self._lines[-1].strip() if self._lines else self._opens
        if flush and fresh:
            self._seal(ends=True)
            self._listing = is_item
        elif is_item:
            self._listing = True
        if not words and not self._lines:
            self._opens = True
            return
        if self._lines and "|" in self._lines[-1] and "|" in line and _DELIMITER.match(line):
            head = self._lines.pop()
            self._chars -= len(head)
            self._seal(ends=True)
            self._header = f"{head}\n{line}"
            return
        self._add(line)
        if _HEADING.match(line):
            self._seal(ends=True)
        elif self._fullness() >= 2 or (is_item and self._fullness() >= 1):
            self._cut_prose(at_item=is_item)

    def _fullness(self) -> int:
        return max(len(self._lines) // PROSE_LINES, self._chars // (2 * PARAGRAPH))

    def _cut_prose(self, *, at_item: bool) -> None:
        """A long list, quote or run of lines: what stands is settled, and an item begins the rest."""
        last = self._lines.pop() if at_item else ""
        self._seal(ends=False)
        if last:
            depth = len(last) - len(last.lstrip(" "))
            self._indent += depth  # a nested list goes on; its indent is taken off from here
            self._add(last[depth:])

    def _out_of_indent(self, line: str) -> str:
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip():
            return ""
        if depth >= self._indent:
            return line[self._indent :]
        self._seal(ends=True)
        self._indent = 0
        self._listing = True
        if not _ITEM.match(line) and depth:
            self._indent = depth
            return line.lstrip(" ")
        return line

    def _row(self, line: str) -> None:
        if len(self._lines) >= TABLE_ROWS:
            self._seal(ends=False)
        self._add(line)

    def _line_of_code(self, fence: _Fence, line: str) -> None:
        if _closes(fence, line):
            self._seal(ends=True)
            self._fence = None
            self._indent = fence.indent
            return
        if len(self._lines) >= 4 * CODE_LINES or (len(self._lines) >= CODE_LINES and self._calm(line)):
            self._seal(ends=False)
        depth = len(line) - len(line.lstrip(" "))
        self._add(line[min(depth, fence.indent) :])

    def _calm(self, line: str) -> bool:
        """Whether code may be cut before this line and keep its colours: at its left edge, within no string."""
        if line.strip() and self._lines[-1].strip() and line[0].isspace():
            return False
        code = "\n".join(self._lines)
        return not (code.count('"""') % 2 or code.count("'''") % 2 or code.count("/*") > code.count("*/"))

    def _cut_partial(self) -> None:
        """One line has grown too long: its beginning is settled up to the end of a sentence."""
        if self._fence or self._header:
            if len(self._partial) > LONGEST_LINE:
                self._line(self._partial)
                self._partial = ""
            return
        ends = list(boundaries(self._partial))
        calm = [end for end in ends if _balanced(self._partial[:end])]
        room = len(self._partial) > LONGEST_LINE
        at = calm[-1] if calm else (ends or [len(self._partial)])[-1] if room else 0
        if at:
            item = _ITEM.match(self._partial)
            self._line(self._partial[:at])
            self._indent += len(item[0]) if item else 0
            self._partial = " " * self._indent + self._partial[at:].lstrip(" ")
            self._seal(ends=False)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line)

    def _seal(self, *, ends: bool) -> None:
        """What is open becomes a block. `ends` is False where the same thing goes on in the next."""
        while self._lines and not self._fence and not self._lines[-1].strip():
            self._lines.pop()
        source = visible("\n".join(self._lines))
        if self._fence and (self._lines or self._opens):
            self._push(BlockKind.CODE, source, self._fence.indent, ends, language=visible(self._fence.language))
        elif self._header:
            header = visible(self._header)
            self._push(BlockKind.TABLE, source, self._indent, ends, header=header, sample=self._sample)
            self._sample = self._sample or source
        elif self._lines:
            self._push(BlockKind.PROSE, source, self._indent, ends)
        if ends:
            self._header = self._sample = ""
            self._opens = True
        self._lines = []
        self._chars = 0

    def _push(
        self,
        kind: BlockKind,
        source: str,
        indent: int,
        ends: bool,
        *,
        language: str = "",
        header: str = "",
        sample: str = "",
    ) -> None:
        self._done.append(
            MarkdownBlock(kind, source, self._gap and self._opens, indent, language, header, sample, self._opens, ends)
        )
        self._opens = ends
        self._gap = True


def _closes(fence: _Fence, line: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence.mark) and set(mark) == {fence.mark[0]}


def _balanced(text: str) -> bool:
    return text.count("`") % 2 == 0 and text.count("**") % 2 == 0
