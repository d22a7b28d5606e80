"""Sampled check: a few seconds of comparing what is stored with its hashes, in random order, until all was covered.

Entries, packs and versions are items of a round: their order is a keyed hash of their names, with a key of the round.
A slice goes on where the last one ended; after the last item a new round begins, in another order. So each item is
read once a round however few a slice covers, and items that come or go meanwhile change nothing for the others.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from memory.archive.packs.storage import LocalStorage
from memory.archive.repair.check import pack_is_sound
from memory.archive.rows import pages as page_rows
from memory.cold.integrity.check import check_entries
from memory.cold.sql import first
from memory.errors import Damaged, MemoryFailure
from memory.memory import Memory
from memory.records import IntegrityProblem
from memory.upkeep.state import Round

KINDS: Final = ("entries", "packs", "versions")
BLOCK: Final = 64  # entries of one item: some milliseconds
MOST_BYTES: Final = 64 * 2**20  # of packs in one slice


class Slice(Struct, frozen=True, kw_only=True):
    """What a slice read of one kind, the faults it found, and where the round stands now."""

    count: int
    bytes: int
    problems: tuple[IntegrityProblem, ...]
    round: Round


class _Looked(Struct, frozen=True):
    """One item: how many entries, packs or versions it held, and their bytes where those are known."""

    count: int
    bytes: int = 0
    problems: tuple[IntegrityProblem, ...] = ()


def check_slice(memory: Memory, kind: str, position: Round, seconds: float, should_stop: Callable[[], bool]) -> Slice:
    """Checks items of the kind for so many seconds, one at least, and ends early where `should_stop` says so. Blocks.

    Raises StoreError where the store cannot be read.
    """
    names, look = _kinds()[kind]
    items = names(memory)
    seed, waiting = _waiting(items, position)
    reached = position.position if seed == position.seed else ""
    until, count, size, problems = time.monotonic() + seconds, 0, 0, list[IntegrityProblem]()
    for place, item in waiting:
        looked = look(memory, item)
        count, size, reached = count + looked.count, size + looked.bytes, place
        problems += looked.problems
        if time.monotonic() >= until or size >= MOST_BYTES or should_stop():
            break
    return Slice(count=count, bytes=size, problems=tuple(problems), round=Round(seed, reached))


def _waiting(items: Iterable[str], position: Round) -> tuple[str, list[tuple[str, str]]]:
    """The seed of the round that goes on, and its items that are left, in its order; of a new round where none is."""
    items = list(items)
    if position.seed:
        left = [pair for pair in _in_order(items, position.seed) if pair[0] > position.position]
        if left:
            return position.seed, left
    seed = secrets.token_hex(8)
    return seed, _in_order(items, seed)


def _in_order(items: Sequence[str], seed: str) -> list[tuple[str, str]]:
    key = seed.encode()
    return sorted((blake2b(item.encode(), key=key, digest_size=12).hexdigest(), item) for item in items)


def _blocks(memory: Memory) -> Iterator[str]:
    row = memory.cold.read(lambda db: first(db, "SELECT max(seq) FROM entries"))
    last = row[0] if row and row[0] else 0
    return (str(block) for block in range(last // BLOCK + 1)) if last else iter(())


def _look_at_block(memory: Memory, block: str) -> _Looked:
    start = int(block) * BLOCK
    end = start + BLOCK - 1
    problems = memory.cold.read(lambda db: check_entries(db, start, end))
    row = memory.cold.read(lambda db: first(db, "SELECT count(*) FROM entries WHERE seq BETWEEN ? AND ?", (start, end)))
    return _Looked(row[0] if row else 0, 0, tuple(problems))


def _packs(memory: Memory) -> Iterator[str]:
    """Packs in the workspace's own folder: those of a remote storage would have to be fetched."""
    if isinstance(memory.vault.storage, LocalStorage):
        yield from (row.name for row in memory.cold.read(page_rows.pack_rows))


def _look_at_pack(memory: Memory, name: str) -> _Looked:
    def row() -> page_rows.PackRow | None:
        return memory.cold.read(lambda db: page_rows.pack_row(db, name))

    known = row()
    if known is None:  # moved or deleted since the round was listed
        return _Looked(0)
    try:
        why = "" if pack_is_sound(memory.vault.storage, known) else "the pack was changed or damaged."
    except MemoryFailure as error:
        why = error.message
    if why and row() != known:
        return _Looked(0)
    return _Looked(1, known.size, (IntegrityProblem("pack", name, why),) if why else ())


def _versions(memory: Memory) -> Iterator[str]:
    return (str(version.number) for version in memory.versions.store.versions())


def _look_at_version(memory: Memory, number: str) -> _Looked:
    store = memory.versions.store
    found = next((version for version in store.versions() if str(version.number) == number), None)
    if found is None:  # dropped since the round was listed
        return _Looked(0)
    try:
        return _Looked(1, len(store.body(found)))
    except Damaged as error:
        if found not in store.versions() or store.is_lost(found):
            return _Looked(0)
        return _Looked(1, 0, (IntegrityProblem("version", number, error.message),))


_Names = Callable[[Memory], Iterable[str]]
_Look = Callable[[Memory, str], _Looked]


def _kinds() -> dict[str, tuple[_Names, _Look]]:
    looks: tuple[tuple[_Names, _Look], ...] = (
        (_blocks, _look_at_block),
        (_packs, _look_at_pack),
        (_versions, _look_at_version),
    )
    return dict(zip(KINDS, looks, strict=True))
