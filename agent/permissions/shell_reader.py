"""Reads a command line as a POSIX shell or bash would split it, without running anything.

It is generous: where the shells differ, or the line is malformed, it reads as much as it can and says so.
"""

import re
from itertools import product
from typing import Final

from msgspec import Struct, field

UNKNOWN: Final = "\ue000"
"""In a word: text that only the shell will know, of a variable, a substitution or a glob."""
_OPEN, _COMMA, _CLOSE = "\ue001", "\ue002", "\ue003"  # braces and commas outside of quotes
_PRIVATE: Final = re.compile("[\ue000-\ue003\0]")
_HERE_DOCUMENT: Final = re.compile(r"<<(?P<dash>-?)[ \t]*(?P<word>'[^'\n]*'|\"[^\"\n]*\"|\\?[^\s;|&<>()]+)")
_REDIRECTION: Final = re.compile(r"&>>?|[0-9]*(?:<<<|<>|>>|>\||<&|>&|<|>)")
_VARIABLE: Final = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-])")
_ANSI: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS: Final = dict(zip("ntrabeEfv", "\n\t\r\a\b\x1b\x1b\f\v", strict=True))
_MOST_WORDS: Final = 200  # that the braces of one word may make


class ShellReading(Struct):
    """The commands as words; `substitutions` are command lines within; `inputs` are here-documents and here-strings.

    `is_whole` is false where some of it could not be read.
    """

    commands: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    substitutions: list[str] = field(default_factory=list[str])
    inputs: list[str] = field(default_factory=list[str])
    is_whole: bool = True


def read_line(line: str) -> ShellReading:
    """The commands of the line."""
    return _ShellReader(line).read()


class _ShellReader:
    def __init__(self, line: str) -> None:
        self._text = _PRIVATE.sub("", line)
        self._at = 0
        self._words: list[str] = []
        self._word: str | None = None
        self._is_target = False  # the next word is where a redirection leads
        self._is_input = False  # the next word is a here-string
        self._documents: list[tuple[str, bool]] = []  # ends of here-documents that begin at the next line
        self._result = ShellReading(is_whole=self._text == line)

    def read(self) -> ShellReading:
        while self._at < len(self._text):
            self._step()
        self._end_command()
        return self._result

    def _step(self) -> None:
        text, at = self._text, self._at
        letter = text[at]
        if text.startswith("\\\n", at):
            self._at += 2
        elif letter == "\\":
            self._add(text[at + 1 : at + 2] or letter)
            self._at += 2
        elif letter in " \t":
            self._end_word()
            self._at += 1
        elif letter in "\n;|()":
            self._end_command()
            self._at += 1
            if letter == "\n":
                self._read_documents()
        elif letter == "#" and self._word is None:
            end = text.find("\n", at)
            self._at = len(text) if end < 0 else end
        elif letter == "'":
            self._add(self._up_to("'", at + 1))
        elif letter == '"':
            self._at += 1
            self._quoted()
        elif letter in "$`" or text.startswith(("<(", ">("), at):
            self._expansion()
        elif letter in "<>" or text.startswith("&>", at) or self._is_numbered():
            self._redirection()
        elif letter == "&":
            self._end_command()
            self._at += 1
        else:
            self._plain(letter)

    def _is_numbered(self) -> bool:
        """Whether a number stands here that belongs to a redirection: `2>&1`."""
        return self._word is None and re.compile(r"[0-9]+[<>]").match(self._text, self._at) is not None

    def _plain(self, letter: str) -> None:
        self._at += 1
        if letter in "{,}":
            self._add({"{": _OPEN, ",": _COMMA, "}": _CLOSE}[letter])
        elif letter in "*?":
            self._add(UNKNOWN)
        elif letter == "[" and (match := re.compile(r"[^\s\]]+\]").match(self._text, self._at)):
            self._at = match.end()
            self._add(UNKNOWN)
        else:
            self._add(letter)

    def _quoted(self) -> None:
        """The rest of a double-quoted text."""
        text = self._text
        self._add("")
        while self._at < len(text):
            letter = text[self._at]
            if letter == '"':
                self._at += 1
                return
            if letter == "\\" and text[self._at + 1 : self._at + 2] in {"$", "`", '"', "\\", "\n"}:
                self._add(text[self._at + 1].replace("\n", ""))
                self._at += 2
            elif letter in "$`":
                self._expansion(quoted=True)
            else:
                self._add(letter)
                self._at += 1
        self._result.is_whole = False

    def _expansion(self, *, quoted: bool = False) -> None:
        text, at = self._text, self._at
        if text[at] == "`":
            inner = self._up_to("`", at + 1, escapes=True)
            self._result.substitutions.append(re.sub(r"\\([`\\$])", r"\1", inner))
        elif text.startswith(("$(", "<(", ">("), at):
            self._result.substitutions.append(self._balanced(at + 2, "(", ")"))
        elif text.startswith("${", at):
            inner = self._balanced(at + 2, "{", "}")
            if "$(" in inner or "`" in inner:
                self._result.substitutions.append(inner)
        elif text.startswith("$'", at) and not quoted:
            self._add(_ANSI.sub(_ansi, self._up_to("'", at + 2, escapes=True)))
            return
        elif text.startswith('$"', at) and not quoted:
            self._at += 2
            self._quoted()
            return
        elif match := _VARIABLE.match(text, at):
            self._at = match.end()
        else:
            self._add("$")
            self._at += 1
            return
        self._add(UNKNOWN)

    def _redirection(self) -> None:
        text, at = self._text, self._at
        if (document := _HERE_DOCUMENT.match(text, at)) and not text.startswith("<<<", at):
            self._end_word()
            self._documents.append((document["word"].strip("'\"").removeprefix("\\"), bool(document["dash"])))
            self._at = document.end()
            return
        match = _REDIRECTION.match(text, at)
        self._end_word()
        self._at = match.end() if match else at + 1
        operator = match.group() if match else ""
        self._is_input = operator.endswith("<<<")
        self._is_target = True

    def _read_documents(self) -> None:
        for end, has_tabs in self._documents:
            lines = list[str]()
            while self._at < len(self._text):
                newline = self._text.find("\n", self._at)
                stop = len(self._text) if newline < 0 else newline
                line = self._text[self._at : stop]
                self._at = min(stop + 1, len(self._text))
                if (line.lstrip("\t") if has_tabs else line) == end:
                    break
                lines.append(line)
            else:
                self._result.is_whole = False
            body = "\n".join(lines)
            self._result.inputs.append(body)
            found = re.findall(r"\$\(([^)]*)\)|`([^`]*)`", body)
            self._result.substitutions += [part for parts in found for part in parts if part]
        self._documents = []

    def _up_to(self, end: str, start: int, *, escapes: bool = False) -> str:
        """The text up to the next `end`, which is passed."""
        at = start
        while at < len(self._text) and self._text[at] != end:
            at += 2 if escapes and self._text[at] == "\\" else 1
        if at >= len(self._text):
            self._result.is_whole = False
        self._at = at + 1
        return self._text[start:at]

    def _balanced(self, start: int, opens: str, closes: str) -> str:
        """The text up to the bracket that closes, which is passed. Quotes hide brackets."""
        depth, at = 1, start
        while at < len(self._text):
            letter = self._text[at]
            if letter == "\\":
                at += 1
            elif letter in "'\"" and (end := self._text.find(letter, at + 1)) > 0:
                at = end
            elif letter == opens:
                depth += 1
            elif letter == closes:
                depth -= 1
                if not depth:
                    self._at = at + 1
                    return self._text[start:at]
            at += 1
        self._result.is_whole = False
        self._at = len(self._text)
        return self._text[start:]

    def _add(self, text: str) -> None:
        self._word = (self._word or "") + text

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._is_target:
            if self._is_input:
                self._result.inputs.append(_plain_braces(word))
            self._is_target = self._is_input = False
            return
        words = _expanded(word)
        self._result.is_whole &= len(words) <= _MOST_WORDS
        self._words += words[:_MOST_WORDS]

    def _end_command(self) -> None:
        self._end_word()
        self._is_target = self._is_input = False
        if self._words:
            self._result.commands.append(tuple(self._words))
        self._words = []


def _ansi(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if match[group]:
            number = int(match[group], base)
            return chr(number) if number < 0x110000 else UNKNOWN
    return _ANSI_LETTERS.get(match[5], match[5])


_BRACES: Final = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")


def _expanded(word: str) -> list[str]:
    """The words that the braces of a word stand for."""
    match = _BRACES.search(word)
    if match is None:
        return [_plain_braces(word)]
    before, inner, after = word[: match.start()], match[1], word[match.end() :]
    if _COMMA not in inner:
        unknown = UNKNOWN if ".." in inner else "{" + inner + "}"
        return _expanded(before + unknown + after)
    rests = _expanded(before), inner.split(_COMMA), _expanded(after)
    if len(rests[0]) * len(rests[1]) * len(rests[2]) > _MOST_WORDS:
        return [UNKNOWN] * (_MOST_WORDS + 1)
    return ["".join(parts) for parts in product(*rests) if "".join(parts)]


def _plain_braces(word: str) -> str:
    return word.replace(_OPEN, "{").replace(_COMMA, ",").replace(_CLOSE, "}")
