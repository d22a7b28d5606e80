"""Deduplication of entries within one archiving: against older pages and against each other.

Text that is on a page already is not drawn again: a line refers to it, and the entry's spans point there. Only a run of
some length is worth such a line. It may refer to an older page, or to another entry of the same archiving; never to the
same entry, which must be readable in one go.
"""

from collections.abc import Callable, Mapping, Sequence

import apsw
from msgspec import Struct

from memory.archive.rows import pages
from memory.archive.rows.pages import EntrySpan
from memory.archive.write import chunks
from memory.archive.write.chunks import WORTH_INDEXING, PagePart, PassageIndex, PassageSpan
from memory.cold import ColdStore
from memory.errors import Damaged, OutOfDate
from memory.pages.types import PageRow
from memory.records import Entry

WORTH_A_LINE = 400  # characters; the line itself takes up to a hundred


class DuplicateSpan(Struct, frozen=True):
    """The same text in an entry of the same archiving: its key, its id and the offset there."""

    key: int
    entry: str
    start: int


PassageSource = tuple[PagePart, ...] | DuplicateSpan


class QuotedSpan(Struct, frozen=True):
    """Characters of an entry that are not drawn with it, and the locations of their passages."""

    start: int
    length: int
    homes: tuple[tuple[PassageSpan, PassageSource], ...]


class OwnSpan(Struct, frozen=True):
    """Characters of an entry that are drawn with it: `start` in the entry, `at` in the drawn text."""

    start: int
    length: int
    at: int


class ComposedEntry(Struct, frozen=True):
    """An entry as it is drawn: its own text, and lines that refer to the rest."""

    text: str
    own: tuple[OwnSpan, ...]
    quoted: tuple[QuotedSpan, ...]


def compose(
    text: str, cut: Sequence[PassageSpan], homes: Mapping[bytes, PassageSource], texts: Mapping[str, str]
) -> ComposedEntry:
    """Composes an entry: `homes` has locations of some of its passages; `texts` of those pages and entries, by id."""
    runs = [run for run in _runs(cut, homes) if sum(passage.length for passage, _ in run) >= WORTH_A_LINE]
    parts, own, quoted, at, done = list[str](), list[OwnSpan](), list[QuotedSpan](), 0, 0

    def draw(drawn_text: str) -> None:
        nonlocal at
        parts.append(drawn_text)
        at += len(drawn_text)

    for run in runs:
        begin, end = run[0][0].start, run[-1][0].start + run[-1][0].length
        if begin > done:
            own.append(OwnSpan(done, begin - done, at))
            draw(text[done:begin])
        if parts and not parts[-1].endswith("\n"):
            draw("\n")
        quoted.append(QuotedSpan(begin, end - begin, tuple(run)))
        draw(_line(text[begin:end], run[0][1], texts))
        done = end
    if done < len(text) or not runs:
        own.append(OwnSpan(done, len(text) - done, at))
        draw(text[done:])
    return ComposedEntry("".join(parts), tuple(own), tuple(quoted))


def referable_passages(
    key: int, entry: str, cut: Sequence[PassageSpan], composed: ComposedEntry
) -> dict[bytes, DuplicateSpan]:
    """Passages that are drawn with this entry, to which a later entry may refer."""
    return {passage.hash: DuplicateSpan(key, entry, passage.start) for passage in drawn_passages(cut, composed)}


def drawn_passages(cut: Sequence[PassageSpan], composed: ComposedEntry) -> list[PassageSpan]:
    """Passages that are whole within the entry's own text, and long enough to be referred to."""
    return [
        passage
        for passage in cut
        if passage.length >= WORTH_INDEXING
        and any(o.start <= passage.start and passage.start + passage.length <= o.start + o.length for o in composed.own)
    ]


def _runs(
    cut: Sequence[PassageSpan], homes: Mapping[bytes, PassageSource]
) -> list[list[tuple[PassageSpan, PassageSource]]]:
    """Runs of consecutive passages with a location."""
    runs: list[list[tuple[PassageSpan, PassageSource]]] = []
    follows = False
    for passage in cut:
        home = homes.get(passage.hash)
        if home is None:
            follows = False
            continue
        if not follows:
            runs.append([])
        runs[-1].append((passage, home))
        follows = True
    return runs


def _line(words: str, home: PassageSource, texts: Mapping[str, str]) -> str:
    """`⤷ 210 lines (8,400 characters) as in e_4kx7m2p0q9ab, from its line 3` and a newline."""
    count = words.count("\n") + (not words.endswith("\n"))
    what = f"{count:,} line{'s' if count != 1 else ''} ({len(words):,} characters)"
    name, start = (home.entry, home.start) if isinstance(home, DuplicateSpan) else (home[0].page, home[0].page_start)
    line = texts[name].count("\n", 0, start) + 1
    return f"⤷ {what} as {'in' if isinstance(home, DuplicateSpan) else 'on page'} {name}, from its line {line:,}\n"


class Deduplicator:
    """First `composed`, then `spans`; within the transaction `still_there`."""

    def __init__(self, cold: ColdStore, read: Callable[[PageRow], str | None]) -> None:
        self._cold = cold
        self._read = read
        self._entries: dict[int, Entry] = {}
        self._cut: dict[int, list[PassageSpan]] = {}
        self._drawn: dict[int, ComposedEntry] = {}
        self._pages: dict[str, str] = {}  # the text of older pages that are pointed to
        self.new_homes: dict[bytes, list[PagePart]] = {}
        """Where the passages that were drawn stand, once `spans` knows it."""

    @property
    def chars(self) -> int:
        """Number of characters that were not drawn again."""
        return sum(quoted.length for drawn in self._drawn.values() for quoted in drawn.quoted)

    def composed(self, entries: Sequence[Entry]) -> dict[int, ComposedEntry]:
        """The drawn form of each entry, by its seq."""
        self._entries = {entry.seq: entry for entry in entries}
        self._cut = {entry.seq: chunks.passages(entry.text or "") for entry in entries}
        homes: dict[bytes, PassageSource] = dict(self._proven())
        texts = dict(self._pages)
        for entry in entries:
            cut = self._cut[entry.seq]
            drawn = compose(entry.text or "", cut, homes, texts)
            self._drawn[entry.seq] = drawn
            texts[entry.id] = entry.text or ""
            for key, duplicate in referable_passages(entry.seq, entry.id, cut, drawn).items():
                homes.setdefault(key, duplicate)
        return self._drawn

    def spans(self, places: PassageIndex, drawn: Mapping[str, str]) -> dict[int, list[EntrySpan]]:
        """Spans of each entry's text, by its seq, verified against the pages' texts; `drawn` are the new ones'."""
        texts = {**self._pages, **drawn}
        found: dict[int, list[EntrySpan]] = {}
        for seq, entry in self._entries.items():
            found[seq] = _joined(self._parts(seq, places))
            words = "".join(texts[s.page][s.page_start : s.page_start + s.length] for s in found[seq])
            if words != (entry.text or ""):
                raise Damaged(
                    "An entry could not be verified", f"The pages of entry {entry.id} do not contain its text."
                )
            for passage in drawn_passages(self._cut[seq], self._drawn[seq]):
                self.new_homes.setdefault(passage.hash, self._own(seq, places, passage.start, passage.length))
        return found

    def still_there(self, db: apsw.Connection) -> None:
        """Raises OutOfDate where a page that is referred to was deleted meanwhile."""
        if len(pages.pages_by_id(db, self._pages)) < len(self._pages):
            raise OutOfDate("The archive changed", "A page was deleted while it was being referenced.", "Try again.")

    def _proven(self) -> dict[bytes, tuple[PagePart, ...]]:
        """Passages that are exactly on older pages: each page is read, and its text compared."""
        text_of = {passage.hash: (seq, passage) for seq, cut in self._cut.items() for passage in cut}
        homes = self._cold.read(lambda db: chunks.known(db, text_of))
        rows = self._cold.read(lambda db: pages.pages_by_id(db, {p.page for parts in homes.values() for p in parts}))
        read: dict[str, str | None] = {}
        proven: dict[bytes, tuple[PagePart, ...]] = {}
        for key, parts in homes.items():
            for part in parts:
                if part.page not in read:
                    read[part.page] = self._read(rows[part.page]) if part.page in rows else None
            seq, passage = text_of[key]
            words = "".join((read[p.page] or "")[p.page_start : p.page_start + p.length] for p in parts)
            if words == (self._entries[seq].text or "")[passage.start : passage.start + passage.length]:
                proven[key] = parts
        used = {part.page for parts in proven.values() for part in parts}
        self._pages = {page: text for page, text in read.items() if text is not None and page in used}
        return proven

    def _parts(self, seq: int, places: PassageIndex) -> list[tuple[int, PagePart]]:
        """(start in the entry, location of those characters), in order."""
        drawn = self._drawn[seq]
        starts: list[tuple[int, PagePart]] = []
        for own in drawn.own:
            starts += _numbered(own.start, places.of(0, seq, own.at, own.length))
        for quoted in drawn.quoted:
            for passage, home in quoted.homes:
                where = (
                    self._own(home.key, places, home.start, passage.length) if isinstance(home, DuplicateSpan) else home
                )
                starts += _numbered(passage.start, where)
        return sorted(starts, key=lambda placed: placed[0])

    def _own(self, seq: int, places: PassageIndex, start: int, length: int) -> list[PagePart]:
        """Locations of characters that were drawn with their entry."""
        own = next(o for o in self._drawn[seq].own if o.start <= start and start + length <= o.start + o.length)
        return places.of(0, seq, own.at + start - own.start, length)


def _numbered(start: int, parts: Sequence[PagePart]) -> list[tuple[int, PagePart]]:
    numbered: list[tuple[int, PagePart]] = []
    for part in parts:
        numbered.append((start, part))
        start += part.length
    return numbered


def _joined(parts: Sequence[tuple[int, PagePart]]) -> list[EntrySpan]:
    """The fewest equivalent spans."""
    spans: list[EntrySpan] = []
    for start, part in parts:
        last = spans[-1] if spans else None
        if last and (last.page, last.page_start + last.length) == (part.page, part.page_start):
            spans[-1] = EntrySpan(last.start, last.length + part.length, last.page, last.page_start)
        else:
            spans.append(EntrySpan(start, part.length, part.page, part.page_start))
    return spans
