"""What was forgotten stays forgotten when old packs and mirrors come back, and a repair takes them in."""

import shutil
from pathlib import Path

import apsw
import pytest

from foundation.clock import SystemClock, to_ms
from foundation.paths import Workspace
from foundation.privacy import as_stored
from memory.archive.repair.forgotten_pages import ForgottenPages
from memory.archive.repair.salvage import salvaged_pages
from memory.cold.entries import replace_text
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import fetch
from memory.forgotten.earlier import ForgottenEarlier
from memory.forgotten.tombstones import EntryTombstone, ForgottenConversationName
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(120)

SECRET = "The zqtapir sleeps in the blue shed behind the mill."
STAYS = "The boiler is serviced in May by the same firm."


@pytest.fixture
def old(run: Run, root: Path, tmp_path: Path) -> Path:
    """A folder with the packs and mirrors of before the forgetting."""
    run("-p", SECRET)
    run("-p", STAYS)
    assert run("archive", "--growing", "--older-than", "0d").status == 0
    kept = tmp_path / "old"
    shutil.copytree(root / ".palimpsest" / "packs", kept / "packs")
    shutil.copytree(root / "conversations", kept / "conversations")
    assert run("forget", "zqtapir", "--yes").status == 0
    assert places_of(root, ["zqtapir"]) == {}
    return kept


def bring_back(old: Path, root: Path, what: str) -> None:
    to = root / ".palimpsest" / "packs" if what == "packs" else root / "conversations"
    for file in (old / what).iterdir():
        if what == "conversations" or not (to / file.name).exists():
            shutil.copy(file, to / file.name)


def without_database(root: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        (root / ".palimpsest" / f"cold.db{ending}").unlink(missing_ok=True)


def holding(folder: Path) -> list[Path]:
    """Packs anywhere below the folder whose pages hold the words."""
    packs = folder.rglob("*.pages")
    return [pack for pack in packs if any("zqtapir" in one.page.text for one in salvaged_pages(pack.read_bytes()))]


def texts_of_packs(root: Path) -> str:
    memory = Memory.open(Workspace(root), SystemClock())
    try:
        return "\n".join(memory.vault.read_page(page.id).text for page in memory.vault.pages())
    finally:
        memory.close()


@pytest.mark.parametrize("has_database", [True, False])
@pytest.mark.parametrize("what", ["packs", "conversations"])
def test_a_repair_brings_nothing_back(run: Run, root: Path, old: Path, what: str, *, has_database: bool) -> None:
    bring_back(old, root, what)
    if not has_database:
        without_database(root)
    repaired = run("check", "--repair")
    assert repaired.status == 0, repaired.out
    assert places_of(root, ["zqtapir"]) == {}
    assert "zqtapir" not in texts_of_packs(root)
    assert run("search", "zqtapir").out == ""
    assert run("forget", "zqtapir", "--dry-run").status == 1
    assert STAYS in run("export", "--to", "jsonl").out
    assert run("check").status == 0
    if what == "packs":
        assert holding(old)
        assert not holding(root)


def test_a_repair_from_pixels_alone_brings_nothing_back(run: Run, root: Path, old: Path) -> None:
    bring_back(old, root, "packs")
    without_database(root)
    for file in (*(root / ".palimpsest" / "packs").glob("*.manifest"), *(root / "conversations").iterdir()):
        file.unlink()
    run("check", "--repair")
    assert places_of(root, ["zqtapir"]) == {}
    assert "zqtapir" not in texts_of_packs(root)


def test_an_unlisted_page_and_old_titles_are_known_as_forgotten(root: Path, old: Path) -> None:
    """The repair alone: what it takes in all the same, the forgetting after it finds."""
    memory = Memory.open(Workspace(root), SystemClock())
    try:
        forgotten = ForgottenPages(memory.cold, ForgottenEarlier.beside(memory.workspace.database), {})
        saved = [page for pack in old.rglob("*.pages") for page in salvaged_pages(pack.read_bytes())]
        held = {forgotten.holds(page) for page in saved if "zqtapir" in page.page.text}
        assert held == {True}
        archive = {"created_ms": 0, "label": "A zqtapir", "tags": ["the zqtapir", "boiler"]}
        assert forgotten.names(("archive", "1"), archive) == {
            "created_ms": 0,
            "label": "A [forgotten]",
            "tags": ("the [forgotten]", "boiler"),
        }
        name = {"source": "s", "id": "zqtapir"}
        later = {"created_ms": to_ms(memory.cold.clock.now()) + 60_000, "title": "A zqtapir"} | name
        assert forgotten.names(("conversation", "1"), later) == later
        earlier = later | {"created_ms": 0}
        assert forgotten.names(("conversation", "1"), earlier)["title"] == "A [forgotten]"
        given_up = ForgottenConversationName("zqtapir")
        memory.conversations.tombstones.add([EntryTombstone(token=given_up.token, forgotten_ms=1)])
        forgotten = ForgottenPages(memory.cold, ForgottenEarlier.beside(memory.workspace.database), {})
        assert forgotten.names(("conversation", "1"), later) == later | {"id": given_up.other}
    finally:
        memory.close()


def test_a_check_names_what_an_earlier_repair_brought_back(run: Run, root: Path, old: Path) -> None:
    memory = Memory.open(Workspace(root), SystemClock())
    try:
        sql = "SELECT seq FROM entries WHERE CAST(body AS TEXT) = '[forgotten]' LIMIT 1"
        ((seq,),) = memory.cold.read(lambda db: fetch(db, sql))
        entry = memory.conversations.entry(seq)

        def bring_back(db: apsw.Connection) -> None:
            replace_text(db, seq, as_stored(SECRET))
            seal_rows(db, [seq])

        memory.cold.write(bring_back)
    finally:
        memory.close()
    checked = run("check")
    assert checked.status == 1
    assert f"forgetting {entry.id}" in checked.out
    repaired = run("check", "--repair")
    assert places_of(root, ["zqtapir"]) == {}, repaired.out


def test_what_is_said_again_after_the_forgetting_stays(run: Run, root: Path, old: Path) -> None:
    run("-p", "Again: the zqtapir now sleeps elsewhere.")
    bring_back(old, root, "packs")
    assert run("check", "--repair").status == 0
    assert "Again: the zqtapir now sleeps elsewhere." in run("export", "--to", "jsonl").out
    assert "blue shed" not in run("export", "--to", "jsonl").out


def test_a_forgotten_entry_that_is_archived_later_is_not_here_again(run: Run, root: Path) -> None:
    run("-p", SECRET)
    run("-p", STAYS)
    assert run("forget", "zqtapir", "--yes").status == 0
    assert run("archive", "--growing", "--older-than", "0d").status == 0
    assert "[forgotten]" in texts_of_packs(root)
    checked = run("check")
    assert (checked.status, "forgetting" in checked.out) == (0, False)
    assert "forgotten again" not in run("check", "--repair").out
    assert "[forgotten]" in texts_of_packs(root)
