"""The documents of the postings: a column a property, a row an entry, numbered from 0 as they came."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from foundation.text.analysis import iter_terms
from foundation.text.stopwords import count_content_words
from foundation.text.term_codec import split_terms
from memory.cold.changes import TermsRow
from memory.search.column import Column, GrowingColumn

TOLD = {
    "entry": "i8",  # its seq in the cold store
    "conversation": "i8",  # its seq
    "time": "i8",  # milliseconds since 1970
    "length": "i4",  # terms, repeats counted
    "says": "i4",  # terms that say something, the speaker's name left out
    "asks": "u1",  # 1: it has a question word
    "kind": "i4",  # these three: places in `names`
    "role": "i4",
    "speaker": "i4",
}
"""What an entry itself says, and its type."""

COLUMNS = {
    **TOLD,
    "previous": "i4",  # documents before and after it in its conversation, -1 for none
    "following": "i4",
    "talk": "i4",  # which run of its conversation without a long gap, numbered from 0; some numbers stand for none
    "alive": "u1",  # 0: removed, or another row stands for the entry now
}
LINKS = ("previous", "following", "talk")
"""What an entry's place in its conversation says, and only segments that hold all from the first change on keep."""

NAMED = ("kind", "role", "speaker")
APART_MS = 12 * 3_600_000
"""Entries of a conversation that are further apart in time are of two talks."""
NONE = -1


class Documents:
    """Runs of rows sorted by entry (a segment's each), and rows that came one by one.

    `columns` are those of the first run, with `count` rows filled and room for more. All its documents live. A
    conversation's documents are linked in the order of their entries.
    """

    def __init__(self, columns: Mapping[str, Column] | None = None, names: Iterable[str] = (), count: int = 0) -> None:
        rooms = columns or {}
        self._columns = {name: GrowingColumn(dtype, rooms.get(name), count) for name, dtype in COLUMNS.items()}
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}
        self.runs: list[range] = [range(count)] if count else []
        self._later: dict[int, int] = {}
        self._speakers = set(np.flatnonzero(np.bincount(self["speaker"])).tolist() if count else ())
        self._called: dict[str, list[str]] = {}
        self._uncalled = list(self._speakers)
        self._last: dict[int, int] = {}
        self._ends: tuple[Column, Column] | None = None
        self.talks = int(self["talk"].max()) + 1 if count else 0
        self._talk_lengths: GrowingColumn | None = None
        self.living = count
        self.words = int(self["length"].sum())

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

    def speakers_called(self, said: Iterable[str]) -> list[str]:
        """Of all who speak, or spoke once, those whose name begins with one of these terms: there may be thousands."""
        while self._uncalled:
            name = self.names[self._uncalled.pop()]
            if first := next(iter_terms(name), None):
                self._called.setdefault(first, []).append(name)
        return [name for term in said for name in self._called.get(term, ())]

    @property
    def talk_lengths(self) -> Column:
        """The terms of each talk (i8), of its living documents; 0 for numbers that stand for none."""
        if self._talk_lengths is None:
            sums = np.bincount(self["talk"], self["length"] * self["alive"].astype("f8"), self.talks)
            self._talk_lengths = GrowingColumn("i8", sums[: self.talks].astype("i8"), self.talks)
        return self._talk_lengths.view

    def find(self, entry: int) -> int:
        """The living document of an entry, NONE where there is none."""
        document = self._later.get(entry, NONE)
        if document != NONE:
            return document if self["alive"][document] else NONE
        for run in reversed(self.runs):
            rows = self["entry"][run.start : run.stop]
            at = int(rows.searchsorted(entry))
            if at < len(rows) and rows[at] == entry:
                return run.start + at if self["alive"][run.start + at] else NONE
        return NONE

    def rows_of(self, entries: Column) -> Column:
        """The living document of each of some entries (i8, any order), NONE where there is none."""
        found = np.full(len(entries), NONE, "i8")
        for run in self.runs:  # the newest row of an entry is the one that may live
            rows = self["entry"][run.start : run.stop]
            at = np.minimum(np.searchsorted(rows, entries), len(rows) - 1)
            found = np.where(rows[at] == entries, run.start + at, found)
        if self._later:
            later = np.array([self._later.get(entry, NONE) for entry in entries.tolist()], "i8")
            found = np.where(later == NONE, found, later)
        return np.where((found != NONE) & (self["alive"][found] == 1), found, NONE) if self.count else found

    def dead(self, run: range) -> int:
        """How many of these rows do not live any more."""
        return len(run) - int(np.count_nonzero(self["alive"][run.start : run.stop]))

    # ── one by one ──

    def put(self, row: TermsRow) -> int:
        """A new document for the row's entry, in the place of the one it had."""
        old, new, _ = self.find(row.entry), self.count, self.talk_lengths  # counted before there is one more
        if old == NONE:
            before, after = self._place(row.entry, row.conversation)
        else:
            before, after = int(self["previous"][old]), int(self["following"][old])
            self._bury(old)
        talk = self._talk_of(row, old, before)
        own = count_content_words(*split_terms(row.packed), row.speaker)
        values = {
            "entry": row.entry,
            "conversation": row.conversation,
            "time": row.time_ms,
            "length": row.length,
            "says": own.says,
            "asks": own.asks,
            "kind": self._coded(row.kind),
            "role": self._coded(row.role),
            "speaker": self._coded(row.speaker),
            "previous": before,
            "following": after,
            "talk": talk,
            "alive": 1,
        }
        for name, value in values.items():
            self._columns[name].append(value)
        self._speaks(values["speaker"])
        self._link(before, new, after, row.conversation)
        self._later[row.entry] = new
        self.living += 1
        self.words += row.length
        self.talk_lengths[talk] += row.length
        if not (self._is_well_told(before, new) and self._is_well_told(new, after)):
            self._tell_anew(new)
        return new

    def remove(self, entry: int) -> None:
        """The entry is gone; its neighbours are one another's now."""
        document = self.find(entry)
        if document == NONE:
            return
        before, after = int(self["previous"][document]), int(self["following"][document])
        self._bury(document)
        if before != NONE:
            self["following"][before] = after
        if after != NONE:
            self["previous"][after] = before
        else:
            self._last[int(self["conversation"][document])] = before
        if not self._is_well_told(before, after):
            self._tell_anew(before)

    def _place(self, entry: int, conversation: int) -> tuple[int, int]:
        """Between which documents of its conversation an entry stands: mostly it is the last."""
        before, after = self._last_of(conversation), NONE
        while before != NONE and self["entry"][before] > entry:
            before, after = int(self["previous"][before]), before
        return before, after

    def _last_of(self, conversation: int) -> int:
        if conversation in self._last:
            return self._last[conversation]
        if self._ends is None:
            ends = np.flatnonzero((self["following"] == NONE) & (self["alive"] == 1))
            ends = ends[np.argsort(self["conversation"][ends], kind="stable")]
            self._ends = self["conversation"][ends], ends
        conversations, ends = self._ends
        at = int(conversations.searchsorted(conversation))
        is_known = at < len(conversations) and conversations[at] == conversation
        return int(ends[at]) if is_known else NONE

    def _bury(self, document: int) -> None:
        self.talk_lengths[self["talk"][document]] -= self["length"][document]
        self["alive"][document] = 0
        self.living -= 1
        self.words -= int(self["length"][document])

    # ── talks ──

    def _talk_of(self, row: TermsRow, old: int, before: int) -> int:
        """The talk that an entry joins, of the document that it had or of the one before it; or a new one."""
        if old != NONE:
            return int(self["talk"][old])
        if before != NONE and abs(int(self["time"][before]) - row.time_ms) <= APART_MS:
            return int(self["talk"][before])
        return self._new_talk()

    def _new_talk(self) -> int:
        self.talks += 1
        if self._talk_lengths:
            self._talk_lengths.append(0)
        return self.talks - 1

    def _is_well_told(self, before: int, after: int) -> bool:
        """Whether two that stand beside each other are of one talk just where no long gap parts them."""
        if NONE in {before, after}:
            return True
        is_near = abs(int(self["time"][after]) - int(self["time"][before])) <= APART_MS
        return is_near == bool(self["talk"][before] == self["talk"][after])

    def _tell_anew(self, document: int) -> None:
        """New talks for a document's whole conversation: something came or went in its middle."""
        while self["previous"][document] != NONE:
            document = int(self["previous"][document])
        talk, before = self._new_talk(), document
        while document != NONE:
            if abs(int(self["time"][document]) - int(self["time"][before])) > APART_MS:
                talk = self._new_talk()
            self.talk_lengths[self["talk"][document]] -= self["length"][document]
            self.talk_lengths[talk] += self["length"][document]
            self["talk"][document] = talk
            before, document = document, int(self["following"][document])

    def _link(self, before: int, new: int, after: int, conversation: int) -> None:
        if before != NONE:
            self["following"][before] = new
        if after != NONE:
            self["previous"][after] = new
        else:
            self._last[conversation] = new

    def _speaks(self, code: int) -> None:
        if code not in self._speakers:
            self._speakers.add(code)
            self._uncalled.append(code)

    def _coded(self, name: str) -> int:
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    # ── many at once ──

    def take_in(self, columns: Mapping[str, Column], names: Sequence[str], gone: Column) -> Column:
        """Rows sorted by entry, each in the place of the one that its entry had; entries of `gone` are removed. Gives
        the conversations that `relink` is to be called for, before anything is put one by one."""
        replaced = self.rows_of(np.concatenate((columns["entry"], gone)))
        replaced = replaced[replaced != NONE]
        touched = np.concatenate((columns["conversation"], self["conversation"][replaced]))
        self["alive"][replaced] = 0
        first, many = self.count, len(columns["entry"])
        codes = np.array([self._coded(name) for name in names], "i4")
        for name in TOLD:
            values = columns[name]
            self._columns[name].extend(codes[values] if name in NAMED else values)
        self._columns["alive"].extend(np.ones(many, "u1"))
        for name in LINKS:
            self._columns[name].extend(np.full(many, 0 if name == "talk" else NONE, "i4"))
        if many:
            self.runs.append(range(first, first + many))
            if self._later:
                for entry in columns["entry"].tolist():
                    self._later.pop(entry, None)
            for speaker in np.unique(self["speaker"][first:]).tolist():
                self._speaks(speaker)
        self.living += many - len(replaced)
        self.words += int(columns["length"].sum()) - int(self["length"][replaced].sum())
        return touched

    def relink(self, conversations: Column) -> None:
        """Puts the links and talks of these conversations right, after `take_in`."""
        rows = np.flatnonzero(np.isin(self["conversation"], np.unique(conversations)) & (self["alive"] == 1))
        talks, entries = self["conversation"][rows], self["entry"][rows]
        order = np.lexsort((entries, talks))
        rows, talks = rows[order], talks[order]
        is_same = talks[1:] == talks[:-1]
        before, after = rows[:-1][is_same], rows[1:][is_same]
        self["previous"][rows] = NONE
        self["following"][rows] = NONE
        self["previous"][after] = before
        self["following"][before] = after
        times = self["time"][rows]
        begins = np.ones(len(rows), bool)
        begins[1:] = ~is_same | (np.abs(np.diff(times)) > APART_MS)
        self["talk"][rows] = self.talks - 1 + np.cumsum(begins)
        self.talks += int(np.count_nonzero(begins))
        self._talk_lengths = None
        self._ends = None
        self._last = {}
