"""Writing to a file that a person may be writing to at the same moment.

Never check-then-replace: between the check and the replacing an edit can land and be lost. Instead the new text and
the file change places, and what came out is read. If it is not what the edit was made from, somebody was faster:
their text gets the edit too, and changes places in turn, until nothing unexpected comes out.

States of a file that stood there for an instant and lacked somebody's words.

When a person's edit comes out of an exchange, the file has just been given a text without it. An editor that reads
the file in that instant and saves a little later writes those words away again, in good faith. So such states are
remembered for a while, and a text that was made from one of them is merged as what it is.
"""

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from itertools import count
from pathlib import Path

from foundation.errors import TemporaryFailure
from foundation.files import NotUtf8, encode, make_folder, read_bytes, remove, sync_file, sync_folder, write_beside
from foundation.files.atomic_exchange import exchange, place_if_free
from memory.hot.edits import Edit, append_block, format_entry
from memory.hot.merge import merge
from memory.hot.parse import lines_of

_REMEMBERED = 32
_SECONDS = 30.0


class ExposedStates:
    """What we left in one file, and the states before it that were incomplete."""

    def __init__(self) -> None:
        self._states: deque[tuple[float, str]] = deque(maxlen=_REMEMBERED)
        self._left = ""

    def leave(self, text: str, incomplete: Iterable[str]) -> None:
        """`text` is what now stands there; the others stood there for an instant."""
        now = time.monotonic()
        self._states.extend((now, state) for state in incomplete)
        self._left = text

    def mend(self, text: str) -> str:
        """The text, with the words that its writer could not see."""
        oldest = time.monotonic() - _SECONDS
        while self._states and self._states[0][0] < oldest:
            self._states.popleft()
        if not self._states or text == self._left:
            return text
        origin = closest_origin(text, [self._left, *(state for _, state in self._states)])
        return text if origin == self._left else merge(origin, text, self._left).text


def closest_origin(text: str, origins: list[str]) -> str:
    """The one that the text was most likely made from: the fewest lines taken out, then the fewest put in.

    Of equals the first.
    """
    lines = _counted(text)

    def distance(origin: str) -> tuple[int, int]:
        before = _counted(origin)
        common = sum(min(count, lines.get(line, 0)) for line, count in before.items())
        return before.total() - common, lines.total() - common

    return min(origins, key=distance)


@lru_cache(maxsize=_REMEMBERED)
def _counted(text: str) -> Counter[str]:
    return Counter(lines_of(text))


SWAP = ".swap"
KEPT_HEADING = "Kept from two edits of the same lines"
_PATIENCE_SECONDS = 10
_STATES = 8
_CALM_ATTEMPTS = 3  # exchanges; a person's editor is slower than the second of them

KeepVersion = Callable[[Path, bytes], None]
"""Takes the file that came out, and its bytes, and puts it among the versions."""


def apply_edit(path: Path, edit: Edit, keep: KeepVersion, moment: datetime, exposed: ExposedStates) -> str:
    """Applies `edit` to the file at `path` (made if it is not there) and gives the text that now stands in it.

    Raises NotUtf8 with the file as it was; TemporaryFailure where somebody writes without a pause.
    """
    while True:
        base = _read(path)
        if base is None:
            if (text := _create(path, edit)) is not None:
                exposed.leave(text, ())
                return text
            continue
        before = decode(path, base)
        wanted = edit(exposed.mend(before))
        if wanted == before:
            return before
        with suppress(FileNotFoundError):  # removed or renamed this instant: begin again
            return _FileSwap(path, edit, keep, moment, exposed).run(base, wanted)


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
        return read_bytes(path)
    except FileNotFoundError:
        return None


def _create(path: Path, edit: Edit) -> str | None:
    """A new file with the edit; None where somebody made one first."""
    text = edit("")
    if not text:
        return text
    make_folder(path.parent)
    beside = write_beside(path, encode(text), suffix=SWAP)
    try:
        made = place_if_free(beside, path)
    finally:
        remove(beside, missing_ok=True)
    sync_folder(path.parent)
    return text if made else None


class _FileSwap:
    """One edit on its way into a file that others may be writing to."""

    def __init__(self, path: Path, edit: Edit, keep: KeepVersion, moment: datetime, exposed: ExposedStates) -> None:
        self._path = path
        self._edit = edit
        self._keep = keep
        self._moment = moment
        self._exposed = exposed
        self._states: deque[str] = deque(maxlen=_STATES)  # the texts that stood there last, as far as we know
        self._met = False  # somebody else wrote, too
        self._put_in: list[str] = []

    def run(self, base: bytes, wanted: str) -> str:
        """Puts `wanted` in place of `base`, and works in whatever else comes out until nothing unexpected does."""
        until = time.monotonic() + _PATIENCE_SECONDS
        expected, body = base, encode(wanted)
        self._states.append(decode(self._path, base))
        waiting: tuple[Path, bytes] | None = None  # came out, and its words stand in no file yet
        refusal: NotUtf8 | None = None
        for attempt in count():
            if time.monotonic() > until:
                break
            beside = _put(self._path, body, expected, must_exist=not attempt, sync_first=attempt < _CALM_ATTEMPTS)
            if waiting:
                self._keep(*waiting)
            out = read_bytes(beside) if beside else expected
            waiting = (beside, out) if beside else None
            if out != expected:
                now = _now(self._path, body)
                try:
                    wanted = self._with_theirs(out, body, now, wanted)
                    expected, body, refusal = now, encode(wanted), None
                except NotUtf8 as error:  # theirs goes back as it was
                    expected, body, refusal = now, out, error
                if body != expected:
                    continue
            return self._finish(wanted, waiting, refusal)
        self._exposed.leave(wanted, self._put_in)
        raise TemporaryFailure(
            "A memory file does not come to rest",
            f"Another program writes to {self._path} without a pause. What came out of it lies beside it ({SWAP}).",
            "Let it finish, then try again.",
        )

    def _with_theirs(self, out: bytes, put: bytes, now: bytes, wanted: str) -> str:
        """What should stand in the file: what came out was not expected, and `now` may be a new text again."""
        texts = [decode(self._path, body) for body in (out, put, now)]
        self._put_in.append(texts[1])
        first = not self._met  # then theirs is the whole file, and gets the edit
        wanted = self._edit(self._exposed.mend(texts[0])) if first else self._merged(texts[0], wanted)
        self._met = True
        self._states += texts[:2]
        if texts[2] != texts[1]:
            wanted = self._merged(texts[2], wanted)
            self._states.append(texts[2])
        return wanted

    def _merged(self, theirs: str, wanted: str) -> str:
        """Their text may be made from any that stood there: it is merged as that, and gets the edit if it lacks it."""
        return self._edit(merge_or_append(closest_origin(theirs, list(self._states)), theirs, wanted, self._moment))

    def _finish(self, wanted: str, waiting: tuple[Path, bytes] | None, refusal: NotUtf8 | None) -> str:
        if waiting:
            self._keep(*waiting)
        sync_folder(self._path.parent)
        if refusal:
            raise refusal
        self._exposed.leave(wanted, [text for text in self._put_in if text != wanted])
        return wanted


def merge_or_append(base: str, theirs: str, ours: str, moment: datetime) -> str:
    """The merged text; where both changed the same lines theirs stands, and ours is an entry at the end."""
    merged = merge(base, theirs, ours)
    if not merged.leftover.strip():
        return merged.text
    return append_block(merged.text, format_entry(moment, KEPT_HEADING, merged.leftover, None))


def _now(path: Path, put: bytes) -> bytes:
    """What stands there by now. An empty file is one that an editor is about to write: what we put counts instead."""
    return _read(path) or put


def content_digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _put(path: Path, body: bytes, expected: bytes, *, must_exist: bool, sync_first: bool) -> Path | None:
    """Exchanges the file for these bytes; where what came out lies, or None where nothing stood there any more.

    Raises FileNotFoundError for that, with nothing changed, if it `must_exist`. The name of the file beside tells
    what goes in and what should come out, for whoever finds it after the program was cut off. Against somebody who
    writes without a pause only speed helps: then the bytes are synced after the exchange, not before it.
    """
    beside = write_beside(
        path, body, suffix=f".{content_digest(body)}.{content_digest(expected)}{SWAP}", sync=sync_first
    )
    while True:
        try:
            exchange(path, beside)
        except FileNotFoundError:
            if must_exist:
                remove(beside, missing_ok=True)
                raise
        else:
            if not sync_first:
                sync_file(path)
            return beside
        if place_if_free(beside, path):
            remove(beside, missing_ok=True)
            return None
