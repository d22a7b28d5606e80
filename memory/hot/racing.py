"""Writing to a file that a person may be writing to at the same moment.

Never check-then-replace: between the check and the replacing an edit can land and be lost. Instead the new text and
the file change places, and what came out is read. If it is not what the edit was made from, somebody was faster:
their text gets the edit too, and changes places in turn, until nothing unexpected comes out.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from foundation.errors import NotYet
from foundation.exchange import exchange, place_if_free
from foundation.files import NotUtf8, encode, sync_folder, write_beside
from memory.hot.edits import Edit, appended, entry
from memory.hot.merge import merge

SWAP = ".swap"
KEPT_HEADING = "Kept from two edits of the same lines"
_PATIENCE = 200  # exchanges; a person's editor is slower than the second of them

Keep = Callable[[Path, bytes], None]
"""Takes the file that came out, and its bytes, and puts it among the versions."""


def write(path: Path, edit: Edit, keep: Keep, moment: datetime) -> str:
    """Applies `edit` to the file at `path` (made if it is not there) and gives the text that now stands in it.

    Raises NotUtf8 with the file as it was; NotYet where somebody writes without a pause.
    """
    while True:
        base = _read(path)
        if base is None:
            if (text := _create(path, edit)) is not None:
                return text
            continue
        before = decode(path, base)
        wanted = edit(before)
        if wanted == before:
            return before
        with suppress(FileNotFoundError):  # removed or renamed this instant: begin again
            return _swap_in(path, base, wanted, edit, keep, moment)


def decode(path: Path, body: bytes) -> str:
    """The text of a file; raises NotUtf8, which names the line."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            "A memory file is not UTF-8",
            f"{path}: line {line} holds bytes that are not UTF-8 text.",
            "Save it as UTF-8 in your editor. The file was left as it is.",
        ) from error


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _create(path: Path, edit: Edit) -> str | None:
    """A new file with the edit; None where somebody made one first."""
    text = edit("")
    if not text:
        return text
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = write_beside(path, encode(text), suffix=SWAP)
    try:
        made = place_if_free(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    sync_folder(path.parent)
    return text if made else None


def _swap_in(path: Path, base: bytes, wanted: str, edit: Edit, keep: Keep, moment: datetime) -> str:
    """Puts `wanted` in place of `base`, and works in whatever else comes out until nothing unexpected does."""
    came_out: list[tuple[Path, bytes]] = []
    expected, body = base, encode(wanted)
    refusal: NotUtf8 | None = None
    for _ in range(_PATIENCE):
        beside = _put(path, body, expected, must_exist=not came_out)
        out = beside.read_bytes() if beside else expected
        if beside:
            came_out.append((beside, out))
        if out != expected:
            try:
                wanted = _with_theirs(path, expected, out, wanted, edit, moment, first=len(came_out) == 1)
                expected, body = body, encode(wanted)
                refusal = None
            except NotUtf8 as error:  # theirs goes back as it was
                expected, body, refusal = body, out, error
            if body != expected:
                continue
        for file, content in came_out:
            keep(file, content)
        sync_folder(path.parent)
        if refusal:
            raise refusal
        return wanted
    raise NotYet(
        "A memory file does not come to rest",
        f"Another program writes to {path} without a pause; what it replaced lies beside it, ending in {SWAP}.",
        "Let it finish, then try again.",
    )


def _with_theirs(
    path: Path, expected: bytes, out: bytes, wanted: str, edit: Edit, moment: datetime, *, first: bool
) -> str:
    """What should stand in the file, now that `out` came out of it where `expected` should have."""
    theirs = decode(path, out)
    if first:
        return edit(theirs)
    merged = merge(decode(path, expected), theirs, wanted)
    if not merged.leftover:
        return edit(merged.text)
    return edit(appended(merged.text, entry(moment, KEPT_HEADING, merged.leftover, None)))


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _put(path: Path, body: bytes, expected: bytes, *, must_exist: bool) -> Path | None:
    """Exchanges the file for these bytes; where what came out lies, or None where nothing stood there any more.

    Raises FileNotFoundError for that, with nothing changed, if it `must_exist`. The name of the file beside tells
    what goes in and what should come out, for whoever finds it after the program was cut off.
    """
    beside = write_beside(path, body, suffix=f".{digest(body)}.{digest(expected)}{SWAP}")
    while True:
        try:
            exchange(path, beside)
            return beside
        except FileNotFoundError:
            if must_exist:
                beside.unlink(missing_ok=True)
                raise
        if place_if_free(beside, path):
            beside.unlink(missing_ok=True)
            return None
