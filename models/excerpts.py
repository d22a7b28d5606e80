"""Texts of which a request holds only the beginning: the line that ends an excerpt, and what a message says in place of
a pasted text."""

import re
from typing import Final

from msgspec import Struct

_NOTE: Final = re.compile(
    r"\n?… \((?:lines 1–(?P<last>[\d,]+) of (?P<lines>[\d,]+)(?P<partial>, the last in part)?"
    r"|none of (?P<all>[\d,]+) lines)"
    r"; the rest is not in this request(?P<archived>\. All of it is archived and can be recalled: (?P<ref>#\d+))?\)\Z"
)

PASTED: Final = "Pasted text"
_OUTPUT_OF: Final = "Output of "
_LONGEST_NAME: Final = 50  # characters
_NO_BRACKETS: Final = str.maketrans("[]", "()")
_PLACEHOLDER: Final = re.compile(r" ?\[Pasted text [^\]\n]{1,40} · [\d,]+ lines?\]")


class Excerpt(Struct, frozen=True):
    """The beginning of a text: `last` of its `lines` lines are in view, the last of them only in part if `partial`.

    `ref` is the reference of the archive that holds all of it; "" where it was not archived.
    """

    last: int
    lines: int
    partial: bool = False
    ref: str = ""

    @property
    def note(self) -> str:
        """The line that ends the excerpt in the request."""
        archived = f". All of it is archived and can be recalled: {self.ref}" if self.ref else ""
        return f"… ({self._span}; the rest is not in this request{archived})"

    def sentence(self, name: str) -> str:
        """What is in view of the text called `name`, for the person."""
        where = f"all recallable ({self.ref})" if self.ref else "the rest is not sent"
        return f"{name}: {self._span} sent, {where}."

    @property
    def _span(self) -> str:
        if not self.last:
            return f"none of {self.lines:,} lines"
        return f"lines 1–{self.last:,} of {self.lines:,}{', the last in part' if self.partial else ''}"


def split_excerpt(text: str) -> tuple[str, Excerpt | None]:
    """The text without its note, and the note; None for a text that is whole."""
    match = _NOTE.search(text, max(0, len(text) - 300))
    if match is None:
        return text, None
    last, lines = match["last"] or "0", match["lines"] or match["all"]
    excerpt = Excerpt(_number(last), _number(lines), bool(match["partial"]), match["ref"] or "")
    return text[: match.start()], excerpt


def labelled_output(command: str, output: str) -> str:
    """The output of a command, as it is put into a message: its first line says of which."""
    return f"{_OUTPUT_OF}{command.strip()}\n\n{output}"


def paste_name(paste: str) -> str:
    """What a part of a message is called: `Output of make test`, else `Pasted text`."""
    if not paste.startswith(_OUTPUT_OF):
        return PASTED
    line = paste.split("\n", 1)[0].translate(_NO_BRACKETS)
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"


def paste_placeholder(paste: str) -> str:
    """What is shown in place of a long part of a message."""
    return placeholder(paste_name(paste), paste)


def placeholder(name: str, text: str) -> str:
    """What stands in a message for a pasted text that is attached to it."""
    lines = line_count(text)
    return f"[{name} · {lines:,} line{'s' if lines != 1 else ''}]"


def without_placeholders(message: str) -> str:
    """The message's own words: what is searched for."""
    return _PLACEHOLDER.sub("", message)


def line_count(text: str) -> int:
    """Lines as an editor counts them: a newline at the end begins no further line."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))
