"""Parses patches: the envelope that begins with `*** Begin Patch`, and unified diffs.

The envelope (github.com/openai/codex, apply-patch): `*** Add File: P` with lines that begin with +; `*** Delete File:
P`; `*** Update File: P`, perhaps `*** Move to: Q`, with hunks. A hunk begins with `@@`, perhaps with a line after which
it is sought; its lines begin with a blank, - or +; `*** End of File` says that it ends the file.
"""

import re
from itertools import pairwise
from typing import Final

from msgspec import Struct

from agent.tools.port import ToolFailure

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_ADD: Final = "*** Add File: "
_DELETE: Final = "*** Delete File: "
_UPDATE: Final = "*** Update File: "
_MOVE: Final = "*** Move to: "
_LAST: Final = "*** End of File"
_RANGE: Final = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_NOWHERE: Final = "/dev/null"


class Hunk(Struct, frozen=True):
    """Lines that are replaced by others.

    `after`: lines that come before, in order; `line`: the first, from 1, or 0 where it is not known; `last`: it ends
    the file.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    after: tuple[str, ...] = ()
    line: int = 0
    last: bool = False


class FilePatch(Struct, frozen=True):
    """What a patch does to one file. `content` of a file that is added, None of others; `move_to` is "" for no move."""

    path: str
    content: str | None = None
    deletes: bool = False
    move_to: str = ""
    hunks: tuple[Hunk, ...] = ()


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """What the patch does, in order. Raises ToolFailure, which names the line that cannot be understood."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip() == _BEGIN), None)
    if first is not None:
        last = next(
            (number for number in range(len(lines) - 1, first, -1) if lines[number].strip() == _END), len(lines)
        )
        patches = _Envelope(lines[first + 1 : last], first + 2).files()
    else:
        patches = _UnifiedDiff(lines).files()
    if not patches:
        raise ToolFailure("Not a patch", f"It must begin with “{_BEGIN}” or be a unified diff, and change a file.")
    return tuple(patches)


class _Envelope:
    def __init__(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self._at = 0
        self._first = first  # the number of the first line in the patch

    def files(self) -> list[FilePatch]:
        found = list[FilePatch]()
        while self._at < len(self._lines):
            line = self._next()
            if line.startswith(_ADD):
                found.append(FilePatch(_path(line, _ADD), content=self._added()))
            elif line.startswith(_DELETE):
                found.append(FilePatch(_path(line, _DELETE), deletes=True))
            elif line.startswith(_UPDATE):
                move = _path(self._next(), _MOVE) if self._peek().startswith(_MOVE) else ""
                found.append(FilePatch(_path(line, _UPDATE), move_to=move, hunks=self._hunks()))
            elif line.strip():
                raise self._wrong(line, f"“{_ADD}”, “{_DELETE}” or “{_UPDATE}” is due")
        return found

    def _added(self) -> str:
        lines = list[str]()
        while self._at < len(self._lines) and not self._peek().startswith("*** "):
            line = self._next()
            if not line.startswith("+"):
                raise self._wrong(line, "each line of a file that is added begins with +")
            lines.append(line[1:] + "\n")
        return "".join(lines)

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks, after = list[Hunk](), list[str]()
        while self._at < len(self._lines) and not self._is_file(self._peek()):
            line = self._peek()
            if line.startswith("@@"):
                self._next()
                header = "" if _RANGE.match(line) else line[2:].removesuffix("@@").removeprefix(" ")
                if header.strip():
                    after.append(header)
                continue
            hunks.append(self._hunk(tuple(after)))
            after = []
        return tuple(hunks)

    def _hunk(self, after: tuple[str, ...]) -> Hunk:
        old, new, last = list[str](), list[str](), False
        while self._at < len(self._lines):
            line = self._peek()
            if line.startswith("@@") or self._is_file(line):
                break
            self._next()
            if line.strip() == _LAST:
                last = True
                break
            if not _take(line, old, new):
                raise self._wrong(line, "a line of a hunk begins with a blank, - or +")
        return Hunk(tuple(old), tuple(new), after, last=last)

    def _is_file(self, line: str) -> bool:
        return line.startswith((_ADD, _DELETE, _UPDATE))

    def _peek(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _next(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _wrong(self, line: str, why: str) -> ToolFailure:
        return ToolFailure("Not a patch", f"Line {self._first + self._at - 1} of the patch, {line[:80]!r}: {why}.")


class _UnifiedDiff:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def files(self) -> list[FilePatch]:
        heads = [
            number
            for number in range(len(self._lines) - 1)
            if self._lines[number].startswith("--- ") and self._lines[number + 1].startswith("+++ ")
        ]
        for number, line in enumerate(self._lines):
            if line.startswith(("rename from", "copy from", "GIT binary patch")):
                raise ToolFailure("Not a patch", f"Line {number + 1} of the patch, {line[:80]!r}: not supported.")
        return [self._file(head, end) for head, end in pairwise([*heads, len(self._lines)])]

    def _file(self, head: int, end: int) -> FilePatch:
        old, new = _diff_path(self._lines[head][4:], "a/"), _diff_path(self._lines[head + 1][4:], "b/")
        hunks = self._hunks(head + 2, end)
        if old == _NOWHERE:
            return FilePatch(new, content="".join(line + "\n" for hunk in hunks for line in hunk.new))
        if new == _NOWHERE:
            return FilePatch(old, deletes=True, hunks=hunks)
        return FilePatch(old, move_to="" if old == new else new, hunks=hunks)

    def _hunks(self, at: int, end: int) -> tuple[Hunk, ...]:
        hunks = list[Hunk]()
        while at < end:
            if (match := _RANGE.match(self._lines[at])) is None:
                if self._lines[at].strip() and not self._lines[at].startswith(
                    ("diff ", "index ", "new ", "old ", "del")
                ):
                    raise ToolFailure(
                        "Not a patch", f"Line {at + 1} of the patch, {self._lines[at][:80]!r}: @@ is due."
                    )
                at += 1
                continue
            old, new = list[str](), list[str]()
            at += 1
            while at < end and not self._lines[at].startswith(("@@ ", "diff ")):
                line = self._lines[at]
                if not line.startswith("\\") and not _take(line, old, new):
                    raise ToolFailure(
                        "Not a patch", f"Line {at + 1} of the patch, {line[:80]!r}: blank, - or + is due."
                    )
                at += 1
            hunks.append(Hunk(tuple(old), tuple(new), line=int(match[1])))
        return tuple(hunks)


def _take(line: str, old: list[str], new: list[str]) -> bool:
    """Adds the line of a hunk to the old lines, the new ones or both; False where it is none."""
    mark, rest = line[:1], line[1:]
    if mark in {"", " ", "-"}:
        old.append(rest)
    if mark in {"", " ", "+"}:
        new.append(rest)
    return mark in {"", " ", "-", "+"}


def _path(line: str, mark: str) -> str:
    path = line[len(mark) :].strip()
    if not path:
        raise ToolFailure("Not a patch", f"{line!r} names no file.")
    return path


def _diff_path(name: str, prefix: str) -> str:
    return name.split("\t", maxsplit=1)[0].strip().removeprefix(prefix)
