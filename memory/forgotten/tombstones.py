"""Tombstones of forgotten entries: an import or another device does not bring one back.

A line of the file holds a hash of an entry's name, and one of its text under the workspace's secret: no word, and
nothing that can be guessed without that secret. The file only grows; each line has a checksum, but those of an earlier
version. All of it is in a second file, too: a line that is damaged in one is read from the other.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec
from msgspec import Struct

from foundation.checked_lines import CUT_OFF, add_lines, body_of, with_checksum
from foundation.figures import counted
from foundation.files import FileLock, make_private_folder, read_bytes, status, write_atomically
from foundation.names import TOKEN
from foundation.privacy import Cleared, as_made
from foundation.program import PROGRAM
from foundation.typed_json import decode_json
from memory.cold.encoding import plain
from memory.cold.secret import keyed
from memory.forgotten.fingerprints import FORGOTTEN
from memory.records import ALPHABET, LENGTH

TOMBSTONES: Final = "forgotten.jsonl"
"""The file beside the store; the folder of its copy and of the jobs has its name without the ending."""
SHORTEST_TEXT: Final = 16
"""Characters of a text that is known again by itself: a shorter one, as "yes", is said by many."""
OTHER: Final = "ef_"
"""Ids in place of forgotten ones begin with it, and no others that are made here."""
OTHER_CONVERSATION: Final = "cf_"
"""Ids of conversations in place of forgotten ones begin with it."""
_LOCK_SECONDS: Final = 10
_MOST_NAMED: Final = 5  # lines
_COPY: Final = "tombstones.jsonl"
_KNOWN_LOST: Final = "lost"  # how many a repair has named as lost
_MOST_DIGITS: Final = 12
_MOST_RENAMED: Final = 8  # times that a name was given up, and so was the other one
_AGAIN: Final = "an import may restore forgotten text: forget it again in that case"

_REPAIRS: Final = f"`{PROGRAM} check --repair` rewrites it."

Signature = tuple[int, int, int] | None


class EntryTombstone(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A forgotten entry. `token` is the same on every device; `text` is a keyed hash, of this workspace alone."""

    token: str
    forgotten_ms: int
    text: str = ""


class ForgottenName(Struct, frozen=True):
    """What names an entry on every device: its conversation's source ("" for ours) and id, and its own id."""

    source: str
    conversation: str
    entry: str

    @property
    def token(self) -> str:
        """A hash in place of the name: 64 hexadecimal digits."""
        parts = (plain(self.source), plain(self.conversation), plain(self.entry))
        return hashlib.sha256("\0".join(("entry", *parts)).encode()).hexdigest()

    @property
    def beside(self) -> str:
        """The token of what the entry holds beside its text: its reasoning and the arguments of its calls."""
        return hashlib.sha256(f"beside {self.token}".encode()).hexdigest()

    @property
    def given_up(self) -> str:
        """The token of its id alone, which holds forgotten words: the entry goes on under `other_id`."""
        return hashlib.sha256(f"id {self.token}".encode()).hexdigest()

    @property
    def other_id(self) -> Cleared:
        """The id in place of one that was forgotten: the same on every device."""
        return other_id(self.token)

    @property
    def other(self) -> "ForgottenName":
        """Its name with that id."""
        return ForgottenName(self.source, self.conversation, self.other_id)

    @property
    def tokens_of_other(self) -> tuple[tuple[str, str], ...]:
        """Its tokens, each with that of its other name."""
        other = self.other
        return (self.token, other.token), (self.beside, other.beside)


class ForgottenConversationName(Struct, frozen=True):
    """An id of a conversation, or with `is_source` the source of some, that holds forgotten words. The other name
    follows from it, so that an import of the same file finds the conversation again."""

    name: str
    is_source: bool = False

    @property
    def token(self) -> str:
        """The token of a name that was given up."""
        kind = "source" if self.is_source else "id"
        return hashlib.sha256(f"conversation {kind}\0{plain(self.name)}".encode()).hexdigest()

    @property
    def other(self) -> Cleared:
        """The name in place of it."""
        return as_made(
            f"{FORGOTTEN} {_digits(self.token)}" if self.is_source else OTHER_CONVERSATION + _digits(self.token)
        )


def other_id(token: str) -> Cleared:
    """The id in place of a forgotten one, made of the token of the entry's name."""
    return as_made(OTHER + _digits(token))


def _digits(token: str) -> str:
    bits = int.from_bytes(hashlib.sha256(f"other id {token}".encode()).digest()[:8])
    return "".join(ALPHABET[bits >> shift & 31] for shift in range(0, 5 * LENGTH, 5))


class TombstoneDamage(Struct, frozen=True):
    """What a file has lost: its relative name, and a sentence."""

    file: str
    message: str


class _StoneFile(Struct, frozen=True):
    """One of the two files: its tombstones, and the numbers of lines that are not what was written."""

    stones: tuple[EntryTombstone, ...] = ()
    damaged: tuple[int, ...] = ()
    exists: bool = True
    checked: bool = False  # it has a line with a checksum

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        return frozenset((stone.token, stone.text) for stone in self.stones)


class Tombstones:
    """The tombstones of a workspace, in the file at `path` and in a copy in the folder of forgetting. Safe to use from
    several threads and processes."""

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path = path
        self._copy = path.with_suffix("") / _COPY
        self._known_lost = path.with_suffix("") / _KNOWN_LOST
        self._secret = secret
        self._lock = Lock()
        self._read: tuple[tuple[Signature, Signature], tuple[EntryTombstone, ...]] | None = None
        self._tokens: frozenset[str] = frozenset()
        self._texts: dict[str, int] = {}  # when each was forgotten last

    def all(self) -> tuple[EntryTombstone, ...]:
        """Every tombstone, oldest first; quick where the file did not change. Raises OSError."""
        signatures = _signature(self._path), _signature(self._copy)
        if signatures == (None, None):
            return ()
        with self._lock:
            if self._read is None or self._read[0] != signatures:
                stones = _union(_parsed(self._path), _parsed(self._copy))
                self._read = (signatures, stones)
                self._tokens = frozenset(stone.token for stone in stones)
                self._texts = {}
                for stone in stones:
                    if stone.text:
                        self._texts[stone.text] = max(stone.forgotten_ms, self._texts.get(stone.text, 0))
            return self._read[1]

    def tokens_with_text(self) -> frozenset[str]:
        """The tokens of forgotten entries whose texts are known again, too."""
        return frozenset(stone.token for stone in self.all() if stone.text)

    def tokens(self) -> frozenset[str]:
        """The tokens of all forgotten entries: what is told to other devices."""
        return self._tokens if self.all() else frozenset()

    def has(self, name: ForgottenName) -> bool:
        """Whether the entry of that name was forgotten, or its name alone."""
        return not self.tokens().isdisjoint((name.token, name.given_up))

    def known_name(self, name: Cleared, *, is_source: bool = False) -> Cleared:
        """The other id or source of conversations where this one was given up; else itself."""
        for _ in range(_MOST_RENAMED):
            given = ForgottenConversationName(name, is_source)
            if not name or given.token not in self.tokens():
                break
            name = given.other
        return name

    def has_text(self, text: str, written_ms: int = 0) -> bool:
        """Whether an entry of exactly this text was forgotten at that moment or later, whatever its name: what is said
        again later is kept. 0: it bears no time."""
        forgotten_ms = self._texts.get(self.hash_of(text)) if self.all() and self._texts else None
        return forgotten_ms is not None and written_ms <= forgotten_ms

    def hash_of(self, text: str) -> str:
        """The hash by which a text is known again; "" for one that is too short for that."""
        said = text.strip()
        return keyed(self._secret, said) if len(said) >= SHORTEST_TEXT and self._secret else ""

    def add(self, stones: Iterable[EntryTombstone]) -> int:
        """Adds those that are not there yet, synced; gives their number. Raises OSError, LockTimeout."""
        stones = list(stones)
        if not (stones or self.all()):
            return 0
        make_private_folder(self._copy.parent)
        with self._locked():
            known = self.all()
            keys = {(stone.token, stone.text) for stone in known}
            every = {(stone.token, stone.text): stone for stone in (*known, *stones)}
            for path in (self._path, self._copy):  # also what a kill kept from one of them
                there = _parsed(path).keys
                if lines := b"".join(_encoded(stone) for key, stone in every.items() if key not in there):
                    add_lines(path, lines)
            return len(every) - len(keys)

    def damages(self, written: int = 0) -> list[TombstoneDamage]:
        """What either file has lost; `written` is how many tombstones the jobs wrote, at least. Raises OSError."""
        main, copy = _parsed(self._path), _parsed(self._copy)
        lost = self._lost(main, copy, written)
        if not copy.exists and not main.checked and not main.damaged and not lost:  # of an earlier version
            return []
        every = len(_union(main, copy))
        found: list[TombstoneDamage] = []
        for path, file, other in ((self._path, main, self._copy), (self._copy, copy, self._path)):
            missing = every - len(file.keys)
            if not (file.damaged or missing):
                continue
            named = ", ".join(map(str, file.damaged[:_MOST_NAMED])) + " …" * (len(file.damaged) > _MOST_NAMED)
            sentences = [f"Damaged: {counted(len(file.damaged), 'line')} ({named})."] if file.damaged else []
            sentences += [f"Only in {self._name(other)}: {counted(missing, 'tombstone')}."] if missing else []
            sentences += [f"In neither file: {counted(lost, 'tombstone')}; {_AGAIN}."] if lost and file.damaged else []
            found.append(TombstoneDamage(self._name(path), f"{' '.join(sentences)} {_REPAIRS}"))
        if lost and not (main.damaged or copy.damaged):  # cut at the end of a line, filled with zeros, or gone
            message = f"In neither file: {counted(lost, 'tombstone')}; {_AGAIN}. {_REPAIRS}"
            found.append(TombstoneDamage(self._name(self._path), message))
        return found

    def repair(self, keep: Callable[[Path], object], written: int = 0) -> tuple[list[str], list[str]]:
        """Writes what is damaged anew; gives sentences about what was mended and what is lost.

        `keep` stores a copy of a damaged file first; `written` as for `damages`. Raises OSError, LockTimeout.
        """
        damages = {damage.file for damage in self.damages(written)}
        if not damages:
            return [], []
        make_private_folder(self._copy.parent)
        with self._locked():
            main, copy = _parsed(self._path), _parsed(self._copy)
            stones, lost = _union(main, copy), self._lost(main, copy, written)
            if lost:
                damages = {self._name(self._path), self._name(self._copy)}
            for path, file in ((self._path, main), (self._copy, copy)):
                if self._name(path) in damages:
                    if file.exists:
                        keep(path)
                    write_atomically(path, b"".join(map(_encoded, stones)))
            if written > len(stones):
                write_atomically(self._known_lost, with_checksum(b"%d" % (written - len(stones))))
        mended = [f"{name}: rewritten with {counted(len(stones), 'tombstone')}." for name in sorted(damages)]
        return mended, [f"In no file: {counted(lost, 'tombstone')}; {_AGAIN}."] if lost else []

    def _lost(self, main: _StoneFile, copy: _StoneFile, written: int) -> int:
        """How many tombstones at least are in neither file, less those that a repair has named as lost: each line of a
        file holds another one."""
        most, every = max(len(file.keys) + len(file.damaged) for file in (main, copy)), len(_union(main, copy))
        return max(0, most - every, written - self._count_known_lost() - every)

    def _count_known_lost(self) -> int:
        try:
            body = body_of(read_bytes(self._known_lost, owned=True).rstrip(b"\n")) or b""
        except FileNotFoundError:
            return 0
        return int(body) if body.isdigit() and len(body) < _MOST_DIGITS else 0

    def _name(self, path: Path) -> str:
        return path.relative_to(self._path.parent).as_posix()

    def _locked(self) -> FileLock:
        return FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS)

    def missing(self, tokens: Collection[str]) -> list[str]:
        """Those of the tokens that are not known here yet."""
        return sorted(set(tokens) - self.tokens())


def _signature(path: Path) -> Signature:
    found = status(path)
    return None if found is None else (found.st_size, found.st_mtime_ns, found.st_ino)


def _union(main: _StoneFile, copy: _StoneFile) -> tuple[EntryTombstone, ...]:
    return tuple({(stone.token, stone.text): stone for stone in (*main.stones, *copy.stones)}.values())


def _encoded(stone: EntryTombstone) -> bytes:
    return with_checksum(msgspec.json.encode(stone))


def _parsed(path: Path) -> _StoneFile:
    """What the file holds. An empty line, and one that a crash cut off, are passed over."""
    try:
        *lines, last = read_bytes(path, owned=True).split(b"\n")
    except FileNotFoundError:
        return _StoneFile(exists=False)
    stones: list[EntryTombstone] = []
    damaged: list[int] = []
    is_checked = False
    for number, line in enumerate([*lines, last], 1):
        is_last = number > len(lines)
        if (stone := _decoded(line)) is not None:
            stones.append(stone)
            is_checked = is_checked or not line.startswith(b"{")
        elif not (is_last or not line or line.endswith(CUT_OFF)):
            damaged.append(number)
    return _StoneFile(tuple(stones), tuple(damaged), checked=is_checked)


def _decoded(line: bytes) -> EntryTombstone | None:
    body = line if line.startswith(b"{") else body_of(line)  # an earlier version wrote no checksum
    if body is None:
        return None
    try:
        stone = decode_json(body, EntryTombstone)
    except msgspec.DecodeError:
        return None
    return stone if TOKEN.fits(stone.token) else None
