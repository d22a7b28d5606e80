"""The head line before an entry's text on a page: speaker, role, time, id, and the line where a page continues.

── Ann · user · 2026-03-14T09:26:53Z · e_4kx7m2p0q9ab ──
── Ann · user · 2026-03-14T09:26:53Z · e_4kx7m2p0q9ab · line 12 ──

The first sign of the line is drawn as a cell of its own, the head mark, that no text can make: on a page a text that
merely looks like such a line is told apart from one.
"""

import re
from datetime import datetime

from msgspec import Struct

from foundation.clock import iso

SIGN = "─"
"""What the head mark reads as: a line's first character."""
LONGEST_FIELD = 80
"""Characters of a speaker or an id; what is longer is cut, so that a head line fits any page."""

_OPEN, _CLOSE, _BETWEEN, _NO_TIME = f"{SIGN}{SIGN} ", f" {SIGN}{SIGN}\n", " · ", "–"
_ESCAPED = {"\\": "\\\\", "·": "\\·", "\n": "\\n"}  # the separator never stands in a field, nor does a line end
_ESCAPE = re.compile(r"\\(.)")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|–")
_LINE = re.compile(r"line ([1-9]\d{0,9})")


class EntryHead(Struct, frozen=True):
    """The head of an entry. `line` is the entry's line, from 1, with which the page continues; 1 where it begins."""

    id: str
    speaker: str
    role: str
    time: datetime | None  # whole seconds, UTC, on the page
    line: int = 1


class ParsedHead(Struct, frozen=True):
    """A head line in a page's text, its newline included. `head` is None where it cannot be parsed."""

    begin: int
    end: int
    head: EntryHead | None


def head_line(head: EntryHead, *, goes_on: bool = False) -> str:
    """The line and its newline; `goes_on` where the entry began on another page."""
    fields = [head.role, iso(head.time) if head.time else _NO_TIME, head.id]
    if head.speaker:
        fields.insert(0, head.speaker)
    if goes_on:
        fields.append(f"line {head.line}")
    return f"{_OPEN}{_BETWEEN.join(map(_escape_field, fields))}{_CLOSE}"


def read_head_line(line: str) -> EntryHead | None:
    """The head in such a line, newline included; None where it is none, or damaged."""
    if not (line.startswith(_OPEN) and line.endswith(_CLOSE) and line.count("\n") == 1):
        return None
    fields = line[len(_OPEN) : -len(_CLOSE)].split(_BETWEEN)
    at = next((n for n in (1, 2) if n < len(fields) and _TIME.fullmatch(fields[n])), 0)  # where the time stands
    if at == 0 or len(fields) not in (at + 2, at + 3):
        return None
    went_on = _LINE.fullmatch(fields[at + 2]) if len(fields) == at + 3 else None
    if len(fields) == at + 3 and went_on is None:
        return None
    try:
        time = None if fields[at] == _NO_TIME else datetime.fromisoformat(fields[at])
    except ValueError:  # a 13th month
        return None
    speaker = _unescape_field(fields[0]) if at == 2 else ""
    return EntryHead(
        _unescape_field(fields[at + 1]),
        speaker,
        _unescape_field(fields[at - 1]),
        time,
        int(went_on[1]) if went_on else 1,
    )


def _escape_field(field: str) -> str:
    cut = field if len(field) <= LONGEST_FIELD else f"{field[: LONGEST_FIELD - 1]}…"
    return "".join(_ESCAPED.get(character, character) for character in cut)


def _unescape_field(field: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], field)
