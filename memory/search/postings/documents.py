"""The documents of the postings: a column a property, a row an entry, numbered from 0 as they came."""

from collections.abc import Iterable, Mapping

import numpy as np

from memory.cold.changes import TermsRow
from memory.search.postings.growing import Column, Growing
from memory.search.words.packing import split
from memory.search.words.substance import substance

COLUMNS = {
    "entry": "i8",  # its seq in the cold store
    "conversation": "i8",  # its seq
    "time": "i8",  # milliseconds since 1970
    "length": "i4",  # terms, repeats counted
    "says": "i4",  # terms that say something, the speaker's name left out
    "asks": "u1",  # 1: it has a question word
    "kind": "i4",  # these three: places in `names`
    "role": "i4",
    "speaker": "i4",
    "previous": "i4",  # documents before and after it in its conversation, -1 for none
    "following": "i4",
    "alive": "u1",  # 0: removed, or another row stands for the entry now
}
NONE = -1


class Documents:
    """Rows sorted by entry up to `sorted_rows` (those of a snapshot), then as they came."""

    def __init__(self, columns: Mapping[str, Column] | None = None, names: Iterable[str] = ()) -> None:
        filled = columns or {}
        self._columns = {name: Growing(dtype, filled.get(name)) for name, dtype in COLUMNS.items()}
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}
        self.sorted_rows = self.count
        self._later: dict[int, int] = {}
        self._speakers = set(np.flatnonzero(np.bincount(self["speaker"])).tolist() if self.count else ())
        alive = self["alive"] == 1
        last = np.flatnonzero(alive & (self["following"] == NONE))
        self._last = dict(zip(self["conversation"][last].tolist(), last.tolist(), strict=True))
        self.living = int(np.count_nonzero(alive))
        self.words = int(self["length"][alive].sum())
        self.dead_and_sorted = self.sorted_rows - self.living

    @property
    def count(self) -> int:
        return self._columns["entry"].count

    def __getitem__(self, column: str) -> Column:
        return self._columns[column].view

    def code(self, name: str) -> int:
        """The code of a kind, role or speaker; NONE where no document has it."""
        return self._codes.get(name, NONE)

    @property
    def speakers(self) -> list[str]:
        """All who speak, or spoke once."""
        return [self.names[code] for code in self._speakers]

    def find(self, entry: int) -> int:
        """The living document of an entry, NONE where there is none."""
        document = self._later.get(entry, NONE)
        if document == NONE:
            rows = self["entry"][: self.sorted_rows]
            at = int(np.searchsorted(rows, entry))
            document = at if at < len(rows) and rows[at] == entry else NONE
        return document if document != NONE and self["alive"][document] else NONE

    def rows_of(self, entries: Column) -> Column:
        """The living document of each of some entries (i8, any order), NONE where there is none."""
        rows = self["entry"][: self.sorted_rows]
        found = np.full(len(entries), NONE, "i8")
        if len(rows):
            at = np.minimum(np.searchsorted(rows, entries), len(rows) - 1)
            found = np.where(rows[at] == entries, at, NONE)
        if self._later:
            later = np.array([self._later.get(entry, NONE) for entry in entries.tolist()], "i8")
            found = np.where(later == NONE, found, later)
        return np.where((found != NONE) & (self["alive"][found] == 1), found, NONE) if self.count else found

    def put(self, row: TermsRow) -> int:
        """A new document for the row's entry, in the place of the one it had."""
        old, new = self.find(row.entry), self.count
        if old == NONE:
            before, after = self._last.get(row.conversation, NONE), NONE
        else:
            before, after = int(self["previous"][old]), int(self["following"][old])
            self._bury(old)
        own = substance(*split(row.packed), row.speaker)
        values = {
            "entry": row.entry, "conversation": row.conversation, "time": row.time_ms, "length": row.length,
            "says": own.says, "asks": own.asks,
            "kind": self._coded(row.kind), "role": self._coded(row.role), "speaker": self._coded(row.speaker),
            "previous": before, "following": after, "alive": 1,
        }  # fmt: skip
        for name, value in values.items():
            self._columns[name].append(value)
        self._speakers.add(values["speaker"])
        self._link(before, new, after, row.conversation)
        self._later[row.entry] = new
        self.living += 1
        self.words += row.length
        return new

    def remove(self, entry: int) -> None:
        """The entry is gone; its neighbours are one another's now."""
        document = self.find(entry)
        if document == NONE:
            return
        before, after = int(self["previous"][document]), int(self["following"][document])
        conversation = int(self["conversation"][document])
        self._bury(document)
        if before != NONE:
            self["following"][before] = after
        if after != NONE:
            self["previous"][after] = before
        elif before != NONE:
            self._last[conversation] = before
        else:
            self._last.pop(conversation, None)

    def _bury(self, document: int) -> None:
        self["alive"][document] = 0
        self.living -= 1
        self.words -= int(self["length"][document])
        self.dead_and_sorted += document < self.sorted_rows

    def _link(self, before: int, new: int, after: int, conversation: int) -> None:
        if before != NONE:
            self["following"][before] = new
        if after != NONE:
            self["previous"][after] = new
        else:
            self._last[conversation] = new

    def _coded(self, name: str) -> int:
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code
