"""Keeps deleted conversations deleted: the tombstones beside the packs overrule manifests and pixels."""

from collections.abc import Mapping

import apsw
from msgspec import Struct

from memory.archive.packs.storage import Storage
from memory.archive.packs.tombstones import read_tombstones
from memory.archive.repair.diff import Fields, Key
from memory.cold import ColdStore, deletions
from memory.cold.deletions import Deletion
from memory.cold.sql import first


class DeletedConversations(Struct, frozen=True):
    """Tokens of conversations that were deleted and not imported again, and ids of their pages."""

    tokens: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()


def dead(cold: ColdStore, storage: Storage) -> DeletedConversations:
    """Deletions by the tombstones and the index; a conversation that is in the index again is not among them."""
    stones = read_tombstones(storage, storage.names())
    known = cold.read(deletions.deletions)
    here = cold.read(deletions.tokens)
    found = [*stones.values(), *(one for one in known if one.finished or one.token not in here)]
    gone = [one for one in found if one.token not in here]
    return DeletedConversations(
        frozenset(one.token for one in gone), frozenset(page for one in gone for page in one.pages)
    )


def take_over(cold: ColdStore, storage: Storage) -> None:
    """Copies the tombstones into a rebuilt index."""
    stones = read_tombstones(storage, storage.names())
    known = {one.token for one in cold.read(deletions.deletions)}
    lacking = [
        Deletion(token=one.token, conversation=0, deleted_ms=one.deleted_ms, pages=one.pages)
        for one in stones.values()
        if one.token not in known
    ]
    if lacking:
        cold.write(lambda db: deletions.put(db, lacking))


def without(facts: dict[Key, Fields], gone: DeletedConversations) -> dict[Key, Fields]:
    """The facts without those of deleted conversations. A page with text of a remaining entry stays."""
    if not gone.tokens:
        return facts
    whose = {
        fields["seq"]
        for key, fields in facts.items()
        if key[0] == "conversation" and deletions.token_of(fields["source"], fields["id"]) in gone.tokens
    }
    living = [fields for key, fields in facts.items() if key[0] == "entry" and fields["conversation"] not in whose]
    needed = {span[2] for fields in living for span in fields["spans"]}
    dropped = {
        key[1]
        for key, fields in facts.items()
        if key[0] == "page" and key[1] not in needed and (key[1] in gone.pages or _of(facts, fields) in whose)
    }
    empty = {key[1] for key, fields in facts.items() if key[0] == "archive" and fields["conversation"] in whose} - {
        str(fields["archive"]) for key, fields in facts.items() if key[0] == "page" and key[1] not in dropped
    }
    found: dict[Key, Fields] = {}
    for key, fields in facts.items():
        match key[0]:
            case "conversation" if fields["seq"] in whose:
                continue
            case "entry" if fields["conversation"] in whose:
                continue
            case "page" if key[1] in dropped:
                continue
            case "held" | "passage" if fields["page"] in dropped:
                continue
            case "held" if key[1] in empty:
                continue
            case "archive" if key[1] in empty:
                continue
            case "archive" if fields["conversation"] in whose:
                found[key] = fields | {"conversation": 0}
            case _:
                found[key] = fields
    return found


def was_deleted(db: apsw.Connection, conversation: int, sealed: Mapping[Key, Fields]) -> bool:
    """Whether the index has a deletion of this conversation of the manifests: it and its entries are gone, and
    journaled."""
    if first(db, "SELECT 1 FROM conversations WHERE seq = ?", (conversation,)) is not None:
        return False
    mine = [key[1] for key, fields in sealed.items() if key[0] == "entry" and fields["conversation"] == conversation]
    gone = "SELECT 1 FROM changes WHERE op = 'remove' AND entry = ?"
    return bool(mine) and all(first(db, gone, (int(seq),)) is not None for seq in mine)


def _of(facts: dict[Key, Fields], page: Fields) -> int:
    return facts.get(("archive", str(page["archive"])), {}).get("conversation", 0)
