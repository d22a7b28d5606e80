"""Markdown as plain lines, as soon as each sentence, row or block is finished."""

import re
from collections.abc import Callable
from typing import Final

from foundation.figures import counted
from foundation.text.sentences import boundaries

MAX_CODE_LINES: Final = 40  # of a code block that is printed; a longer one is folded

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_RULE: Final = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|=+\s*)$")
_ITEM: Final = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?(.*)$")
_QUOTE: Final = re.compile(r" {0,3}>\s?(.*)$")
_DIVIDER: Final = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_BREAK: Final = re.compile(r"(?<!\\)\|")
_IMAGE: Final = re.compile(r"!\[([^\]\n]*)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)")
_LINK: Final = re.compile(r"\[([^\]\n]+)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)")
_REFERENCE: Final = re.compile(r"(?<![\w\])!\[])\[(?!\d+\])([^\]\[\n]+)\]\[([^\]\[\n]*)\]")  # no a[i][j], no [1][2]
_DEFINITION: Final = re.compile(r" {0,3}\[(?!\^)([^\]\[\n]+)\]:\s+<?([^\s>]+)>?(?:\s+[\"'(].*[\"')])?\s*$")
_LABELLED: Final = re.compile(r" {0,3}\[[^\]\[\n]+\]:")
_AUTOLINK: Final = re.compile(r"<((?:https?|mailto):[^>\s]+)>")
_EMPHASIS: Final = re.compile(r"(\*\*\*|\*\*|\*|~~|(?<!\w)___|(?<!\w)__|(?<!\w)_)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE: Final = re.compile(r"(`+)(.+?)\1")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")

Fold = Callable[[str, Callable[[], str]], str]
"""Keeps a text under a title; gives the command that prints it."""


def plain(text: str) -> str:
    """Inline Markdown as words: links with their address, or with the label of one that is said on its own line, images
    with their name, no signs for emphasis."""
    kept: list[str] = []

    def keep(value: str) -> str:
        kept.append(value)
        return f"\x00{len(kept) - 1}\x00"

    text = text.replace("\x00", "␀")
    text = _CODE.sub(lambda match: keep(match[2].strip() or match[2]), text)
    text = _ESCAPE.sub(lambda match: keep(match[1]), text)
    text = _IMAGE.sub(lambda match: keep(f"image: {match[1] or 'without a name'} ({match[2]})"), text)
    text = _LINK.sub(lambda match: match[1] if match[1] == match[2] else f"{match[1]} (link: {keep(match[2])})", text)
    text = _REFERENCE.sub(lambda match: f"{match[1]} (link {match[2] or match[1]})", text)
    text = _AUTOLINK.sub(lambda match: keep(match[1]), text)
    for _ in range(3):  # nested emphasis
        text = _EMPHASIS.sub(r"\2", text)
    for _ in range(2):  # code within a kept link
        text = re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], text)
    return text


class LinearMarkdown:
    """Takes a text in pieces and says its lines. Call `end` after the last piece."""

    def __init__(self, say: Callable[[str], None], fold: Fold) -> None:
        self._say = say
        self._fold = fold
        self._rest = ""  # of the line that is being written
        self._is_begun = False  # whether the beginning of that line is in `_open` already
        self._open = ""  # sentences of a paragraph or an item that are not said yet
        self._prefix = ""  # of the next sentence
        self._fence = ""
        self._language = ""
        self._code: list[str] = []
        self._columns: list[str] = []  # of the table that is open
        self._maybe_header = ""
        self._row = 0

    def feed(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._take_line(line.removesuffix("\r"))
        if self._rest and (self._is_begun or self._is_text(self._rest)):
            self._is_begun = True  # what follows belongs to this sentence, whatever it looks like
            begun, self._rest = self._rest, ""
            self._take_sentences(begun)

    def end(self) -> None:
        if self._rest or self._is_begun:
            self._take_line(self._rest)
            self._rest = ""
        if self._fence:
            self._end_code()
        self._end_block()

    def _is_text(self, rest: str) -> bool:
        """Whether an unfinished line is text for sure and has a finished sentence, which can be said."""
        if self._fence or self._columns or self._maybe_header or "|" in rest or rest.lstrip()[:1] in "#>`~-*+_<=":
            return False
        return (
            not _ITEM.match(rest)
            and not _LABELLED.match(rest)
            and any(end < len(rest) and _is_closed(rest[:end]) for end in boundaries(rest))
        )

    def _take_line(self, line: str) -> None:
        if self._is_begun:
            self._is_begun = False
            self._take_sentences(line + " ")
        elif self._fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(self._fence) and not closing[2]:
                self._end_code()
            else:
                self._code.append(line)
        elif opening := _FENCE.match(line):
            self._end_block()
            self._fence, self._language, self._code = opening[1], opening[2], []
        elif not self._take_table(line):
            self._take_text(line)

    def _take_table(self, line: str) -> bool:
        if self._columns:
            if "|" in line:
                self._row += 1
                pairs = zip(self._columns, _cells(line), strict=False)
                self._say(f"Row {self._row}. " + "; ".join(f"{name}: {cell or 'empty'}" for name, cell in pairs))
                return True
            self._say(f"End of table, {counted(self._row, 'row')}.")
            self._columns, self._row = [], 0
            return False
        if self._maybe_header:
            header, self._maybe_header = self._maybe_header, ""
            if _DIVIDER.match(line) and "-" in line:
                self._columns = _cells(header)
                self._say(f"Table with {counted(len(self._columns), 'column')}: {', '.join(self._columns)}.")
                return True
            self._take_text(header)
            return self._take_table(line)
        if "|" in line and not self._open:
            self._maybe_header = line
            return True
        return False

    def _take_text(self, line: str) -> None:
        if not line.strip():
            self._end_block()
        elif heading := _HEADING.match(line):
            self._end_block()
            self._say(f"Heading {len(heading[1])}: {plain(heading[2])}")
        elif _RULE.match(line):
            self._end_block()
        elif not self._open and (definition := _DEFINITION.match(line)):
            self._end_block()
            self._say(f"Link {definition[1]}: {definition[2]}")
        elif item := _ITEM.match(line):
            self._end_block()
            level = len(item[1].expandtabs(4)) // 2 + 1
            box = {"": "", " ": "not done: "}.get(item[3] or "", "done: ")
            mark = "-" if item[2] in "-*+" else item[2]
            self._prefix = f"{f'Level {level}: ' if level > 1 else ''}{mark} {box}"
            self._take_sentences(item[4] + " ")
        elif quote := _QUOTE.match(line):
            if not self._open and not self._prefix:
                self._prefix = "Quote: "
            self._take_sentences(quote[1] + " ")
        else:
            self._take_sentences(line.strip() + " ")

    def _take_sentences(self, text: str) -> None:
        """Adds to the open paragraph, and says the sentences that are finished."""
        known = self._open + text
        *finished, self._open = [*_split(known), ""] if _is_finished(known) else _split(known) or [""]
        for sentence in finished:
            self._say_one(sentence)

    def _say_one(self, sentence: str) -> None:
        if words := plain(sentence.strip()):
            self._say(self._prefix + words)
            self._prefix = ""

    def _end_block(self) -> None:
        if self._maybe_header:
            header, self._maybe_header = self._maybe_header, ""
            self._take_text(header)
        if self._columns:
            self._take_table("")
        rest, self._open = self._open, ""
        for sentence in _split(rest):
            self._say_one(sentence)
        self._prefix = ""

    def _end_code(self) -> None:
        code, language = self._code, self._language
        self._fence, self._language, self._code = "", "", []
        size = counted(len(code), "line")
        title = f"Code block, {language}, {size}" if language else f"Code block, {size}"
        if len(code) > MAX_CODE_LINES:
            self._say(f"{title}: {self._fold(title, lambda: chr(10).join(code))} reads it.")
            return
        self._say(f"{title}:")
        for line in code:
            self._say(line)
        self._say("End of code.")


def _cells(line: str) -> list[str]:
    cells = _CELL_BREAK.split(line.strip().removeprefix("|"))
    if cells and not cells[-1].strip():
        cells.pop()
    return [plain(cell.strip().replace("\\|", "|")) for cell in cells]


def _split(text: str) -> list[str]:
    """The sentences of a paragraph; none ends within a link, a code or an emphasis."""
    parts: list[str] = []
    start = 0
    for end in (*boundaries(text), len(text)):
        if text[start:end].strip() and _is_closed(text[start:end]):
            parts.append(text[start:end])
            start = end
    return [*parts, text[start:]] if text[start:].strip() else parts


def _is_finished(text: str) -> bool:
    """Whether the text ends with a sentence and a blank behind it."""
    end = max((end for end in boundaries(text) if end < len(text)), default=0)
    return end > 0 and not text[end:].strip() and _is_closed(text)


def _is_closed(text: str) -> bool:
    return (
        text.count("`") % 2 == 0
        and text.count("[") <= text.count("]")
        and text.count("(") <= text.count(")")
        and text.count("**") % 2 == 0
        and re.search(r"(?:^|\s)\d{1,9}\.\s*$", text) is None
    )
