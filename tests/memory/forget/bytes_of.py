"""An independent look for words in a folder: every file, every zstd frame, every value of every database.

It shares nothing with the program: `in` on bytes, the zstandard library, and Python's own sqlite3.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
WHOLE, DELTA = b"PVW1", b"PVD1"


def forms(word: str) -> set[bytes]:
    plain = {word, word.lower(), word.upper()}
    once = {form for word in plain for form in (word, json.dumps(word)[1:-1])}
    twice = {raw for form in once for raw in (form, json.dumps(form)[1:-1])}
    nested = {raw for form in twice for raw in (form, json.dumps(form)[1:-1])}
    return {raw.encode() for raw in nested} | {form.encode("utf-16-le") for form in plain}


def places_of(root: Path, words: list[str]) -> dict[str, list[str]]:
    """The files below the folder that hold a word in any form, and the words."""
    wanted = {word: forms(word) for word in words}
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        bodies = [str(path.relative_to(root)).encode(), *contents(path)]
        held = [word for word, raws in wanted.items() if any(raw in body for raw in raws for body in bodies)]
        if held:
            found[str(path.relative_to(root))] = held
    return found


def contents(path: Path) -> Iterator[bytes]:
    raw = path.read_bytes()
    yield raw
    if raw[:4] == DELTA:
        base = path.parent.parent / raw[20:52].hex()[:2] / raw[20:52].hex()
        if base.exists():
            known = list(contents(base))[-1]
            dictionary = zstandard.ZstdCompressionDict(known, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            yield zstandard.ZstdDecompressor(dict_data=dictionary).decompress(raw[52:], max_output_size=2**28)
    else:
        yield from frames(raw)
    if raw[:15] == b"SQLite format 3":
        yield from values(path)


def frames(raw: bytes) -> Iterator[bytes]:
    at = raw.find(MAGIC)
    while at >= 0:
        with suppress(zstandard.ZstdError):
            yield zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj().decompress(raw[at:])
        at = raw.find(MAGIC, at + 1)


def values(path: Path) -> Iterator[bytes]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = bytes
    try:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{table.decode()}"'):
                for value in row:
                    if isinstance(value, bytes):
                        yield value
                        yield from frames(value) if value[:4] == MAGIC else ()
    finally:
        db.close()
