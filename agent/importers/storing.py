"""Imported entries on their way to the store: cleared, named, linked, each once however often the file is imported."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import apsw
from msgspec import Struct
from msgspec.structs import replace

from agent.importers.record import Bad, Leaf, Read, Record
from foundation.privacy import Cleared, clear, cleared_id, examine
from memory.cold import ColdStore, Conversation, Draft
from memory.cold.insert import insert_conversation

BATCH = 2000
"""Entries in one transaction."""
MOST_TOLD = 200
"""Bad places that are told one by one; the rest are counted."""

Progress = Callable[[int], None]


class Imported(Struct, frozen=True, kw_only=True):
    """What an import did. `already` entries were there from before; `taken_out` counts private spans and secrets."""

    source: str
    conversations: tuple[int, ...]  # seqs of those that got entries
    entries: int
    already: int
    bad: tuple[Bad, ...]
    bad_count: int
    taken_out: int


class Storing:
    """One import under way: `take` each thing read, then `finish`."""

    def __init__(self, cold: ColdStore, source: str, *, fixed_source: bool, on_progress: Progress | None) -> None:
        self._cold = cold
        self._source, self._fixed_source = cleared_id(source), fixed_source
        self._on_progress = on_progress
        self._conversations: dict[tuple[str, str], _Held] = {}
        self._named: dict[str, _Held] = {}  # by the file's own id, for the leaves
        self._leaves: dict[str, str] = {}
        self._waiting: list[Record] = []
        self._touched: dict[int, None] = {}
        self._entries = self._already = self._bad_count = self._taken_out = 0
        self._bad: list[Bad] = []

    def take(self, read: Read) -> None:
        match read:
            case Record():
                self._waiting.append(_safely_named(read))
                if len(self._waiting) >= BATCH:
                    self._store()
            case Leaf(conversation=conversation, id=leaf):
                self._leaves[cleared_id(conversation)] = cleared_id(leaf)
            case Bad():
                self._bad_count += 1
                if len(self._bad) < MOST_TOLD:
                    self._bad.append(read)

    def finish(self) -> Imported:
        """Stores what is left, and puts each conversation at the entry that its file says it goes on from."""
        self._store()
        for conversation, leaf in self._leaves.items():
            held = self._named.get(conversation)
            if held is not None and leaf in held.known and self._stands_elsewhere_in_file(held, leaf):
                self._cold.set_leaf(held.seq, self._cold.find(leaf, held.seq).seq)
        return Imported(
            source=self._source, conversations=tuple(self._touched), entries=self._entries, already=self._already,
            bad=tuple(self._bad), bad_count=self._bad_count, taken_out=self._taken_out,
        )  # fmt: skip

    def _stands_elsewhere_in_file(self, held: "_Held", wanted: str) -> bool:
        """Whether it stands at another entry of the file; where a person went on with it, it stays theirs."""
        leaf = self._cold.conversation_at(held.seq).leaf
        at = self._cold.entry(leaf).id if leaf is not None else ""
        return at != wanted and at in held.known

    def _draft(self, record: Record) -> Draft:
        held = self._conversations[self._key(record)]
        id_ = record.id or held.made_id(record)
        parent_id = held.last if record.parent is None else record.parent
        follows_stored = not parent_id and record.parent is None and not held.known
        held.known.add(id_)
        held.last = id_
        return Draft(
            conversation=held.seq,
            parent=held.leaf if follows_stored else None,
            parent_id=parent_id if parent_id in held.known else "",
            kind=record.kind,
            role=record.role,
            text=self._cleared(record.text),
            id=id_,
            speaker=clear(record.speaker),
            time=record.time,
            meta=_cleared_meta(record.meta),
        )

    def _key(self, record: Record) -> tuple[str, str]:
        source = self._source if self._fixed_source or record.source is None else record.source
        return source, record.conversation

    def _open_conversations(self, records: list[Record]) -> None:
        """Those that the records are of and that are not open yet, in one transaction."""
        new = {
            self._key(record): record for record in reversed(records) if self._key(record) not in self._conversations
        }
        wanted = [(key, clear(key[1] if record.title is None else record.title), record) for key, record in new.items()]
        clock = self._cold.clock

        def transaction(db: apsw.Connection) -> list[Conversation]:
            return [
                insert_conversation(db, clock, title, source=source, id=id_, created=record.created or record.time)
                for (source, id_), title, record in reversed(wanted)
            ]

        stored = self._cold.write(transaction) if wanted else []
        for (key, _, _), conversation in zip(reversed(wanted), stored, strict=True):
            self._conversations[key] = self._named[key[1]] = _Held(conversation)

    def _store(self) -> None:
        records, self._waiting = self._waiting, []
        if not records:
            return
        self._open_conversations(records)
        drafts = [self._draft(record) for record in records]
        stored = self._cold.append_many(drafts)
        for draft, entry in zip(drafts, stored, strict=True):
            if entry is None:
                self._already += 1
            else:
                self._entries += 1
                self._touched[draft.conversation] = None
        if self._on_progress:
            self._on_progress(self._entries + self._already)

    def _cleared(self, text: str) -> Cleared:
        findings = examine(text)
        self._taken_out += findings.private + len(findings.secrets)
        return findings.cleared


class _Held:
    """A conversation of the file, as the store has it."""

    def __init__(self, stored: Conversation) -> None:
        self.seq = stored.seq
        self.leaf = stored.leaf
        self.known: set[str] = set()
        self.last = ""
        self._said: dict[bytes, int] = {}

    def made_id(self, record: Record) -> str:
        """The same for the same words in the same place among their like, on every machine, in a grown file too."""
        told = "\x1f".join((record.role.value, record.speaker, str(record.time or ""), record.text))
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()
        nth = self._said[digest] = self._said.get(digest, 0) + 1
        return f"i_{digest.hex()[:16]}" + (f"_{nth}" if nth > 1 else "")


def store_all(
    cold: ColdStore, reads: Iterable[Read], *, source: str, fixed_source: bool, on_progress: Progress | None = None
) -> Imported:
    """Stores what a reader gives, a transaction a batch. With `fixed_source` lines cannot name another."""
    storing = Storing(cold, source, fixed_source=fixed_source, on_progress=on_progress)
    for read in reads:
        storing.take(read)
    return storing.finish()


def _safely_named(record: Record) -> Record:
    """The record with every name that the store keeps as it is, or makes a file's name of, fit to be stored."""
    return replace(
        record,
        id=cleared_id(record.id),
        conversation=cleared_id(record.conversation),
        parent=None if record.parent is None else cleared_id(record.parent),
        source=None if record.source is None else cleared_id(record.source),
    )


def _cleared_meta(value: dict[str, Any]) -> dict[str, Any]:
    return {clear(key): _cleared_value(one) for key, one in value.items()}


def _cleared_value(value: Any) -> Any:
    match value:
        case str():
            return clear(value)
        case dict():
            return {clear(str(key)): _cleared_value(one) for key, one in value.items()}  # pyright: ignore
        case list():
            return [_cleared_value(one) for one in value]  # pyright: ignore
        case _:
            return value
