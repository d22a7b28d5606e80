"""Content-defined passages: a text is cut by its own lines, so that the same lines are the same passages in any text.

A line whose checksum has three zero bits ends a passage. After an edit the cuts are as before from the next such line
on, so a text with one change shares all its other passages with its earlier version.

`PassageIndex` locates the characters of texts on their pages once these are drawn.
"""

import hashlib
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import apsw
from msgspec import Struct

from memory.cold.sql import batches, each, fetch, marks, run_many
from memory.errors import Damaged

if TYPE_CHECKING:  # its module loads numpy, and restoring a text needs none
    from memory.archive.write.page_writer import PackedPage

LEAST, MOST = 256, 2048  # characters; with lines of 40 a passage has about 550
WORTH_INDEXING = 128  # the last of a text may be shorter than LEAST


class PassageSpan(Struct, frozen=True):
    """Span of a passage in its text, in characters, and its hash."""

    start: int
    length: int
    hash: bytes


class PagePart(Struct, frozen=True):
    """Some characters of a page's text."""

    page: str
    page_start: int
    length: int


def passages(text: str) -> list[PassageSpan]:
    """Cuts the whole text into passages."""
    cuts, begin = [0], 0
    for piece, end in _pieces(text):
        length = end - begin
        if length >= MOST or (length >= LEAST and zlib.crc32(_bytes(piece)) & 7 == 0):
            cuts.append(end)
            begin = end
    if cuts[-1] < len(text):
        cuts.append(len(text))
    return [PassageSpan(a, b - a, _hash(text[a:b])) for a, b in pairwise(cuts)]


def known(db: apsw.Connection, hashes: Iterable[bytes]) -> dict[bytes, tuple[PagePart, ...]]:
    """Locations of those passages that are on pages."""
    parts_by_hash: dict[bytes, list[PagePart]] = {}
    for batch in batches(sorted(set(hashes))):
        sql = f"""SELECT hash, page, page_start, length FROM passages WHERE hash IN ({marks(batch)})
                  ORDER BY hash, part"""
        for key, *part in each(db, sql, batch):
            parts_by_hash.setdefault(key, []).append(PagePart(*part))
    return {key: tuple(parts) for key, parts in parts_by_hash.items()}


def known_as(db: apsw.Connection, hashes: Iterable[bytes], way: str) -> dict[bytes, list[tuple[PagePart, ...]]]:
    """All locations of those passages that a file drawn in this way may share: `way` names the cell and the mode."""
    keys = {key: passage_hash for passage_hash in hashes for key in (passage_hash, _drawn_as(passage_hash, way))}
    places: dict[bytes, list[tuple[PagePart, ...]]] = {}
    for key, parts in known(db, keys).items():
        places.setdefault(keys[key], []).append(parts)
    return places


def index(db: apsw.Connection, places: Mapping[bytes, Sequence[PagePart]], way: str = "") -> None:
    """Records the locations of these passages; one that has a location already keeps it.

    Pages of a file are shared only where they are drawn in the same `way`, so each way may have a location of its own.
    """
    for key, parts in places.items():
        if not _is_noted(db, key):
            _note(db, key, parts)
        elif way and not _is_noted(db, own := _drawn_as(key, way)):
            _note(db, own, parts)


def _is_noted(db: apsw.Connection, key: bytes) -> bool:
    return bool(fetch(db, "SELECT 1 FROM passages WHERE hash = ?", (key,)))


def _note(db: apsw.Connection, key: bytes, parts: Sequence[PagePart]) -> None:
    run_many(
        db,
        "INSERT INTO passages (hash, part, page, page_start, length) VALUES (?, ?, ?, ?, ?)",
        [(key, n, part.page, part.page_start, part.length) for n, part in enumerate(parts)],
    )


def _drawn_as(key: bytes, way: str) -> bytes:
    return hashlib.blake2b(key + way.encode(), digest_size=16).digest()


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Lines, a very long one in pieces, each with its end offset."""
    offset = 0
    while offset < len(text):
        newline = text.find("\n", offset, offset + MOST)
        end = newline + 1 if newline >= 0 else min(offset + MOST, len(text))
        yield text[offset:end], end
        offset = end


def _hash(text: str) -> bytes:
    return hashlib.blake2b(_bytes(text), digest_size=16).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class PassageIndex:
    """Locations of the texts of one archiving. A text is identified by its run and its key."""

    def __init__(self, bound: "Iterable[PackedPage]") -> None:
        self._laid: dict[tuple[int, int], list[tuple[int, int, str, int]]] = {}
        for page in bound:
            for laid in page.laid:
                places = self._laid.setdefault((page.run, laid.key), [])
                if laid.length or not places:  # an empty stretch has one place too
                    places.append((laid.start, laid.length, page.id, laid.page_start))
        for places in self._laid.values():
            if len(places) > 1:
                places[:] = [place for place in places if place[1]]

    def of(self, run: int, key: int, start: int, length: int) -> list[PagePart]:
        """Parts of pages with the text's `length` characters from `start`. No characters are one empty part."""
        places = self._laid.get((run, key), [])
        if not length:
            return [PagePart(page, offset, 0) for _, _, page, offset in places[:1]]
        parts: list[PagePart] = []
        offset, end = start, start + length
        first = max(0, bisect_right(places, (start, 1 << 62)) - 1)
        for begin, size, page, page_start in islice(places, first, None):
            if begin >= end:
                break
            upto = min(end, begin + size)
            if begin <= offset < upto:
                parts.append(PagePart(page, page_start + offset - begin, upto - offset))
                offset = upto
        if offset != end:
            raise Damaged("A text was not placed", f"{end - offset} characters of a text were placed on no page.")
        return parts
