"""What the entries of one archiving share with older pages and with each other, from search to spans."""

from collections.abc import Callable, Mapping, Sequence

import apsw

from memory.archive.index import ledger
from memory.archive.index.ledger import Span
from memory.archive.keep import passages, stored_once
from memory.archive.keep.passages import Part, Passage
from memory.archive.keep.places import Places
from memory.archive.keep.stored_once import Composed, Home, Twin
from memory.cold import ColdStore, Entry
from memory.errors import Damaged, OutOfDate
from memory.pages.types import PageRow


class Sharing:
    """First `composed`, then `spans`; within the transaction `still_there`."""

    def __init__(self, cold: ColdStore, read: Callable[[PageRow], str | None]) -> None:
        self._cold = cold
        self._read = read
        self._entries: dict[int, Entry] = {}
        self._cut: dict[int, list[Passage]] = {}
        self._drawn: dict[int, Composed] = {}
        self._pages: dict[str, str] = {}  # the text of older pages that are pointed to
        self.new_homes: dict[bytes, list[Part]] = {}
        """Where the passages that were drawn stand, once `spans` knows it."""

    @property
    def chars(self) -> int:
        """How many characters were not drawn again."""
        return sum(quoted.length for drawn in self._drawn.values() for quoted in drawn.quoted)

    def composed(self, entries: Sequence[Entry]) -> dict[int, Composed]:
        """What is to be drawn of each entry, by its seq."""
        self._entries = {entry.seq: entry for entry in entries}
        self._cut = {entry.seq: passages.passages(entry.text or "") for entry in entries}
        homes: dict[bytes, Home] = dict(self._proven())
        texts = dict(self._pages)
        for entry in entries:
            cut = self._cut[entry.seq]
            drawn = stored_once.compose(entry.text or "", cut, homes, texts)
            self._drawn[entry.seq] = drawn
            texts[entry.id] = entry.text or ""
            for key, twin in stored_once.twins(entry.seq, entry.id, cut, drawn).items():
                homes.setdefault(key, twin)
        return self._drawn

    def spans(self, places: Places, drawn: Mapping[str, str]) -> dict[int, list[Span]]:
        """Where each entry's text stands, by its seq, proven against the pages' texts; `drawn` are the new ones'."""
        texts = {**self._pages, **drawn}
        found: dict[int, list[Span]] = {}
        for seq, entry in self._entries.items():
            found[seq] = _joined(self._parts(seq, places))
            words = "".join(texts[s.page][s.page_start : s.page_start + s.length] for s in found[seq])
            if words != (entry.text or ""):
                raise Damaged("An entry did not come back", f"The pages of entry {entry.id} do not hold its text.")
            for one in stored_once.drawn_passages(self._cut[seq], self._drawn[seq]):
                self.new_homes.setdefault(one.hash, self._own(seq, places, one.start, one.length))
        return found

    def still_there(self, db: apsw.Connection) -> None:
        """Raises OutOfDate where a page that is pointed to was deleted meanwhile."""
        if len(ledger.pages_by_id(db, self._pages)) < len(self._pages):
            raise OutOfDate("The archive changed", "A page was deleted while it was to be pointed to.", "Try again.")

    def _proven(self) -> dict[bytes, tuple[Part, ...]]:
        """The passages that stand on older pages to the letter: each page is read, and its words compared."""
        text_of = {one.hash: (seq, one) for seq, cut in self._cut.items() for one in cut}
        homes = self._cold.read(lambda db: passages.known(db, text_of))
        rows = self._cold.read(lambda db: ledger.pages_by_id(db, {p.page for parts in homes.values() for p in parts}))
        read: dict[str, str | None] = {}
        proven: dict[bytes, tuple[Part, ...]] = {}
        for key, parts in homes.items():
            for part in parts:
                if part.page not in read:
                    read[part.page] = self._read(rows[part.page]) if part.page in rows else None
            seq, one = text_of[key]
            words = "".join((read[p.page] or "")[p.page_start : p.page_start + p.length] for p in parts)
            if words == (self._entries[seq].text or "")[one.start : one.start + one.length]:
                proven[key] = parts
        used = {part.page for parts in proven.values() for part in parts}
        self._pages = {page: text for page, text in read.items() if text is not None and page in used}
        return proven

    def _parts(self, seq: int, places: Places) -> list[tuple[int, Part]]:
        """(start in the entry, where those characters stand), in order."""
        drawn = self._drawn[seq]
        starts: list[tuple[int, Part]] = []
        for own in drawn.own:
            starts += _numbered(own.start, places.of(0, seq, own.at, own.length))
        for quoted in drawn.quoted:
            for one, home in quoted.homes:
                where = self._own(home.key, places, home.start, one.length) if isinstance(home, Twin) else home
                starts += _numbered(one.start, where)
        return sorted(starts, key=lambda placed: placed[0])

    def _own(self, seq: int, places: Places, start: int, length: int) -> list[Part]:
        """Where characters stand that were drawn with their entry."""
        own = next(o for o in self._drawn[seq].own if o.start <= start and start + length <= o.start + o.length)
        return places.of(0, seq, own.at + start - own.start, length)


def _numbered(start: int, parts: Sequence[Part]) -> list[tuple[int, Part]]:
    numbered: list[tuple[int, Part]] = []
    for part in parts:
        numbered.append((start, part))
        start += part.length
    return numbered


def _joined(parts: Sequence[tuple[int, Part]]) -> list[Span]:
    """As few spans as say the same."""
    spans: list[Span] = []
    for start, part in parts:
        last = spans[-1] if spans else None
        if last and (last.page, last.page_start + last.length) == (part.page, part.page_start):
            spans[-1] = Span(last.start, last.length + part.length, last.page, last.page_start)
        else:
            spans.append(Span(start, part.length, part.page, part.page_start))
    return spans
