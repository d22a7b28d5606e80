"""Document table of the index: a column per property, a row per entry, numbered from 0 in the order of arrival."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from foundation.text.analysis import iter_terms
from foundation.text.stopwords import count_content_words
from foundation.text.term_codec import split_terms
from memory.cold.changes import TermsRow
from memory.search.column import Column, GrowingColumn

ENTRY_COLUMNS = {
    "entry": "i8",  # its seq in the cold store
    "conversation": "i8",  # its seq
    "time": "i8",  # milliseconds since 1970
    "length": "i4",  # terms, repeats counted
    "says": "i4",  # content terms, without the speaker's name
    "asks": "u1",  # 1: it has a question word
    "kind": "i4",  # these three: positions in `names`
    "role": "i4",
    "speaker": "i4",
}
"""Columns that depend on the entry alone, and their types."""

COLUMNS = {
    **ENTRY_COLUMNS,
    "previous": "i4",  # documents before and after it in its conversation, -1 for none
    "following": "i4",
    "talk": "i4",  # the run of its conversation without a long gap, numbered from 0; some numbers are unused
    "alive": "u1",  # 0: removed, or replaced by a later row of the entry
}
LINKS = ("previous", "following", "talk")
"""Columns that depend on the entry's position in its conversation; only segments from the first change on hold them."""

NAMED = ("kind", "role", "speaker")
APART_MS = 12 * 3_600_000
"""Longest gap within a talk: entries of a conversation that are further apart in time are of two talks."""
NONE = -1


class Documents:
    """Runs of rows sorted by entry (one per segment), and rows that were added one by one.

    `columns` are those of the first run, with `count` rows filled and room for more. All its documents are alive. The
    documents of a conversation are linked in the order of their entries.
    """

    def __init__(self, columns: Mapping[str, Column] | None = None, names: Iterable[str] = (), count: int = 0) -> None:
        rooms = columns or {}
        self._columns = {name: GrowingColumn(dtype, rooms.get(name), count) for name, dtype in COLUMNS.items()}
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}
        self.runs: list[range] = [range(count)] if count else []
        self._replacements: dict[int, int] = {}
        self._speakers = set(np.flatnonzero(np.bincount(self["speaker"])).tolist() if count else ())
        self._speakers_by_term: dict[str, list[str]] = {}
        self._unlisted_speakers = list(self._speakers)
        self._last: dict[int, int] = {}
        self._ends: tuple[Column, Column] | None = None
        self.talks = int(self["talk"].max()) + 1 if count else 0
        self._talk_lengths: GrowingColumn | None = None
        self.live_count = count
        self.term_count = int(self["length"].sum())

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
        """Every speaker, those of removed documents included."""
        return [self.names[code] for code in self._speakers]

    def speakers_named(self, query_terms: Iterable[str]) -> list[str]:
        """Speakers whose name begins with one of these terms; there may be thousands of speakers."""
        while self._unlisted_speakers:
            name = self.names[self._unlisted_speakers.pop()]
            if first := next(iter_terms(name), None):
                self._speakers_by_term.setdefault(first, []).append(name)
        return [name for term in query_terms for name in self._speakers_by_term.get(term, ())]

    @property
    def talk_lengths(self) -> Column:
        """Number of terms in the living documents of each talk (i8); 0 for unused numbers."""
        if self._talk_lengths is None:
            sums = np.bincount(self["talk"], self["length"] * self["alive"].astype("f8"), self.talks)
            self._talk_lengths = GrowingColumn("i8", sums[: self.talks].astype("i8"), self.talks)
        return self._talk_lengths.view

    def find(self, entry: int) -> int:
        """The living document of an entry, NONE where there is none."""
        document = self._replacements.get(entry, NONE)
        if document != NONE:
            return document if self["alive"][document] else NONE
        for run in reversed(self.runs):
            rows = self["entry"][run.start : run.stop]
            offset = int(rows.searchsorted(entry))
            if offset < len(rows) and rows[offset] == entry:
                return run.start + offset if self["alive"][run.start + offset] else NONE
        return NONE

    def rows_of(self, entries: Column) -> Column:
        """The living document of each of some entries (i8, any order), NONE where there is none."""
        rows = np.full(len(entries), NONE, "i8")
        for run in self.runs:  # the newest row of an entry is the one that may live
            run_entries = self["entry"][run.start : run.stop]
            offsets = np.minimum(np.searchsorted(run_entries, entries), len(run_entries) - 1)
            rows = np.where(run_entries[offsets] == entries, run.start + offsets, rows)
        if self._replacements:
            later = np.array([self._replacements.get(entry, NONE) for entry in entries.tolist()], "i8")
            rows = np.where(later == NONE, rows, later)
        return np.where((rows != NONE) & (self["alive"][rows] == 1), rows, NONE) if self.count else rows

    def dead(self, run: range) -> int:
        """Number of removed documents among these rows."""
        return len(run) - int(np.count_nonzero(self["alive"][run.start : run.stop]))

    # ── one by one ──

    def put(self, row: TermsRow) -> int:
        """Adds a document for the row's entry, and replaces the one it had."""
        old, new, _ = self.find(row.entry), self.count, self.talk_lengths  # counted before there is one more
        if old == NONE:
            before, after = self._neighbours(row.entry, row.conversation)
        else:
            before, after = int(self["previous"][old]), int(self["following"][old])
            self._mark_removed(old)
        talk = self._talk_of(row, old, before)
        own = count_content_words(*split_terms(row.packed), row.speaker)
        values = {
            "entry": row.entry,
            "conversation": row.conversation,
            "time": row.time_ms,
            "length": row.length,
            "says": own.says,
            "asks": own.asks,
            "kind": self._code_for(row.kind),
            "role": self._code_for(row.role),
            "speaker": self._code_for(row.speaker),
            "previous": before,
            "following": after,
            "talk": talk,
            "alive": 1,
        }
        for name, value in values.items():
            self._columns[name].append(value)
        self._add_speaker(values["speaker"])
        self._link(before, new, after, row.conversation)
        self._replacements[row.entry] = new
        self.live_count += 1
        self.term_count += row.length
        self.talk_lengths[talk] += row.length
        if not (self._has_right_talk(before, new) and self._has_right_talk(new, after)):
            self._renumber_talks(new)
        return new

    def remove(self, entry: int) -> None:
        """Removes an entry, and links its neighbours to each other."""
        document = self.find(entry)
        if document == NONE:
            return
        previous, following = int(self["previous"][document]), int(self["following"][document])
        self._mark_removed(document)
        if previous != NONE:
            self["following"][previous] = following
        if following != NONE:
            self["previous"][following] = previous
        else:
            self._last[int(self["conversation"][document])] = previous
        if not self._has_right_talk(previous, following):
            self._renumber_talks(previous)

    def _neighbours(self, entry: int, conversation: int) -> tuple[int, int]:
        """Documents before and after an entry in its conversation; mostly it is the last."""
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

    def _mark_removed(self, document: int) -> None:
        self.talk_lengths[self["talk"][document]] -= self["length"][document]
        self["alive"][document] = 0
        self.live_count -= 1
        self.term_count -= int(self["length"][document])

    # ── talks ──

    def _talk_of(self, row: TermsRow, old: int, before: int) -> int:
        """Talk of a new document: that of the one it replaces, of the one before it, or a new talk."""
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

    def _has_right_talk(self, before: int, after: int) -> bool:
        """Whether two neighbours share a talk exactly where the gap between them is short."""
        if NONE in {before, after}:
            return True
        is_near = abs(int(self["time"][after]) - int(self["time"][before])) <= APART_MS
        return is_near == bool(self["talk"][before] == self["talk"][after])

    def _renumber_talks(self, document: int) -> None:
        """Renumbers the talks of a document's whole conversation, after a change in its middle."""
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

    def _add_speaker(self, code: int) -> None:
        if code not in self._speakers:
            self._speakers.add(code)
            self._unlisted_speakers.append(code)

    def _code_for(self, name: str) -> int:
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    # ── many at once ──

    def add_rows(self, columns: Mapping[str, Column], names: Sequence[str], removed: Column) -> Column:
        """Adds rows sorted by entry, each in place of its entry's earlier row; removes the entries of `gone`. Gives the
        conversations that need `relink` before any row is added alone."""
        replaced = self.rows_of(np.concatenate((columns["entry"], removed)))
        replaced = replaced[replaced != NONE]
        touched = np.concatenate((columns["conversation"], self["conversation"][replaced]))
        self["alive"][replaced] = 0
        first, count = self.count, len(columns["entry"])
        codes = np.array([self._code_for(name) for name in names], "i4")
        for name in ENTRY_COLUMNS:
            values = columns[name]
            self._columns[name].extend(codes[values] if name in NAMED else values)
        self._columns["alive"].extend(np.ones(count, "u1"))
        for name in LINKS:
            self._columns[name].extend(np.full(count, 0 if name == "talk" else NONE, "i4"))
        if count:
            self.runs.append(range(first, first + count))
            if self._replacements:
                for entry in columns["entry"].tolist():
                    self._replacements.pop(entry, None)
            for speaker in np.unique(self["speaker"][first:]).tolist():
                self._add_speaker(speaker)
        self.live_count += count - len(replaced)
        self.term_count += int(columns["length"].sum()) - int(self["length"][replaced].sum())
        return touched

    def relink(self, conversations: Column) -> None:
        """Recomputes links and talks of these conversations, after `add_rows`."""
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
