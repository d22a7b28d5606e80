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


def deleted_conversations(cold: ColdStore, storage: Storage) -> DeletedConversations:
    """Deletions by the tombstones and the index; a conversation that is in the index again is not among them."""
    tombstones = read_tombstones(storage, storage.names())
    known = cold.read(deletions.deletions)
    here = cold.read(deletions.tokens)
    deletions_found = [
        *tombstones.values(),
        *(deletion for deletion in known if deletion.finished or deletion.token not in here),
    ]
    deleted = [deletion for deletion in deletions_found if deletion.token not in here]
    return DeletedConversations(
        frozenset(deletion.token for deletion in deleted),
        frozenset(page for deletion in deleted for page in deletion.pages),
    )


def copy_tombstones(cold: ColdStore, storage: Storage) -> None:
    """Copies the tombstones into a rebuilt index."""
    tombstones = read_tombstones(storage, storage.names())
    known = {deletion.token for deletion in cold.read(deletions.deletions)}
    missing = [
        Deletion(token=deletion.token, conversation=0, deleted_ms=deletion.deleted_ms, pages=deletion.pages)
        for deletion in tombstones.values()
        if deletion.token not in known
    ]
    if missing:
        cold.write(lambda db: deletions.put(db, missing))


def without_deleted(facts: dict[Key, Fields], deleted: DeletedConversations) -> dict[Key, Fields]:
    """The facts without those of deleted conversations. A page with text of a remaining entry stays."""
    if not deleted.tokens:
        return facts
    deleted_seqs = {
        fields["seq"]
        for key, fields in facts.items()
        if key[0] == "conversation" and deletions.token_of(fields["source"], fields["id"]) in deleted.tokens
    }
    remaining = [
        fields for key, fields in facts.items() if key[0] == "entry" and fields["conversation"] not in deleted_seqs
    ]
    needed = {span[2] for fields in remaining for span in fields["spans"]}
    dropped = {
        key[1]
        for key, fields in facts.items()
        if key[0] == "page" and key[1] not in needed and (key[1] in deleted.pages or _of(facts, fields) in deleted_seqs)
    }
    empty = {
        key[1] for key, fields in facts.items() if key[0] == "archive" and fields["conversation"] in deleted_seqs
    } - {str(fields["archive"]) for key, fields in facts.items() if key[0] == "page" and key[1] not in dropped}
    kept: dict[Key, Fields] = {}
    for key, fields in facts.items():
        match key[0]:
            case "conversation" if fields["seq"] in deleted_seqs:
                continue
            case "entry" if fields["conversation"] in deleted_seqs:
                continue
            case "page" if key[1] in dropped:
                continue
            case "held" | "passage" if fields["page"] in dropped:
                continue
            case "held" if key[1] in empty:
                continue
            case "archive" if key[1] in empty:
                continue
            case "archive" if fields["conversation"] in deleted_seqs:
                kept[key] = fields | {"conversation": 0}
            case _:
                kept[key] = fields
    return kept


def is_deleted_conversation(db: apsw.Connection, conversation: int, sealed: Mapping[Key, Fields]) -> bool:
    """Whether the index has a deletion of this conversation of the manifests: it and its entries are deleted, and
    journaled."""
    if first(db, "SELECT 1 FROM conversations WHERE seq = ?", (conversation,)) is not None:
        return False
    mine = [key[1] for key, fields in sealed.items() if key[0] == "entry" and fields["conversation"] == conversation]
    deleted = "SELECT 1 FROM changes WHERE op = 'remove' AND entry = ?"
    return bool(mine) and all(first(db, deleted, (int(seq),)) is not None for seq in mine)


def _of(facts: dict[Key, Fields], page: Fields) -> int:
    return facts.get(("archive", str(page["archive"])), {}).get("conversation", 0)
