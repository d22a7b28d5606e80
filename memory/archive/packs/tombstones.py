"""Tombstones of deleted conversations beside the packs: an index that is rebuilt from the packs leaves them out.

They hold a hash of the conversation and the random ids of its pages: no name, and no text.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from foundation.names import PAGE, TOKEN
from foundation.typed_json import decode_json
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
    """Tombstones by token; none where the file is missing or unreadable: it is rewritten from the index.

    Raises ForgedName where it holds a name that no program of ours wrote.
    """
    if NAME not in names or storage.size(NAME) > LONGEST:
        return {}
    try:
        file = decode_json(storage.read(NAME), _TombstoneFile)
    except (msgspec.DecodeError, MemoryFailure):
        return {}
    for tombstone in file.deleted:
        vetted(TOKEN, tombstone.token, NAME)
        for page in tombstone.pages:
            vetted(PAGE, page, NAME)
    return {tombstone.token: tombstone for tombstone in file.deleted}


def write_tombstones(storage: Storage, known: Iterable[Tombstone], *, without: frozenset[str] = frozenset()) -> None:
    """Adds tombstones to the file, and removes those of `without`. Writes nothing where nothing changes."""
    names = storage.names()
    before = read_tombstones(storage, names)
    after: Mapping[str, Tombstone] = {
        **before,
        **{tombstone.token: _merged(tombstone, before.get(tombstone.token)) for tombstone in known},
    }
    after = {token: tombstone for token, tombstone in after.items() if token not in without}
    if after == before and (NAME in names or not after):
        return
    body = msgspec.json.encode(_TombstoneFile(1, tuple(after[token] for token in sorted(after))))
    storage.write(NAME, msgspec.json.format(body, indent=1))


def _merged(tombstone: Tombstone, before: Tombstone | None) -> Tombstone:
    pages = tuple(sorted({*tombstone.pages, *(before.pages if before else ())}))
    return Tombstone(token=tombstone.token, deleted_ms=tombstone.deleted_ms, pages=pages)
