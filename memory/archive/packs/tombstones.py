"""What was deleted, told beside the packs: an index that is built again from them leaves it out.

A hash stands for a conversation, and a page's random id for its pages: no name, and no word.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from foundation.names import PAGE, TOKEN
from memory.archive.packs.storage import Storage
from memory.errors import MemoryFailure
from memory.names import vetted

NAME = "deleted.ids"
LONGEST = 2**26  # bytes


class Tombstone(Struct, frozen=True, kw_only=True):
    """A conversation that was deleted: the hash of its source and id, when, and the pages that were drawn for it."""

    token: str
    deleted_ms: int
    pages: tuple[str, ...] = ()


class _TombstoneFile(Struct, frozen=True):
    schema: int
    deleted: tuple[Tombstone, ...]


def read_tombstones(storage: Storage, names: Sequence[str]) -> dict[str, Tombstone]:
    """By token; none where the file is not there, or cannot be read: it is written anew from the index.

    Raises ForgedName where it holds a name that no program of ours wrote.
    """
    if NAME not in names or storage.size(NAME) > LONGEST:
        return {}
    try:
        found = msgspec.json.decode(storage.read(NAME), type=_TombstoneFile)
    except (msgspec.MsgspecError, RecursionError, MemoryFailure):
        return {}
    for one in found.deleted:
        vetted(TOKEN, one.token, NAME)
        for page in one.pages:
            vetted(PAGE, page, NAME)
    return {one.token: one for one in found.deleted}


def write_tombstones(storage: Storage, known: Iterable[Tombstone], *, without: frozenset[str] = frozenset()) -> None:
    """These, beside those that stand there already; `without` go. Nothing is written where nothing changes."""
    names = storage.names()
    before = read_tombstones(storage, names)
    after: Mapping[str, Tombstone] = {**before, **{one.token: _both(one, before.get(one.token)) for one in known}}
    after = {token: one for token, one in after.items() if token not in without}
    if after == before and (NAME in names or not after):
        return
    body = msgspec.json.encode(_TombstoneFile(1, tuple(after[token] for token in sorted(after))))
    storage.write(NAME, msgspec.json.format(body, indent=1))


def _both(one: Tombstone, before: Tombstone | None) -> Tombstone:
    pages = tuple(sorted({*one.pages, *(before.pages if before else ())}))
    return Tombstone(token=one.token, deleted_ms=one.deleted_ms, pages=pages)
