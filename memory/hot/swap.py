"""Atomic edits of a file that the user may be editing at the same moment.

Never check-then-replace: an edit between the check and the replacement would be lost. Instead the new text and the file
are exchanged, and the text that came out is read. If it is not the text that the edit was made from, somebody else
wrote first: the edit is applied to their text, and exchanged again, until nothing unexpected comes out.

When a user's edit comes out of an exchange, the file briefly holds a text without it. An editor that reads the file in
that instant and saves later removes those words, in good faith. So `ExposedStates` keeps such states for a while, and a
text made from one of them is merged with that state as its base.
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
from foundation.files import (
    STAGED,
    NotUtf8,
    encode,
    make_folder,
    read_bytes,
    remove,
    replace,
    sync_file,
    sync_folder,
    write_temporary,
)
from foundation.files.atomic_exchange import exchange, link_if_free
from memory.hot.edits import Edit, append_block, format_entry
from memory.hot.merge import is_empty, merge
from memory.hot.parse import lines_of

_REMEMBERED = 32
_SECONDS = 30.0


class ExposedStates:
    """The text last written to a file, and the incomplete states that preceded it for an instant."""

    def __init__(self) -> None:
        self._states: deque[tuple[float, str]] = deque(maxlen=_REMEMBERED)
        self._left = ""

    def leave(self, text: str, incomplete: Iterable[str]) -> None:
        """Records `text` as the content of the file, and the states that were in it for an instant."""
        now = time.monotonic()
        self._states.extend((now, state) for state in incomplete)
        self._left = text

    def has(self, text: str) -> bool:
        """Whether this text of ours was in the file for an instant, a while ago at most."""
        return any(state == text for _, state in self._states)

    def mend(self, text: str) -> str:
        """The text, merged with the edits that its writer could not see."""
        oldest = time.monotonic() - _SECONDS
        while self._states and self._states[0][0] < oldest:
            self._states.popleft()
        if not self._states or text == self._left:
            return text
        origin = closest_origin(text, [self._left, *(state for _, state in self._states)])
        return text if origin == self._left else merge(origin, text, self._left).text


def closest_origin(text: str, origins: list[str]) -> str:
    """The most likely base of the text: the fewest lines removed, then the fewest added; of equals the first."""
    lines = _line_counts(text)

    def distance(origin: str) -> tuple[int, int]:
        before = _line_counts(origin)
        common = sum(min(count, lines.get(line, 0)) for line, count in before.items())
        return before.total() - common, lines.total() - common

    return min(origins, key=distance)


@lru_cache(maxsize=_REMEMBERED)
def _line_counts(text: str) -> Counter[str]:
    return Counter(lines_of(text))


SWAP = ".swap"
KEPT_HEADING = "Kept from two edits of the same lines"
_PATIENCE_SECONDS = 10
_STATES = 8
_CALM_ATTEMPTS = 3  # exchanges; a person's editor is slower than the second of them

KeepVersion = Callable[[Path, bytes], None]
"""Takes the file that came out, and its bytes, and puts it among the versions."""


class PreparedWrites:
    """Writes of many files whose bytes reach the disk together, before any of the files is exchanged: `prepare` each,
    `sync`, edit each, `finish`."""

    def __init__(self) -> None:
        self._beside: dict[tuple[Path, bytes, bytes | None], Path] = {}
        self._folders = set[Path]()

    def prepare(self, path: Path, text: str) -> None:
        """Writes the bytes beside the file, for an edit that makes this text of what the file holds now."""
        expected, body = _read(path), encode(text)
        if body and body != expected:
            self._beside[path, body, expected] = _stage(path, body, expected, sync=False)

    def sync(self) -> None:
        """Makes the bytes durable."""
        for key, staged in self._beside.items():
            sync_file(staged)
            self._beside[key] = _named_by_digests(staged, key[1], key[2])

    def take(self, path: Path, body: bytes, expected: bytes | None) -> Path | None:
        """What was prepared for the file to hold these bytes instead of the expected ones (None: a new file)."""
        return self._beside.pop((path, body, expected), None)

    def moved(self, path: Path) -> None:
        """The file was exchanged: `finish` makes that durable."""
        self._folders.add(path.parent)

    def finish(self) -> None:
        """Makes the exchanges durable, and removes what was prepared and not used."""
        for folder in self._folders:
            sync_folder(folder)
        for beside in self._beside.values():
            remove(beside, missing_ok=True)


class _SingleWrite(PreparedWrites):
    """A write of one file, durable at once."""

    def moved(self, path: Path) -> None:
        sync_folder(path.parent)


def _write_beside(path: Path, body: bytes, expected: bytes | None, *, sync: bool) -> Path:
    """A temporary file with these bytes, ready for the exchange, or to be linked."""
    return _named_by_digests(_stage(path, body, expected, sync=sync), body, expected)


def _stage(path: Path, body: bytes, expected: bytes | None, *, sync: bool) -> Path:
    if expected is None:
        make_folder(path.parent)
    return write_temporary(path, body, suffix=f"{SWAP}{STAGED}", sync=sync)


def _named_by_digests(staged: Path, body: bytes, expected: bytes | None) -> Path:
    """The temporary file under a name that holds the digests of its bytes and of those that shall come out. By them a
    recovery knows whose words it finds. One for a new file is linked, not exchanged, and stays staged."""
    if expected is None:
        return staged
    stem = staged.name.removesuffix(f"{SWAP}{STAGED}")
    beside = staged.with_name(f"{stem}.{content_digest(body)}.{content_digest(expected)}{SWAP}")
    replace(staged, beside)
    return beside


def apply_edit(  # noqa: PLR0917 — the file and its edit, and what is kept of it where
    path: Path,
    edit: Edit,
    keep: KeepVersion,
    moment: datetime,
    exposed: ExposedStates,
    prepared: PreparedWrites | None = None,
) -> str:
    """Applies `edit` to the file at `path`, created if missing, and returns its text afterwards. With `prepared` that
    is durable after its `finish`.

    Raises NotUtf8, with the file unchanged; TemporaryFailure where another program writes without a pause.
    """
    prepared = prepared or _SingleWrite()
    while True:
        base = _read(path)
        if base is None:
            if (text := _create(path, edit, prepared)) is not None:
                exposed.leave(text, ())
                return text
            continue
        before = decode(path, base)
        wanted = edit(exposed.mend(before))
        if wanted == before:
            return before
        with suppress(FileNotFoundError):  # removed or renamed this instant: begin again
            return _FileSwap(path, edit, keep, moment, exposed, prepared).run(base, wanted)


def decode(path: Path, body: bytes) -> str:
    """The text of a file; raises NotUtf8, which names the line."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            "A memory file is not UTF-8",
            f"{path}: line {line} is not valid UTF-8.",
            "Save it as UTF-8 in your editor. The file was not changed.",
        ) from error


def _read(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None


def _create(path: Path, edit: Edit, prepared: PreparedWrites) -> str | None:
    """Creates the file with the edit; None where somebody else created it first."""
    text = edit("")
    if not text:
        return text
    body = encode(text)
    beside = prepared.take(path, body, None) or _write_beside(path, body, None, sync=True)
    try:
        made = link_if_free(beside, path)
    finally:
        remove(beside, missing_ok=True)
    prepared.moved(path)
    return text if made else None


class _FileSwap:
    """One edit of a file that others may write to at the same time."""

    def __init__(  # noqa: PLR0917 — those of `apply_edit`
        self,
        path: Path,
        edit: Edit,
        keep: KeepVersion,
        moment: datetime,
        exposed: ExposedStates,
        prepared: PreparedWrites,
    ) -> None:
        self._path = path
        self._prepared = prepared
        self._edit = edit
        self._keep = keep
        self._moment = moment
        self._exposed = exposed
        self._states: deque[str] = deque(maxlen=_STATES)  # the texts that stood there last, as far as we know
        self._has_conflict = False  # somebody else wrote, too
        self._put_in: list[str] = []

    def run(self, base: bytes, wanted: str) -> str:
        """Replaces `base` by `wanted`, and merges each unexpected text that comes out, until none does."""
        until = time.monotonic() + _PATIENCE_SECONDS
        expected, body = base, encode(wanted)
        self._states.append(decode(self._path, base))
        waiting: tuple[Path, bytes] | None = None  # came out, and its words stand in no file yet
        refusal: NotUtf8 | None = None
        for attempt in count():
            if time.monotonic() > until:
                break
            sync_first = attempt < _CALM_ATTEMPTS
            beside = self._prepared.take(self._path, body, expected) or _write_beside(
                self._path, body, expected, sync=sync_first
            )
            beside = _exchange_bytes(self._path, beside, must_exist=not attempt, sync_first=sync_first)
            if waiting:
                self._keep(*waiting)
            out = read_bytes(beside) if beside else expected
            waiting = (beside, out) if beside else None
            if out != expected:
                now = _current_bytes(self._path, body)
                try:
                    wanted = self._next_text(out, body, now, wanted)
                    expected, body, refusal = now, encode(wanted), None
                except NotUtf8 as error:  # theirs goes back as it was
                    expected, body, refusal = now, out, error
                if body != expected:
                    continue
            return self._finish(wanted, waiting, refusal)
        self._exposed.leave(wanted, self._put_in)
        raise TemporaryFailure(
            "A memory file keeps changing",
            f"Another program keeps writing to {self._path}. The intermediate result is saved next to it ({SWAP}).",
            "Let it finish, then try again.",
        )

    def _next_text(self, out: bytes, put: bytes, now: bytes, wanted: str) -> str:
        """The next text to write, after an unexpected one came out; `now` is the file's content, which may be new
        again."""
        texts = [decode(self._path, body) for body in (out, put, now)]
        self._put_in.append(texts[1])
        first = not self._has_conflict  # then theirs is the whole file, and gets the edit
        wanted = self._edit(self._exposed.mend(texts[0])) if first else self._merged(texts[0], wanted)
        self._has_conflict = True
        self._states += texts[:2]
        if texts[2] != texts[1]:
            wanted = self._merged(texts[2], wanted)
            self._states.append(texts[2])
        return wanted

    def _merged(self, theirs: str, wanted: str) -> str:
        """Merges their text with the closest earlier state as its base, and applies the edit where it is missing."""
        return self._edit(merge_or_append(closest_origin(theirs, list(self._states)), theirs, wanted, self._moment))

    def _finish(self, wanted: str, waiting: tuple[Path, bytes] | None, refusal: NotUtf8 | None) -> str:
        if waiting:
            self._keep(*waiting)
        self._prepared.moved(self._path)
        if refusal:
            raise refusal
        self._exposed.leave(wanted, [text for text in self._put_in if text != wanted])
        return wanted


def merge_or_append(base: str, theirs: str, ours: str, moment: datetime) -> str:
    """The merged text; where both changed the same lines, theirs stays and ours is appended as an entry."""
    merged = merge(base, theirs, ours)
    if not merged.leftover.strip():
        return merged.text
    return append_block(merged.text, format_entry(moment, KEPT_HEADING, merged.leftover, None))


def merge_or_keep(base: str, theirs: str, ours: str, moment: datetime) -> str:
    """As `merge_or_append`, but where one side emptied the text, the side that edited it stays whole."""
    if is_empty(ours) and not is_empty(theirs) and theirs != base:
        return theirs
    if is_empty(theirs) and not is_empty(ours) and ours != base:
        return ours
    return merge_or_append(base, theirs, ours, moment)


def _current_bytes(path: Path, put: bytes) -> bytes:
    """The file's current content; `put` where it is empty, since an editor is about to write it."""
    return _read(path) or put


def content_digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _exchange_bytes(path: Path, beside: Path, *, must_exist: bool, sync_first: bool) -> Path | None:
    """Exchanges the file for the one beside it; the path of what came out, or None where the file no longer existed.

    Raises FileNotFoundError for that, with nothing changed, if it `must_exist`. Against a program that writes without
    a pause only speed helps: then the bytes are synced after the exchange, not before it.
    """
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
        if link_if_free(beside, path):
            remove(beside, missing_ok=True)
            return None
