"""What a summary carries word for word below its own sentences: the user's words, and the files that tools touched.

Both are kept as fields of the summary too, so that a summary that replaces earlier ones carries theirs on exactly.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, Final, cast

from msgspec import Struct

from foundation.privacy import TextSource, clear
from memory.origin import DERIVED_FROM
from memory.records import Entry, EntryKind
from memory.tool_calls import tool_calls
from models.fence import neutralise, reference
from models.messages import Role

OWN, FILES = "own", "files"
"""Meta of a summary: the seqs of the messages that it has word for word, and the files touched."""
OWN_SHARE: Final = 0.25  # of the working set's room, for the user's own words
ROOMY: Final = 1.5  # times the working set: a window with room beside it
FILES_SHARE: Final = 0.125  # of it, for the names of files
OWN_FRAME: Final = 12  # tokens of a reference
OWN_HEADING: Final = "The user's own words:"
CHANGED_HEADING: Final = "Files changed: "
READ_HEADING: Final = "Files read: "
_HEADINGS = re.compile(rf"^(?:{re.escape(OWN_HEADING)}$|{CHANGED_HEADING}|{READ_HEADING}|Kept word for word:$)", re.M)
_READERS: Final = frozenset({"read_file"})
_CHANGERS: Final = frozenset({"edit_file", "write_file", "apply_patch"})
_PATCHED: Final = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.MULTILINE)


class TouchedFiles(Struct, frozen=True):
    """Files by the paths that the calls named, in order. A file that was changed is not among those read."""

    changed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, list[str]]:
        return {"changed": list(self.changed), "read": list(self.read)} if self.changed or self.read else {}


def own_messages(entries: Iterable[Entry]) -> list[Entry]:
    """The messages that the user wrote."""
    return [
        entry
        for entry in entries
        if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER and DERIVED_FROM not in entry.meta
    ]


def fitting_words(messages: Sequence[Entry], count: Callable[[Entry], int], room: int) -> list[Entry]:
    """The newest messages that fit into `room` tokens together, oldest first."""
    fitting: list[Entry] = []
    for entry in reversed(messages):
        room -= count(entry)
        if room < 0:
            break
        fitting.append(entry)
    return fitting[::-1]


def touched_files(entries: Sequence[Entry], earlier: Iterable[Entry] = ()) -> TouchedFiles:
    """The files that calls among the entries touched, after those of earlier summaries; failed calls touch none."""
    failed = {e.meta.get("call_id") for e in entries if e.kind is EntryKind.TOOL_RESULT and e.meta.get("failed")}
    changed, read = dict[str, None](), dict[str, None]()
    for summary in earlier:
        fields: Any = summary.meta.get(FILES) or {}
        changed |= dict.fromkeys(map(str, fields.get("changed", ())))
        read |= dict.fromkeys(map(str, fields.get("read", ())))
    for call in (call for entry in entries for call in tool_calls(entry) if call.id not in failed):
        if call.name in _CHANGERS:
            changed |= dict.fromkeys(_paths(call.arguments))
        elif call.name in _READERS:
            read |= dict.fromkeys(_paths(call.arguments))
    return TouchedFiles(tuple(changed), tuple(path for path in read if path not in changed))


def _paths(arguments: str) -> list[str]:
    given: object = None
    with suppress(ValueError, RecursionError):
        given = json.loads(arguments)
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    found = [str(fields.get("path", "")), *_PATCHED.findall(str(fields.get("patch", "")))]
    return [neutralise(clear(" ".join(path.split()), TextSource.OTHER)) for path in found if path.strip()]


def carried_text(
    words: Sequence[Entry], files: TouchedFiles, text_of: Callable[[Entry], str], count: Callable[[str], int], room: int
) -> str:
    """The sections of the summary; "" where there is nothing to carry. `room` tokens are for the names of files."""
    lines = [f"[{reference(entry.id)}] {neutralise(clear(text_of(entry), TextSource.OTHER))}" for entry in words]
    sections = [OWN_HEADING, *lines] if lines else []
    for heading, paths in ((CHANGED_HEADING, files.changed), (READ_HEADING, files.read)):
        if paths:
            sections.append(line := heading + _fitting_paths(paths, count, room))
            room -= count(line)
    return "\n".join(sections)


def _fitting_paths(paths: Sequence[str], count: Callable[[str], int], room: int) -> str:
    """The paths by folder: all of them, or the newest that fit and how many more there are."""
    kept, text = len(paths), _by_folder(paths, 0)
    while kept and count(text) > room:
        kept = kept * 3 // 4
        text = _by_folder(paths[-kept:], len(paths) - kept) if kept else f"{len(paths):,} files"
    return text


def _by_folder(paths: Sequence[str], more: int) -> str:
    folders: dict[str, list[str]] = {}
    for path in paths:
        place = PurePosixPath(path)
        folders.setdefault(str(place.parent), []).append(place.name)
    parts = [
        ", ".join(names)
        if folder == "."
        else f"{folder.rstrip('/')}/{names[0]}"
        if len(names) == 1
        else f"{folder.rstrip('/')}/{{{', '.join(names)}}}"
        for folder, names in folders.items()
    ]
    return "; ".join(parts) + (f"; and {more:,} touched before" if more else "")


def own_room(total: int, fixed: int, high: int, page_room: int) -> int:
    """Tokens for the user's own words. `total` of a request, `fixed` of its head, `high` of the working set.

    A quarter of the working set; a sixteenth where the working set nearly fills the window, since the next message
    needs the room. None where pages show the words themselves (`page_room`).
    """
    share = OWN_SHARE if high * ROOMY <= total else OWN_SHARE / 4
    return 0 if page_room else max(0, int((high - fixed) * share))


def without_carried(text: str) -> str:
    """A summary without what it carries word for word."""
    match = _HEADINGS.search(text)
    return text[: match.start()].rstrip("\n") if match else text
