"""Position of a passage in its knowledge file, for citations: by its entry and its characters."""

import re
from collections.abc import Mapping

import apsw
from msgspec import Struct

from foundation.clock import from_ms, iso
from foundation.text.analysis import iter_terms
from memory.cold.integrity.row_seals import PLACES
from memory.cold.sql import fetch

KIND = "knowledge"
"""Kind of the conversations that hold added files, and origin of their archives."""

_BEFORE = "SELECT coalesce(sum(chars), 0) FROM entries WHERE conversation = ? AND seq < ?"
_PLACES = f"""SELECT k.replaced_ms, p.seal, {PLACES.listed}
             FROM knowledge k JOIN knowledge_places p ON p.memory = k.seq
             WHERE k.conversation = ?1 AND p.start < max(?3, ?2 + 1) AND p.start >= (
                 SELECT max(start) FROM knowledge_places f WHERE f.memory = k.seq AND f.start <= ?2
             ) ORDER BY p.start"""
_SHEET = re.compile(r"(page|slide) (\d+)")


NEARLY_ALL = 0.8  # "of" and "the" occur on every page


class FileSpan(Struct, frozen=True):
    """Part of a passage, `start` to `end` in its entry, within one place of the file (a page, a slide, lines).

    `place` is its name in a citation; `until` the end of an older version's validity. `read_by` is the OCR engine that
    read it. `offset` is the offset of its first character in the file's text.
    """

    start: int
    end: int
    place: str = ""
    read_by: str = ""
    offset: int = 0
    until: str = ""
    sound: bool = True  # the stored place matches its seal

    @property
    def cited(self) -> str:
        return ", ".join(part for part in (self.until, self.place) if part)


def spots(db: apsw.Connection, conversation: int, entry: int, start: int, end: int) -> list[FileSpan]:
    """The places that an entry's characters cover; one unnamed place for an unknown file."""
    before = int(fetch(db, _BEFORE, (conversation, entry))[0][0])
    found = fetch(db, _PLACES, (conversation, before + start, before + end))
    if not found:
        return [FileSpan(start, end, offset=before + start)]
    until = f"until {iso(from_ms(found[0][0]))[:10]}" if found[0][0] is not None else ""
    begins = [max(start, row[3] - before) for row in found]
    return [
        FileSpan(first, last, _name(row[4]), _name(row[5]), before + first, until, PLACES.seal(row[2:]) == row[1])
        for row, first, last in zip(found, begins, [*begins[1:], end], strict=True)
        if last > first or len(found) == 1
    ]


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def best_spot(text: str, found: list[FileSpan], worth: Mapping[str, float]) -> FileSpan:
    """The passage to cite: by the place that holds most of the question's terms, weighted by `worth`.

    A citation of pages or slides covers only those with matches: the one that holds nearly all of the matched weight,
    else the range from the first to the last that hold some. Elsewhere the passage stays whole. It counts as OCR text
    if any part does.
    """
    found_words = [_found(text[span.start : span.end], worth) for span in found]
    worths = [sum(worth[term] for term in words) for words in found_words]
    best = max(range(len(found)), key=lambda n: (worths[n], -n))
    if not _SHEET.match(found[best].place):
        place = found[best].place or next((span.place for span in found if span.place), "")
        return _run(text, found, place, found[best].offset)
    of_all = sum(worth[term] for term in frozenset[str]().union(*found_words))
    if worths[best] >= NEARLY_ALL * of_all:
        return _run(text, found[best : best + 1], found[best].place, found[best].offset)
    telling = [n for n, value in enumerate(worths) if value >= (1 - NEARLY_ALL) * of_all]
    run = found[telling[0] : telling[-1] + 1]
    return _run(text, run, _range(run[0].place, run[-1].place), found[best].offset)


def _run(text: str, found: list[FileSpan], place: str, offset: int) -> FileSpan:
    """Joins adjacent places into one, without surrounding white space."""
    part = text[found[0].start : found[-1].end]
    start = found[0].start + len(part) - len(part.lstrip())
    read_by = next((span.read_by for span in found if span.read_by), "")
    sound = all(span.sound for span in found)
    return FileSpan(start, max(start, start + len(part.strip())), place, read_by, offset, found[0].until, sound)


def _range(first: str, last: str) -> str:
    """`pages 3–4`, `slides 2–5`."""
    begins, ends = _SHEET.match(first), _SHEET.match(last)
    if not begins or not ends:
        return first or last
    return f"{begins[1]}s {begins[2]}–{ends[2]}"


def _found(part: str, worth: Mapping[str, float]) -> frozenset[str]:
    return frozenset(term for term in iter_terms(part) if term in worth)
