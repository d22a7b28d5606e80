"""Changes of project files by tools: what may be changed, what the person is shown, and how it is written.

A file that exists must have been read in this session, and must hold what was read. What is written is what the person
was shown: a change that would differ by the time it runs is refused. Each goes through the checkpoints.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.line_matcher import LineMatcher
from agent.permissions.action import Access, Action
from agent.tools.files.project import ProjectFolders, ProjectPath
from agent.tools.files.text_file import MAX_FILE_BYTES, TextFile
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolRun
from foundation.files import FileTooLarge, read_bytes

MOST_COMPARED: Final = 20_000  # lines that a diff compares; beyond that it shows the old ones, then the new ones
_CONTEXT: Final = 3


class PlannedChange(Struct, frozen=True):
    """A file, and its bytes before and after; None is no file."""

    place: ProjectPath
    before: bytes | None
    after: bytes | None


class FileChanges:
    """Reads and changes the files of a session's project, and knows what was read."""

    def __init__(self, project: ProjectFolders, checkpoints: Checkpoints) -> None:
        self.project = project
        self._checkpoints = checkpoints
        self._read: dict[Path, str] = {}  # the SHA-256 of each file as the model knows it

    def read(self, place: ProjectPath) -> bytes:
        """The file's bytes. Raises ToolFailure."""
        try:
            return read_bytes(place.path, most=MAX_FILE_BYTES)
        except FileTooLarge as error:
            raise ToolFailure("Too large", f"{place.shown} is larger than {MAX_FILE_BYTES:,} bytes.") from error
        except OSError as error:
            raise ToolFailure("Not readable", f"{place.shown}: {error.strerror or error}.") from error

    def note_read(self, place: ProjectPath, data: bytes) -> None:
        """The model has seen the file as it is now."""
        self._read[place.path] = _digest(data)

    def known(self, place: ProjectPath) -> bytes:
        """The bytes of a file that the model has read. Raises ToolFailure where it has not, or they have changed."""
        data, digest = self.read(place), self._read.get(place.path)
        if digest is None:
            raise ToolFailure("Not read yet", f"{place.shown} exists. Read it with read_file before you change it.")
        if digest != _digest(data):
            raise ToolFailure("Changed since", f"{place.shown} has changed since you read it. Read it again.")
        return data

    def known_text(self, place: ProjectPath) -> tuple[bytes, TextFile]:
        """As `known`, with its text. Raises ToolFailure for what is not text."""
        data = self.known(place)
        if (text := TextFile.decode(data)) is None:
            raise ToolFailure("Not text", f"{place.shown} is no text file.")
        return data, text

    def action(self, tool: str, verb: str, changes: Sequence[PlannedChange]) -> Action:
        """What the changes would do. Raises ToolFailure where they change nothing."""
        if all(change.before == change.after for change in changes):
            raise ToolFailure("Nothing to change", "The file would be as it is.")
        places = [change.place for change in changes]
        for place in places:
            self.project.new_file(place)
        accesses = {self.project.changing_access(place) for place in places}
        return Action(
            tool=tool,
            access=Access.NOTE if Access.NOTE in accesses else Access.EDIT,
            summary=f"{verb} {', '.join(place.shown for place in places)}",
            subject=places[0].shown,
            also=tuple(place.shown for place in places[1:]),
            detail="".join(map(diff_of, changes)),
            is_diff=True,
            concern=next((concern for place in places if (concern := self.project.changing_concern(place))), ""),
        )

    def apply(self, tool: str, action: Action, changes: Sequence[PlannedChange], run: ToolRun) -> None:
        """Makes the changes, all or none. `action` is what they would do now; it must be what was permitted."""
        if run.action is not None and run.action != action:
            raise ToolFailure("Changed since", "A file is not as it was when this was permitted. Read it again.")
        self._checkpoints.apply(
            [
                FileChange(
                    folder=change.place.root,
                    path="/".join(change.place.parts),
                    expected=change.before,
                    new=change.after,
                )
                for change in changes
            ],
            run.entry,
            label=tool,
        )
        self.project.written.update(change.place.path for change in changes)
        for change in changes:
            if change.after is None:
                self._read.pop(change.place.path, None)
            else:
                self.note_read(change.place, change.after)


def diff_of(change: PlannedChange) -> str:
    """The unified diff of a change, in lines that end with \\n."""
    return file_diff(change.place.shown, change.before, change.after)


def file_diff(name: str, old_body: bytes | None, new_body: bytes | None) -> str:
    """The unified diff of two versions of a file, in lines that end with \\n; None is no file."""
    before, after = (_lines(data) for data in (old_body, new_body))
    old, new = ("/dev/null" if data is None else f"{side}/{name}" for side, data in (("a", old_body), ("b", new_body)))
    head = f"--- {old}\n+++ {new}\n"
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    first, last_old, last_new = max(start - _CONTEXT, 0), len(before) - end, len(after) - end
    if max(last_old, last_new) - start > MOST_COMPARED:
        gone, come = before[start:last_old], after[start:last_new]
        hunk = f"@@ -{start + 1},{len(gone)} +{start + 1},{len(come)} @@\n"
        return head + hunk + "".join([*(_ended("-" + line) for line in gone), *(_ended("+" + line) for line in come)])
    hunks = _hunks(before[first : last_old + _CONTEXT], after[first : last_new + _CONTEXT], first)
    return head + "".join(map(_ended, hunks))


def _hunks(old: Sequence[str], new: Sequence[str], above: int) -> Iterator[str]:
    """The lines of the hunks; `above` lines were left out before both."""
    for group in LineMatcher(old, new).get_grouped_opcodes(_CONTEXT):
        (_, start, _, start_new, _), (_, _, end, _, end_new) = group[0], group[-1]
        yield f"@@ -{_range(start, end, above)} +{_range(start_new, end_new, above)} @@\n"
        for tag, first, last, first_new, last_new in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[first:last])
            else:
                yield from (f"-{line}" for line in old[first:last])
                yield from (f"+{line}" for line in new[first_new:last_new])


def _range(start: int, end: int, above: int) -> str:
    """Lines as a hunk names them: counted from 1, no lines by the one before them."""
    if end - start == 1:
        return str(above + end)
    return f"{above + start + (end > start)},{end - start}"


def _lines(data: bytes | None) -> list[str]:
    """The lines as a person compares them: with a carriage return where the file has one."""
    if data is None:
        return []
    text = TextFile.decode(data)
    return [f"(no text: {len(data):,} bytes, SHA-256 {_digest(data)})\n"] if text is None else text_lines(text.raw)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the beginning on."""
    return next(
        (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
