"""Observations in the store: entries below their original, off every branch, and deleted with their conversation.

Entries are looked at once, in order, up to a cursor for each maker; observations and the cursor's step are one
transaction, so that a killed process makes none twice and forgets none. Derived entries (memory/origin.py), untrusted
results, imports and delegated conversations are never looked at.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, cast

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.errors import Misuse
from foundation.privacy import Cleared, TextSource, clear, cleared_fields
from memory.cold import ColdStore
from memory.cold.changes import note_change
from memory.cold.entries import entries_at, entry_at, insert_entry
from memory.cold.epoch_copies import end_epochs_naming
from memory.cold.sql import fetch, first, run
from memory.errors import AmbiguousReference, Damaged, NotFound
from memory.observations.observation import MAX_TOKENS, Observation, decode, unsupported
from memory.observations.original import Known, Original
from memory.origin import UNTRUSTED, Origin, origin_of
from memory.records import Entry, EntryDraft, EntryKind
from memory.scope import ALL, SCOPE
from memory.tool_calls import tool_calls
from models.messages import Role
from models.tokens import estimate

RULES_CURSOR, MODEL_CURSOR = "rules", "model"
MOST_KNOWN: Final = 400  # newest observations of a conversation that a new one is compared with
CORRECTED: Final = "corrected"
"""Meta of an observation whose text the person wrote: it is not made again, and its identifiers are theirs."""

_KIND: Final = f"kind = '{EntryKind.OBSERVATION.value}'"
_DUE: Final = f"""
SELECT e.seq FROM entries e JOIN terms t ON t.entry = e.seq JOIN conversations c ON c.seq = e.conversation
WHERE e.seq > ?1 AND e.seq < ifnull((SELECT min(entry) FROM answers), e.seq + 1)
AND e.kind IN ('{EntryKind.MESSAGE.value}', '{EntryKind.TOOL_RESULT.value}') AND e.complete = 1 AND t.derived = 0
AND c.source = '' AND c.kind = 'chat' ORDER BY e.seq LIMIT ?2
"""
_BEGIN: Final = """
INSERT OR IGNORE INTO observed (maker, entry) SELECT ?1, ifnull(
    (SELECT min(seq) - 1 FROM entries WHERE time_ms >= ?2), (SELECT ifnull(max(seq), 0) FROM entries)
)
"""
_QUESTION: Final = f"""
WITH RECURSIVE up (seq, parent, asks, steps) AS (
    SELECT seq, parent, kind = '{EntryKind.MESSAGE.value}' AND role = '{Role.USER.value}', 0 FROM entries WHERE seq = ?
    UNION ALL
    SELECT e.seq, e.parent, e.kind = '{EntryKind.MESSAGE.value}' AND e.role = '{Role.USER.value}', steps + 1
    FROM up JOIN entries e ON e.seq = up.parent WHERE NOT up.asks AND steps < 4000
)
SELECT seq FROM up WHERE asks LIMIT 1
"""


class StoredObservation(Struct, frozen=True, kw_only=True):
    """An observation with its entry's id and seq, its original's seq, and the conversation's id and seq."""

    id: str
    seq: int
    original: int | None
    conversation: str
    conversation_seq: int
    time: datetime
    maker: str
    observation: Observation
    corrected: bool = False


class Batch(Struct, frozen=True):
    """Originals in order, what is known by conversation, and the cursor before and after them."""

    originals: tuple[Original, ...]
    known: Mapping[int, Known]
    start: int
    end: int


class Observations:
    """The observations of one workspace. Methods may be called from any thread; every one blocks on the disk."""

    def __init__(self, cold: ColdStore, text_of: Callable[[Entry], str]) -> None:
        """`text_of` gives an entry's whole text, archived or not; raises NotFound, Damaged."""
        self._cold = cold
        self._text_of = text_of

    # ── making ──

    def is_due(self, cursor: str) -> bool:
        """Whether there are entries that the maker of this cursor has not looked at."""
        return bool(self._cold.read(lambda db: fetch(db, _DUE, (_cursor(db, cursor), 1))))

    def cursor(self, name: str) -> int:
        """The last entry (seq) that a cursor has passed; 0 for none."""
        return self._cold.read(lambda db: _cursor(db, name))

    def set_cursor(self, name: str, entry: int) -> None:
        """Moves a cursor on to that entry."""
        self._cold.write(lambda db: _set_cursor(db, name, max(entry, _cursor(db, name))))

    def begin(self, cursor: str, since: datetime) -> None:
        """Where the maker of this cursor has looked at nothing yet, leaves out what was said before `since`."""
        self._cold.write(lambda db: run(db, _BEGIN, (cursor, to_ms(since))))

    def waiting(self, cursor: str, most: int) -> tuple[int, datetime | None]:
        """How many entries the maker of this cursor has not looked at, at most so many, and the time of the first."""
        seqs = [seq for (seq,) in self._cold.read(lambda db: fetch(db, _DUE, (_cursor(db, cursor), most)))]
        first_entry = self._cold.entries(seqs[:1]).get(seqs[0]) if seqs else None
        return len(seqs), first_entry.time if first_entry else None

    def skip(self, cursor: str, keeping: int) -> None:
        """Leaves out all but the newest entries that the maker of this cursor has not looked at."""

        def transaction(db: apsw.Connection) -> None:
            seqs = [seq for (seq,) in fetch(db, _DUE, (_cursor(db, cursor), -1))]
            if len(seqs) > keeping:
                _set_cursor(db, cursor, seqs[-keeping - 1])

        self._cold.write(transaction)

    def batch(self, cursor: str, most: int) -> Batch | None:
        """The next entries to look at, at most so many; None where there are none."""
        start = self._cold.read(lambda db: _cursor(db, cursor))
        seqs = [seq for (seq,) in self._cold.read(lambda db: fetch(db, _DUE, (start, most)))]
        if not seqs:
            return None
        entries = self._cold.entries(seqs)
        originals = tuple(self._originals([entries[seq] for seq in seqs if seq in entries]))
        known = {n: self.known(n) for n in dict.fromkeys(original.conversation for original in originals)}
        return Batch(originals, known, start, seqs[-1])

    def known(self, conversation: int) -> Known:
        """What the newest observations of a conversation (its seq) say."""
        stored = self._stored("conversation = ?", (conversation,), "seq", MOST_KNOWN)
        return Known(item.observation for item in reversed(stored))

    def store(self, batch: Batch, made: Mapping[int, Observation], maker: str, cursor: str) -> list[StoredObservation]:
        """Stores what was made of a batch and moves the cursor; nothing where another process did meanwhile.

        An observation that names what its original does not is left out, and so is one of an original that is gone, or
        whose observation the person corrected. An older one of the same original is replaced.
        """
        originals = {original.seq: original for original in batch.originals}
        sound = {
            seq: observation
            for seq, observation in made.items()
            if seq in originals and observation.title and not unsupported(observation, originals[seq].whole)
        }

        def transaction(db: apsw.Connection) -> list[int]:
            if _cursor(db, cursor) > batch.start:
                return []
            seqs = [self._insert(db, originals[seq], sound[seq], maker) for seq in sorted(sound)]
            _set_cursor(db, cursor, batch.end)
            return [seq for seq in seqs if seq]

        seqs = self._cold.write(transaction)
        return [item for entry in self._cold.entries(seqs).values() if (item := _stored_of(entry, entry.text))]

    def _insert(self, db: apsw.Connection, original: Original, observation: Observation, maker: str) -> int:
        """The seq of the new entry; 0 where it is not stored."""
        exists = "SELECT 1 FROM entries WHERE seq = ? AND seq NOT IN (SELECT entry FROM unobserved)"
        if not fetch(db, exists, (original.seq,)):
            return 0
        seqs = [seq for (seq,) in fetch(db, f"SELECT seq FROM entries WHERE parent = ? AND {_KIND}", (original.seq,))]
        older = [entry for entry in entries_at(db, seqs).values() if _stored_of(entry, entry.text)]
        if any(_keeps(entry, maker) for entry in older):
            return 0
        _remove(db, older)
        fields = observation.fields(maker)
        return self._append(db, original, observation.text, fields)

    def _append(self, db: apsw.Connection, original: Original, text: str, fields: dict[str, Any]) -> int:
        draft = EntryDraft(
            conversation=original.conversation,
            parent=original.seq,
            kind=EntryKind.OBSERVATION,
            role=Role.ASSISTANT,
            text=clear(text, TextSource.OTHER),
            meta=cleared_fields(fields),
            beside=True,
        )
        return insert_entry(db, draft, clock=self._cold.clock, analyse=self._cold.analyse).seq

    def _originals(self, entries: Iterable[Entry]) -> Iterable[Original]:
        questions: dict[int, int] = {}  # of an entry, by seq
        texts: dict[int, Entry] = {}
        for entry in entries:
            if entry.meta.get(UNTRUSTED) or entry.damaged:
                continue
            if origin_of(entry.kind, entry.role, imported=False, speaker=entry.speaker) is Origin.NETWORK:
                continue
            if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER:
                questions[entry.seq] = entry.seq
            elif entry.parent in questions:
                questions[entry.seq] = questions[entry.parent]
            elif row := self._cold.read(lambda db: first(db, _QUESTION, (entry.seq,))):  # noqa: B023 — called at once
                questions[entry.seq] = row[0]
            asks = questions.get(entry.seq, entry.seq)
            with suppress(NotFound, Damaged):
                question = texts.get(asks) or texts.setdefault(asks, self._cold.entry(asks))
                yield self._original(entry, question if asks != entry.seq else None)

    def _original(self, entry: Entry, question: Entry | None) -> Original:
        caller, arguments = self._call(entry)
        return Original(
            seq=entry.seq,
            ref=entry.id,
            conversation=entry.conversation_seq,
            kind=entry.kind,
            role=entry.role,
            time=entry.time,
            text=self._text_of(entry),
            tool=entry.speaker if entry.kind is EntryKind.TOOL_RESULT else "",
            arguments=arguments,
            failed=bool(entry.meta.get("failed")),
            call_ref=caller,
            question=self._text_of(question) if question else "",
            question_ref=question.id if question else "",
        )

    def _call(self, result: Entry) -> tuple[str, Mapping[str, Any]]:
        """The id of the answer that called the tool, and the call's arguments."""
        at = result
        while at.kind is EntryKind.TOOL_RESULT and at.parent is not None:
            at = self._cold.entry(at.parent)
        call = next((call for call in tool_calls(at) if call.id == result.meta.get("call_id")), None)
        if result.kind is not EntryKind.TOOL_RESULT or call is None:
            return "", {}
        with suppress(ValueError, RecursionError):
            if isinstance(arguments := json.loads(call.arguments), dict):
                return at.id, cast("dict[str, Any]", arguments)
        return at.id, {}

    # ── reading ──

    def newest(self, most: int, scope: str = ALL) -> list[StoredObservation]:
        """The newest observations of the conversations held here, of one scope (memory/scope.py), newest first."""
        where, values = "conversation IN (SELECT seq FROM conversations WHERE source = '')", list[str]()
        if scope != ALL:
            among, label = ("IN", scope) if scope else ("NOT IN", "*")
            where += f" AND conversation {among} (SELECT conversation FROM labels WHERE label GLOB ?)"
            values.append(f"{SCOPE}{label}")
        return self._stored(where, values, "time_ms", most)

    def of(self, originals: Collection[int]) -> dict[int, StoredObservation]:
        """Observations by the seq of their original."""
        wanted = sorted(originals)
        marks = ",".join("?" * len(wanted))
        stored = self._stored(f"parent IN ({marks})", wanted, "seq", len(wanted) * 2) if wanted else []
        return {item.original: item for item in reversed(stored) if item.original is not None}

    def find(self, ref: str) -> StoredObservation:
        """The observation of that id, or a unique prefix of it. Raises NotFound for another entry's."""
        try:
            entry = self._cold.find(ref)
            if stored := _stored_of(entry, self._text(entry)):
                return stored
            message = f"{ref} is not an observation."
        except AmbiguousReference:
            raise
        except NotFound as error:
            message = error.message
        raise NotFound("No such observation", message, "`observations list` shows their ids.")

    def _stored(self, where: str, values: Sequence[object], order: str, most: int) -> list[StoredObservation]:
        sql = f"SELECT seq FROM entries WHERE {_KIND} AND {where} ORDER BY {order} DESC, seq DESC LIMIT ?"
        seqs = [seq for (seq,) in self._cold.read(lambda db: fetch(db, sql, (*values, most)))]
        found = self._cold.entries(seqs)
        return [item for seq in seqs if seq in found and (item := _stored_of(found[seq], self._text(found[seq])))]

    def _text(self, entry: Entry) -> str:
        """An observation's text; of one that an earlier release archived, from its page. "" where that is damaged."""
        with suppress(NotFound, Damaged):
            return (entry.text if entry.text is not None else self._text_of(entry)) or ""
        return ""

    # ── editing ──

    def correct(self, ref: str, text: Cleared) -> StoredObservation:
        """Puts the person's text (title, facts) in the place of an observation's. Raises NotFound, Misuse."""
        stored = self.find(ref)
        if (tokens := estimate(text)) > MAX_TOKENS:
            raise Misuse("Too long", f"The text has {tokens:,} tokens; the limit is {MAX_TOKENS}.", "Shorten it.")

        def transaction(db: apsw.Connection) -> int:
            entry = entry_at(db, stored.seq)
            parsed = decode(text, entry.meta) or stored.observation
            fields = parsed.fields(str(entry.meta.get("maker", ""))) | {CORRECTED: True}
            _remove(db, [entry])
            draft = EntryDraft(
                conversation=entry.conversation_seq,
                parent=entry.parent,
                kind=EntryKind.OBSERVATION,
                role=entry.role,
                id=clear(entry.id, TextSource.OTHER),
                time=entry.time,
                text=text,
                meta=cleared_fields(fields),
                beside=True,
            )
            return insert_entry(db, draft, clock=self._cold.clock, analyse=self._cold.analyse).seq

        seq = self._cold.write(transaction)
        self._cold.empty_journal()
        entry = self._cold.entry(seq)
        return _stored_of(entry, entry.text) or stored

    def delete(self, ref: str) -> StoredObservation:
        """Deletes an observation; its original stays, and is not looked at again. Raises NotFound."""
        stored = self.find(ref)

        def transaction(db: apsw.Connection) -> None:
            entry = entry_at(db, stored.seq)
            _remove(db, [entry])
            if entry.parent is not None:
                run(db, "INSERT OR IGNORE INTO unobserved (entry) VALUES (?)", (entry.parent,))

        self._cold.write(transaction)
        self._cold.empty_journal()
        return stored


def _cursor(db: apsw.Connection, name: str) -> int:
    row = first(db, "SELECT entry FROM observed WHERE maker = ?", (name,))
    return int(row[0]) if row else 0


def _set_cursor(db: apsw.Connection, name: str, entry: int) -> None:
    run(db, "INSERT OR REPLACE INTO observed (maker, entry) VALUES (?, ?)", (name, entry))


def _keeps(entry: Entry, maker: str) -> bool:
    """Whether this observation stays where the maker has another of the same original."""
    return bool(entry.meta.get(CORRECTED)) or (maker == RULES_CURSOR and entry.meta.get("maker") != RULES_CURSOR)


def _remove(db: apsw.Connection, entries: Iterable[Entry]) -> None:
    """Deletes observations with the epochs whose head shows them."""
    for entry in entries:
        end_epochs_naming(db, [entry.id])
        note_change(db, "remove", [entry.seq])
        run(db, f"DELETE FROM entries WHERE seq = ? AND {_KIND}", (entry.seq,))


def _stored_of(entry: Entry, text: str | None) -> StoredObservation | None:
    if entry.kind is not EntryKind.OBSERVATION or (observation := decode(text or "", entry.meta)) is None:
        return None
    return StoredObservation(
        id=entry.id,
        seq=entry.seq,
        original=entry.parent,
        conversation=entry.conversation,
        conversation_seq=entry.conversation_seq,
        time=entry.time,
        maker=str(entry.meta.get("maker", "")),
        observation=observation,
        corrected=bool(entry.meta.get(CORRECTED)),
    )
