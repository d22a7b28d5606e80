"""An archive that 0.1.0 made: its index comes forward, its pages are read, packed anew and deleted like others."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import apsw

from foundation.paths import Workspace
from foundation.trust import Trust
from memory.archive.packs.pack import COLD, Pack
from memory.archive.packs.storage import LocalStorage
from memory.archive.rows import pages
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.sql import run
from tests.fakes import FakeClock
from tests.memory.cold.drafts import fake_analyse
from tests.memory.cold.released import load

RELEASED = Path(__file__).parents[1] / "pages" / "data" / "released-0.1.0"
TEXTS: dict[str, str] = json.loads((RELEASED / "texts.json").read_text("ascii"))
PACK = "0123456789abcdef0123.pages"
SQL = {
    "packs": "INSERT INTO packs VALUES (?, ?, ?, 1)",
    "archives": "INSERT INTO archives (label, created_ms, origin) VALUES ('old talk', 1, 'conversation')",
    "pages": "INSERT INTO pages VALUES (?, 1, ?, ?, 1024, 1024, ?, ?, ?, ?, 10, 256)",
    "entries": """INSERT INTO entries (conversation, id, kind, role, time_ms, chars, sha256)
                  VALUES (1, ?, 'message', 'user', 1, ?, ?)""",
    "spans": "INSERT INTO spans VALUES (?, 0, ?, ?, 0)",
    "terms": "INSERT INTO terms VALUES (?, x'', 0)",
}


def old_workspace(workspace: Workspace) -> None:
    """Schema 1 as it was released, with an entry on each page of a pack of that version."""
    load(1, workspace.database)
    workspace.packs.mkdir()
    body = (RELEASED / "three.pages").read_bytes()
    (workspace.packs / PACK).write_bytes(body)
    db = apsw.Connection(str(workspace.database))
    run(db, SQL["packs"], (PACK, len(body), hashlib.sha256(body).digest()))
    run(db, SQL["archives"])
    for position, leaf in enumerate(Pack(LocalStorage(workspace.packs), PACK).pages):
        sha256 = bytes.fromhex(leaf.sha256)
        run(db, SQL["pages"], (leaf.id, leaf.number, leaf.mode, leaf.chars, sha256, PACK, position))
        run(db, SQL["entries"], (f"e_old{position}", leaf.chars, sha256))
        seq = db.last_insert_rowid()
        run(db, SQL["spans"], (seq, leaf.chars, leaf.id))
        run(db, SQL["terms"], (seq,))
    db.close()


def test_what_the_first_release_archived_lives_on(workspace: Workspace, clock: FakeClock) -> None:
    old_workspace(workspace)
    cold = ColdStore.open(workspace.database, analyse=fake_analyse, clock=clock)
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock)
    (archive,) = vault.archives()
    assert (archive.label, archive.pages, archive.pinned, archive.tags) == ("old talk", 3, False, ())
    assert archive.conversation == cold.find("e_old0").conversation_seq

    def read() -> list[str]:
        found = [vault.entry_text(cold.find(f"e_old{n}")) for n in range(3)]
        assert {passage.trust for passage in found} == {Trust.EXACT}
        return [passage.text for passage in found]

    assert read() == list(TEXTS.values())
    vault.repacking.run(min_age=timedelta(0), least=1)
    assert [row.kind for row in cold.read(pages.pack_rows)] == [COLD]
    assert read() == list(TEXTS.values())
    vault.release(cold.delete_conversation(archive.conversation or 0))
    assert vault.pages() == []
    assert vault.archives() == []
    assert list(workspace.packs.glob("*.pages")) == []
    cold.close()
