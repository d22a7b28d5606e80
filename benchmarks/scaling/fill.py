"""A large store, filled fast: the rows that `ColdStore.append` writes, thousands in one statement, without waiting for
the disk. What importing costs is measured apart, with the store's own appending."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from benchmarks.scaling.perturbations import Said
from foundation.clock import SystemClock, to_ms
from foundation.text.analysis import Analyser, analyse
from memory.cold import ColdStore
from memory.cold.changes import note_change
from memory.cold.encoding import digest, from_meta, from_parts, pack, to_bytes
from memory.cold.integrity.row_hashes import seal_of
from memory.cold.sql import fetch, run_many
from memory.records import new_id

_AT_ONCE = 20_000
_ENTRIES = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def fill(path: Path, said: Iterable[Said], on_progress: Callable[[int], None]) -> dict[str, int]:
    """Fills a new store; gives the entries of the corpus's own turns by their sources."""
    cold = ColdStore.open(
        path, analyse=Analyser(path.with_name("entities.yaml")), clock=SystemClock(), synchronous="off"
    )
    cold.write(lambda db: fetch(db, "PRAGMA cache_size = -200000"))
    entries, sources, seq = iter(said), dict[str, int](), 0
    while some := list(islice(entries, _AT_ONCE)):
        cold.write(lambda db, some=some, seq=seq: _put(db, some, seq))
        sources |= {one.source: seq + place for place, one in enumerate(some, start=1) if one.source}
        seq += len(some)
        on_progress(seq)
    cold.empty_journal()
    cold.close()
    return sources


def _put(db: apsw.Connection, some: list[Said], last: int) -> None:
    rows = [list(_row(one, last + place)) for place, one in enumerate(some, start=1)]
    talks = {one.talk + 1: one for one in some}
    run_many(
        db,
        "INSERT OR IGNORE INTO conversations (seq, id, created_ms, updated_ms) VALUES (?, ?, ?, ?)",
        [(talk, new_id("c"), to_ms(one.time), to_ms(one.time)) for talk, one in talks.items()],
    )
    run_many(db, _ENTRIES, rows)
    run_many(db, "INSERT INTO seals VALUES (?, ?)", [(row[0], seal_of(_sealed(row))) for row in rows])
    terms = [(last + place, analyse(one.text, one.speaker)) for place, one in enumerate(some, start=1)]
    run_many(
        db,
        "INSERT INTO terms (entry, terms, length, analyser) VALUES (?, ?, ?, ?)",
        [(entry, one.packed, one.length, one.analyser) for entry, one in terms],
    )
    note_change(db, "add", [row[0] for row in rows])
    leaves = [(last + place, one.talk + 1) for place, one in enumerate(some, start=1)]
    run_many(
        db, "UPDATE conversations SET leaf = ? WHERE seq = ?", {talk: (entry, talk) for entry, talk in leaves}.values()
    )


def _row(one: Said, seq: int) -> Iterator[Any]:
    raw = to_bytes(one.text)
    yield from (seq, one.talk + 1, new_id("e"), None, "message", "user", one.speaker, to_ms(one.time))
    yield from (*pack(raw), len(one.text), digest(raw), from_parts(()), from_meta({}), 1)


def _sealed(row: list[Any]) -> tuple[Any, ...]:
    """What a seal is made of: all but the number and the body, names as bytes."""
    _, conversation, id_, parent, kind, role, speaker, ms, _, _, *what = row
    return (conversation, id_.encode(), parent, kind.encode(), role.encode(), speaker.encode(), ms, *what)
