"""Canaries: words that must not be found, and a search for them in every byte of a folder, in every form."""

import base64
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from zstandard import ZstdDecompressor, ZstdError

ZSTD = b"\x28\xb5\x2f\xfd"
_ESCAPE = re.compile(rb"\\+u00([0-9a-f]{2})")
_LETTERS = "abcdefghijkmnopqrstuvwxyz"


class Canaries:
    """Makes canaries and remembers by which door each one went in."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self.doors: dict[str, str] = {}

    def private(self, door: str) -> str:
        """A word that only `<private>` makes private."""
        return self._known("zq" + "".join(self._dice.choices(_LETTERS, k=12)), door)

    def token(self, door: str) -> str:
        """A token that its form gives away."""
        return self._known("ghp_" + "".join(self._dice.choices(_LETTERS + _LETTERS.upper() + "0123456789", k=36)), door)

    def password(self, door: str) -> str:
        """A value that only its field's name gives away."""
        return self._known("Xk9" + "".join(self._dice.choices(_LETTERS, k=7)) + "4!qZ7", door)

    def _known(self, word: str, door: str) -> str:
        self.doors[word] = door
        return word

    def found_in(self, *folders: Path, own: frozenset[Path] = frozenset()) -> dict[str, str]:
        """Of the canaries that are in a file below the folders: the door, and where. `own` files are the person's."""
        found: dict[str, str] = {}
        forms = {form: word for word in self.doors for form in _forms(word)}
        for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
            for word in self.doors:
                if word.lower() in path.name.lower() and path not in own:
                    found[word] = f"{self.doors[word]}: the name of {path}"
            if not path.is_file() or path in own:
                continue
            for place, body in _unfolded(path):
                lower = body.lower()
                if b"\\u00" in lower:  # letters spelt as JSON's escapes, however often escaped themselves
                    lower += _ESCAPE.sub(lambda one: bytes([int(one[1], 16)]), lower).lower()
                for form, word in forms.items():
                    if form in lower:
                        found[word] = f"{self.doors[word]}: {path}, {place}"
        return found


def _forms(word: str) -> Iterator[bytes]:
    raw = word.encode()
    yield raw.lower()
    yield raw.hex().encode()
    yield word[::-1].lower().encode()
    yield word.encode("utf-16-le").lower()
    yield "".join(f"\\u{ord(letter):04x}" for letter in word).encode().lower()
    for cut in range(3):  # base64 at each of the three alignments, its ragged ends left out
        yield base64.b64encode(raw[cut : cut + (len(raw) - cut) // 3 * 3]).lower()


def _unfolded(path: Path) -> Iterator[tuple[str, bytes]]:
    """The file's bytes, each zstd frame in it unpacked, and each cell of a database, unpacked too."""
    body = path.read_bytes()
    yield "raw", body
    yield from _frames(body)
    if body.startswith(b"SQLite format 3\x00"):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            db.text_factory = bytes
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in db.execute(f'SELECT * FROM "{table.decode()}"'):
                    for cell in row:
                        if isinstance(cell, bytes):
                            yield f"a cell of {table.decode()}", cell
                            yield from _frames(cell)


def _frames(body: bytes) -> Iterator[tuple[str, bytes]]:
    at = body.find(ZSTD)
    while at >= 0:
        with suppress(ZstdError):
            yield f"a frame at {at}", ZstdDecompressor().decompressobj().decompress(body[at:])
        at = body.find(ZSTD, at + 4)
