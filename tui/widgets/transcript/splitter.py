"""Splits streamed Markdown into blocks that do not change any more, so that each is rendered once.

A paragraph ends at a blank line. A fence, table, list or paragraph of any length is also cut inside, at the safest
offset near a limit: the open block stays small, and the total work is linear in the text.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from foundation.terminal_text import visible
from foundation.text.sentences import boundaries

CODE_LINES: Final = 16  # a fence is cut at the first safe line after so many, or at four times as many
TABLE_ROWS: Final = 40
PROSE_LINES: Final = 40
PARAGRAPH_CHARS: Final = 1_500  # characters of one line, after which it is cut at the end of a sentence
MAX_LINE_CHARS: Final = 4_000

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
_LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d{1,9}[.)])(?: |$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


class BlockKind(StrEnum):
    PROSE = "prose"
    CODE = "code"
    TABLE = "table"


class MarkdownBlock(Struct, frozen=True):
    """A block of an answer. `opens` and `ends`: whether a fence or a table starts, and ends, in it."""

    kind: BlockKind
    source: str
    gap: bool = True  # a blank line is drawn before it
    indent: int = 0  # columns
    language: str = ""
    header: str = ""  # of a table: its first two lines
    sample: str = ""  # of a continued table: the rows that its column widths were measured from
    opens: bool = True
    ends: bool = True
    references: Mapping[str, str] = {}  # URLs of links by reference, by label (references.py)


class _Fence(Struct):
    mark: str
    indent: int
    language: str


class MarkdownSplitter:
    """Incremental splitter. Blocks from `feed` and `close` are final; `open_blocks` is a preview of the rest.

    Blocks contain visible text (foundation.terminal_text) of whole lines, so that sequences are never split.
    """

    def __init__(self) -> None:
        self._partial = ""
        self._lines: list[str] = []
        self._chars = 0
        self._indent = 0  # columns, of the list item that was cut
        self._in_list = False
        self._fence: _Fence | None = None
        self._header = ""
        self._sample = ""
        self._opens = True
        self._gap = False
        self._finished: list[MarkdownBlock] = []

    def feed(self, text: str) -> list[MarkdownBlock]:
        """The blocks that this text finishes."""
        first, *rest = text.split("\n")
        self._partial += first
        for piece in rest:
            self._add_line(self._partial)
            self._partial = piece
        if len(self._partial) > PARAGRAPH_CHARS:
            self._cut_partial()
        return self._take_finished()

    def close(self) -> list[MarkdownBlock]:
        """The last blocks. Afterwards the splitter is empty."""
        if self._partial:
            self._add_line(self._partial)
            self._partial = ""
        self._finish_block(ends=True)
        return self._take_finished()

    def open_blocks(self) -> list[MarkdownBlock]:
        """The open blocks, as if the text ended here."""
        copy = MarkdownSplitter()
        copy.__dict__.update(self.__dict__)
        copy._lines = list(self._lines)
        copy._finished = []
        if set(copy._partial.strip()) in ({"`"}, {"~"}):
            copy._partial = ""  # an incomplete fence
        return copy.close()

    def _take_finished(self) -> list[MarkdownBlock]:
        finished, self._finished = self._finished, []
        return finished

    def _add_line(self, line: str) -> None:
        line = line.removesuffix("\r")
        if self._fence:
            self._add_code_line(self._fence, line)
            return
        if self._indent:
            line = self._dedent(line)
        if self._header and not ("|" in line and line.strip()):
            self._finish_block(ends=True)
        if self._header:
            self._add_table_row(line)
            return
        if (fence := _FENCE.match(line)) and (len(fence[1]) < 4 or self._in_list):
            self._finish_block(ends=True)
            self._fence = _Fence(fence[2], self._indent + len(fence[1]), fence[3].split(" ")[0].strip())
            return
        self._add_prose_line(line)

    def _add_prose_line(self, line: str) -> None:
        stripped = line.strip()
        at_margin = stripped and line[0] != " "
        is_item = bool(_LIST_ITEM.match(line))
        after_blank = not self._lines[-1].strip() if self._lines else self._opens
        if at_margin and after_blank:
            self._finish_block(ends=True)
            self._in_list = is_item
        elif is_item:
            self._in_list = True
        if not stripped and not self._lines:
            self._opens = True
            return
        if self._lines and "|" in self._lines[-1] and "|" in line and _DELIMITER.match(line):
            header_row = self._lines.pop()
            self._chars -= len(header_row)
            self._finish_block(ends=True)
            self._header = f"{header_row}\n{line}"
            return
        self._append(line)
        if _HEADING.match(line):
            self._finish_block(ends=True)
        elif self._excess() >= 2 or (is_item and self._excess() >= 1):
            self._cut_prose(at_item=is_item)

    def _excess(self) -> int:
        return max(len(self._lines) // PROSE_LINES, self._chars // (2 * PARAGRAPH_CHARS))

    def _cut_prose(self, *, at_item: bool) -> None:
        """Cuts a long list, quote or paragraph before the last list item, or after the last line."""
        last = self._lines.pop() if at_item else ""
        self._finish_block(ends=False)
        if last:
            depth = len(last) - len(last.lstrip(" "))
            self._indent += depth  # the rest of a nested list; its indent is removed from here on
            self._append(last[depth:])

    def _dedent(self, line: str) -> str:
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip():
            return ""
        if depth >= self._indent:
            return line[self._indent :]
        self._finish_block(ends=True)
        self._indent = 0
        self._in_list = True
        if not _LIST_ITEM.match(line) and depth:
            self._indent = depth
            return line.lstrip(" ")
        return line

    def _add_table_row(self, line: str) -> None:
        if len(self._lines) >= TABLE_ROWS:
            self._finish_block(ends=False)
        self._append(line)

    def _add_code_line(self, fence: _Fence, line: str) -> None:
        if _closes(fence, line):
            self._finish_block(ends=True)
            self._fence = None
            self._indent = fence.indent
            return
        if len(self._lines) >= 4 * CODE_LINES or (len(self._lines) >= CODE_LINES and self._is_safe_cut(line)):
            self._finish_block(ends=False)
        depth = len(line) - len(line.lstrip(" "))
        self._append(line[min(depth, fence.indent) :])

    def _is_safe_cut(self, line: str) -> bool:
        """Whether code can be cut before this line and keep its colours: at the left edge, outside strings."""
        if line.strip() and self._lines[-1].strip() and line[0].isspace():
            return False
        code = "\n".join(self._lines)
        return not (code.count('"""') % 2 or code.count("'''") % 2 or code.count("/*") > code.count("*/"))

    def _cut_partial(self) -> None:
        """Cuts a line that is too long at the end of a sentence."""
        if self._fence or self._header:
            if len(self._partial) > MAX_LINE_CHARS:
                self._add_line(self._partial)
                self._partial = ""
            return
        ends = list(boundaries(self._partial))
        safe = [end for end in ends if _balanced(self._partial[:end])]
        too_long = len(self._partial) > MAX_LINE_CHARS
        offset = safe[-1] if safe else (ends or [len(self._partial)])[-1] if too_long else 0
        if offset:
            marker = _LIST_ITEM.match(self._partial)
            self._add_line(self._partial[:offset])
            self._indent += len(marker[0]) if marker else 0
            self._partial = " " * self._indent + self._partial[offset:].lstrip(" ")
            self._finish_block(ends=False)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line)

    def _finish_block(self, *, ends: bool) -> None:
        """Finishes the open block. `ends` is False where the next block continues it."""
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
        self._finished.append(
            MarkdownBlock(kind, source, self._gap and self._opens, indent, language, header, sample, self._opens, ends)
        )
        self._opens = ends
        self._gap = True


def _closes(fence: _Fence, line: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence.mark) and set(mark) == {fence.mark[0]}


def _balanced(text: str) -> bool:
    return text.count("`") % 2 == 0 and text.count("**") % 2 == 0
