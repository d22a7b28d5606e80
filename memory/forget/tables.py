"""Words in titles, labels and names: every column of text that is no entry's."""

from collections.abc import Iterator
from pathlib import Path

import apsw

from foundation.files import replace
from foundation.privacy import as_stored
from memory.archive.rows.archives import packs_of_archive, relabel, untag
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import packs_of
from memory.archive.write.sidecar import kept_files_of
from memory.cold.conversations import rename, unlabel
from memory.cold.encoding import to_text
from memory.cold.sql import each, fetch, first, run
from memory.cold.sync_words import forget_synced
from memory.forget.own_figures import MIRRORS, holds_said
from memory.forget.work import ForgetWork, StepCounts, drop_requests
from memory.forgotten.fingerprints import FORGOTTEN
from memory.forgotten.tombstones import EntryTombstone, ForgottenConversationName
from memory.records import new_id

_NAMES = """SELECT 'title', seq, title FROM conversations WHERE title <> x''
    UNION ALL SELECT 'id', seq, CAST(id AS BLOB) FROM conversations
    UNION ALL SELECT 'source', seq, CAST(source AS BLOB) FROM conversations WHERE source <> ''
    UNION ALL SELECT 'label', conversation, CAST(label AS BLOB) FROM labels
    UNION ALL SELECT 'archive', seq, CAST(label AS BLOB) FROM archives
    UNION ALL SELECT 'tag', archive, CAST(tag AS BLOB) FROM archive_tags
    UNION ALL SELECT 'path', seq, CAST(source || char(10) || name || char(10) || root AS BLOB) FROM knowledge
    UNION ALL SELECT 'pattern', 0, CAST(pattern AS BLOB) FROM knowledge_patterns"""

_OF_CONVERSATIONS = frozenset({"title", "id", "source", "label"})


def stones_of_names(work: ForgetWork) -> Iterator[EntryTombstone]:
    """Those of ids and sources of conversations that hold the words: an import finds the conversation without them."""
    last = work.job.last_conversation
    rows = work.memory.cold.read(lambda db: fetch(db, "SELECT seq, id, source FROM conversations"))
    named = {
        ForgottenConversationName(name, is_source=bool(number))
        for seq, *names in rows
        if last is None or seq <= last
        for number, name in enumerate(names)
    }
    for name in named:
        if name.name and work.prints.holds(name.name.encode("utf-8", "surrogatepass")):
            yield EntryTombstone(token=name.token, forgotten_ms=work.job.begun_ms)


def forget_names(work: ForgetWork) -> StepCounts:
    """Takes the words out of titles, labels and tags, and ends the epochs whose head holds them."""
    if not (work.prints or work.job.titled):
        return StepCounts()
    cold, storage = work.memory.cold, work.memory.vault.storage
    names = cold.read(lambda db: fetch(db, _NAMES))
    titled = set(work.job.titled)
    held = [
        (kind, seq, to_text(name))
        for kind, seq, name in names
        if work.prints.holds(name) or (kind == "title" and seq in titled and FORGOTTEN not in to_text(name))
    ]
    last = work.job.last_conversation
    held = [each_ for each_ in held if last is None or each_[0] not in _OF_CONVERSATIONS or each_[1] <= last]

    for kind, _, label in held:
        for path in kept_files_of(work.workspace.kept_texts, label) if kind == "archive" else ():
            give_kept_text_another_name(work, path)

    def transaction(db: apsw.Connection) -> tuple[int, int]:
        packs: set[str] = set()
        for kind, seq, name in held:
            packs |= _forget_name(db, work, kind, seq, name)
        _forget_states(db, work)
        _forget_models(db, work)
        synced = forget_synced(db, work.prints.holds) + _forget_devices(db, work)
        seal(db, storage, sorted(packs))
        return len(held), synced

    changed, synced = cold.write(transaction)
    return StepCounts({"names": changed, "synced": synced})


def give_kept_text_another_name(work: ForgetWork, path: Path) -> None:
    """Renames a text beside an archive that stays: its name has the label, without signs that no file name may have."""
    replace(path, path.with_name(f"forgotten-{work.hashed(path.name)[:8]}.md"))


def _forget_name(db: apsw.Connection, work: ForgetWork, kind: str, seq: int, name: str) -> set[str]:
    """Replaces one name; gives the packs whose manifests hold it."""
    match kind:
        case "title":
            rename(db, seq, as_stored(FORGOTTEN if seq in work.job.titled else work.replaced(name)))
            drop_requests(db, [seq])
            pages = "SELECT DISTINCT s.page FROM spans s JOIN entries e ON e.seq = s.entry WHERE e.conversation = ?"
            return packs_of(db, [page for (page,) in each(db, pages, (seq,))])
        case "id" | "source":
            _give_other_name(db, seq, kind, name)
            drop_requests(db, [seq])
            return set()
        case "path":
            _forget_path(db, work, seq)
            return set()
        case "pattern":
            run(db, "DELETE FROM knowledge_patterns WHERE pattern = ?", (name,))
            return set()
        case "label":
            unlabel(db, seq, name)
            return set()
        case "archive":
            relabel(db, seq, as_stored(work.replaced(name)))
        case _:
            untag(db, seq, name)
    return packs_of_archive(db, seq)


def _give_other_name(db: apsw.Connection, seq: int, kind: str, name: str) -> None:
    """Gives the conversation its other id or source. Where another one has that already, as from another device, its
    id becomes a new one."""
    value = ForgottenConversationName(name, is_source=kind == "source").other
    ((source, id_),) = fetch(db, "SELECT source, id FROM conversations WHERE seq = ?", (seq,))
    wanted = (value, id_) if kind == "source" else (source, value)
    if first(db, "SELECT 1 FROM conversations WHERE source = ? AND id = ?", wanted) is not None:
        wanted = (wanted[0], new_id("c"))
    run(db, "UPDATE conversations SET source = ?, id = ? WHERE seq = ?", (*wanted, seq))


def _forget_path(db: apsw.Connection, work: ForgetWork, seq: int) -> None:
    """Takes the words out of where a file of knowledge comes from; it stays, and follows its file no more."""
    ((source, name, root),) = fetch(db, "SELECT source, name, root FROM knowledge WHERE seq = ?", (seq,))
    new = work.replaced(source)
    if new != source:
        new = f"{new} ({work.hashed(source)[:8]})"  # two of one folder would else be one
    sql = "UPDATE knowledge SET source = ?, name = ?, root = ? WHERE seq = ?"
    run(db, sql, (new, work.replaced(name), work.replaced(root), seq))


def _forget_models(db: apsw.Connection, work: ForgetWork) -> None:
    """Takes the words out of the names of models, which people give."""
    for table in ("usage", "model_requests"):
        for (model,) in fetch(db, f"SELECT DISTINCT model FROM {table}"):
            if work.prints.holds(model.encode()):
                run(db, f"UPDATE {table} SET model = ? WHERE model = ?", (work.replaced(model), model))


def _forget_devices(db: apsw.Connection, work: ForgetWork) -> int:
    """Takes the words out of the names of devices; gives their number. Each file at a location begins with the name of
    this one, and is written anew."""
    count = 0
    for table in ("sync_device", "sync_devices"):
        for id_, name in fetch(db, f"SELECT id, name FROM {table}"):
            if work.prints.holds(name.encode("utf-8", "surrogateescape")):
                count += run(db, f"UPDATE {table} SET name = ? WHERE id = ?", (work.replaced(name), id_))
                if table == "sync_device":
                    run(db, "UPDATE sync_written SET stale = 1")
    return count


def _forget_states(db: apsw.Connection, work: ForgetWork) -> None:
    """Drops the heads and digests of requests that hold the words."""
    for table in ("epochs", "requests"):
        for conversation, state in fetch(db, f"SELECT conversation, state FROM {table}"):
            if work.prints.holds(state):
                drop_requests(db, [conversation])
    for conversation, head in fetch(db, "SELECT conversation, head FROM mirrors"):
        if holds_said(work.prints, head, MIRRORS):
            run(db, "UPDATE mirrors SET head = x'' WHERE conversation = ?", (conversation,))
