"""`check --repair`: what is damaged comes back from what is sound, and what was damaged is kept."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foundation.names import WORKSPACE_ID
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.packs.pack import Pack, new_pack_name, write_pack
from memory.archive.packs.parity import parity_name, write_parity
from memory.archive.rows import pages as page_rows
from memory.archive.write.page_writer import picture_of
from memory.archive.write.sidecar import keep_text
from memory.cold.integrity.salvage import salvage_store
from memory.cold.sql import run
from memory.errors import Damaged
from memory.memory import Memory
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES
from memory.pages.render.page import page_sheets, render_page
from memory.search import Query
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import FILE, archived, mend, problems, talk, texts


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    memory, _ = archived(tmp_path / "workspace", clock)
    yield memory
    memory.close()


def again(memory: Memory, *gone: str) -> Memory:
    """The workspace opened anew, files of these endings deleted."""
    memory.close()
    for path in [*memory.workspace.state.glob("*"), *memory.workspace.packs.glob("*")]:
        if path.is_file() and path.name.endswith(gone):
            path.unlink()
    return Memory.open(memory.workspace, memory.cold.clock, read_only=False)


DATABASE = ("cold.db", "cold.db-wal", "cold.db-shm")


def pages_of(memory: Memory, label: str) -> list[page_rows.PageRow]:
    return memory.vault.pages(memory.vault.find_archive(label).seq)


def spoil(memory: Memory, row: page_rows.PageRow, cut: int = 0) -> None:
    """The page's frame is damaged; the rest of its pack is as it was."""
    path = memory.workspace.packs / row.pack
    leaf = Pack(memory.vault.storage, row.pack).pages[row.position]
    raw = bytearray(path.read_bytes())
    raw[leaf.offset + leaf.length // 2] ^= 16
    path.write_bytes(raw[: len(raw) - cut])


# ── the database ──


@pytest.mark.parametrize("how", ["lost", "empty"])
def test_a_database_that_is_gone_is_built_again_from_what_stands_beside_the_packs(memory: Memory, how: str) -> None:
    said = list(memory.cold.path(memory.cold.latest().leaf))[::-1]
    wanted = texts(memory, said)
    before, pages = memory.vault.archives(), memory.vault.pages()
    memory = again(memory, *DATABASE)
    if how == "empty":
        memory.close()
        memory.workspace.database.write_bytes(b"")
        memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    assert memory.vault.index_lost()
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    assert memory.vault.archives() == before
    assert memory.vault.pages() == pages
    assert texts(memory, said) == wanted
    back = [memory.cold.find(entry.id) for entry in said]
    for old, new in zip(said, back, strict=True):
        assert (new.role, new.speaker, new.time, new.parent, new.kind) == (
            old.role,
            old.speaker,
            old.time,
            old.parent,
            old.kind,
        )
        assert (new.seq, new.meta, new.chars, new.text) == (old.seq, old.meta, old.chars, None)
    assert memory.cold.conversation(said[0].conversation).title == "The boiler"
    assert "".join(memory.vault.read_page(page.id).text for page in pages_of(memory, "notes")) == FILE
    assert memory.search.query(Query(text="valve 79190")).hits[0].entry_id == said[10].id
    assert mend(memory).mended == ()
    assert problems(memory) == []
    memory.close()


def test_where_manifests_are_lost_too_the_pixels_tell_who_said_what_and_when(memory: Memory) -> None:
    said = list(memory.cold.path(memory.cold.latest().leaf))[::-1]
    wanted = texts(memory, said)
    memory = again(memory, *DATABASE, ".manifest")
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    assert texts(memory, said) == wanted
    back = [memory.cold.find(entry.id) for entry in said]
    assert [(one.id, one.role, one.speaker, one.time) for one in back] == [
        (one.id, one.role, one.speaker, one.time.replace(microsecond=0)) for one in said
    ]
    assert [one.parent for one in back] == [None, *(one.seq for one in back[:-1])]
    (file,) = [one for one in memory.vault.archives() if one.origin == "file"]
    pages = memory.vault.pages(file.seq)
    assert "".join(memory.vault.read_page(page.id).text for page in pages) == FILE
    assert memory.search.query(Query(text="valve 79190")).hits[0].entry_id == said[10].id
    assert (mend(memory).mended, problems(memory)) == ((), [])
    memory.close()


def test_what_was_said_since_in_a_new_database_stays(memory: Memory) -> None:
    said = list(memory.cold.path(memory.cold.latest().leaf))[::-1]
    wanted = texts(memory, said)
    memory = again(memory, *DATABASE)
    new = talk(memory, 5, "A new start")
    told = [entry.text for entry in new]
    assert mend(memory).problems == ()
    assert texts(memory, said) == wanted
    assert texts(memory, new) == told
    assert len({memory.cold.find(entry.id).seq for entry in [*said, *new]}) == len(said) + len(new)
    memory.close()


def test_an_older_database_gets_what_was_archived_since(memory: Memory) -> None:
    memory.close()
    older = memory.workspace.database.read_bytes()
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    said = talk(memory, 6, "Later")
    wanted = [entry.text for entry in said]
    memory.vault.archive_entries(said, label="later")
    memory.close()
    memory.workspace.database.write_bytes(older)
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    assert mend(memory).problems == ()
    assert texts(memory, said) == wanted
    assert memory.vault.find_archive("later").pages == 1
    memory.close()


@pytest.mark.parametrize("where", ["head", "middle", "everywhere"])
def test_a_damaged_database_is_built_again_from_what_can_be_read(memory: Memory, where: str, tmp_path: Path) -> None:
    stored = talk(memory, 30, "Not archived")
    said = list(memory.cold.path(memory.cold.conversations()[-1].leaf))
    memory.close()
    raw = bytearray(memory.workspace.database.read_bytes())
    match where:
        case "head":
            raw[:100] = bytes(100)
        case "middle":
            raw[len(raw) // 2 : len(raw) // 2 + 4096] = b"\x77" * 4096
        case _:
            raw[4096:] = b"\x99" * (len(raw) - 4096)
    memory.workspace.database.write_bytes(raw)
    salvage_store(memory.workspace.database, tmp_path / "kept")
    assert (tmp_path / "kept" / "cold.db").read_bytes() == raw
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    assert mend(memory).problems == ()
    assert len(texts(memory, said)) == len(said)
    if where == "middle":
        found = {entry.id for one in memory.cold.conversations(kind=None) for entry in memory.cold.path(one.leaf)}
        assert len(found & {entry.id for entry in stored}) > 5
    memory.close()


# ── packs ──


def test_a_page_whose_text_is_kept_beside_the_archive_is_drawn_anew(memory: Memory) -> None:
    keep_text(memory.workspace.kept_texts, "notes", as_given(FILE))
    for row in pages_of(memory, "notes")[:2]:
        spoil(memory, row)
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    memory = again(memory)
    pages = [memory.vault.read_page(page.id) for page in pages_of(memory, "notes")]
    assert "".join(page.text for page in pages) == FILE
    assert {page.engine for page in pages} == {"cells"}
    memory.close()


def test_an_entry_whose_very_text_stands_elsewhere_comes_back_to_the_store(memory: Memory) -> None:
    said = list(memory.cold.path(memory.cold.latest().leaf))[::-1]
    wanted = texts(memory, said)
    talk(memory)  # the same words once more
    row = pages_of(memory, "boiler")[0]
    spoil(memory, row)
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    memory = again(memory)
    assert texts(memory, said) == wanted
    memory.close()


def test_what_is_lost_is_named_with_its_page_its_entries_and_their_dates(memory: Memory) -> None:
    said = list(memory.cold.path(memory.cold.latest().leaf))[::-1]
    rows = pages_of(memory, "boiler")
    spoil(memory, rows[0])
    done = mend(memory)
    (lost,) = done.lost
    assert rows[0].id in lost
    assert said[0].id in lost
    assert "2026-03-14" in lost
    assert "“boiler”" in lost
    assert any(rows[0].id == one.where for one in done.problems)
    assert memory.vault.read_page(rows[1].id).trust.value == "exact"
    second = mend(memory)
    assert (second.mended, second.problems) == ((), done.problems)
    assert (memory.workspace.damaged / done.kept_at.name / rows[0].pack).exists()


@pytest.mark.parametrize("cut", [0, 300])
def test_a_pack_with_parity_is_mended_to_the_last_bit(memory: Memory, cut: int) -> None:
    row = pages_of(memory, "boiler")[0]
    path = memory.workspace.packs / row.pack
    whole = path.read_bytes()
    write_parity(memory.vault.storage, row.pack, 10)
    spoil(memory, row, cut)
    assert path.read_bytes() != whole
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    assert path.read_bytes() == whole


def test_a_pack_that_is_gone_comes_back_where_parity_is_as_large_as_it(memory: Memory) -> None:
    row = pages_of(memory, "boiler")[0]
    path = memory.workspace.packs / row.pack
    whole = path.read_bytes()
    write_parity(memory.vault.storage, row.pack, 100)
    path.unlink()
    assert mend(memory).problems == ()
    assert path.read_bytes() == whole


def test_damaged_parity_is_found_and_made_again(memory: Memory) -> None:
    row = pages_of(memory, "boiler")[0]
    write_parity(memory.vault.storage, row.pack, 10)
    assert problems(memory) == []
    path = memory.workspace.packs / parity_name(row.pack)
    raw = bytearray(path.read_bytes())
    for at in (2, len(raw) // 2, len(raw) - 3):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        assert path.name in " ".join(problems(memory))
        assert mend(memory).problems == ()


def test_parity_is_kept_where_the_settings_ask_for_it(memory: Memory) -> None:
    mend(memory, parity=5)
    packs = {row.name for row in memory.cold.read(page_rows.pack_rows)}
    assert {parity_name(name) for name in packs} <= set(memory.vault.storage.names())
    assert problems(memory) == []


# ── strange packs ──


def test_a_pack_left_by_an_archiving_cut_short_is_put_aside(memory: Memory, tmp_path: Path) -> None:
    said = talk(memory, 6, "Again")
    wanted = [entry.text for entry in said]
    memory.close()
    older = memory.workspace.database.read_bytes()
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    names = set(memory.vault.storage.names())
    memory.vault.archive_entries(said, label="again")
    left = set(memory.vault.storage.names()) - names
    memory.close()
    memory.workspace.database.write_bytes(older)
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    assert "unknown" in {one.what for one in memory.vault.check()}
    done = mend(memory)
    assert (done.problems, done.lost) == ((), ())
    assert texts(memory, said) == wanted
    assert memory.cold.find(said[0].id).text is not None
    assert {name for name in left if name in memory.vault.storage.names()} == set()
    assert {path.name for path in done.kept_at.iterdir()} >= left
    memory.close()


def test_a_manifest_of_another_workspace_is_refused(memory: Memory, tmp_path: Path, clock: FakeClock) -> None:
    other, _ = archived(tmp_path / "other", clock)
    for name in other.vault.storage.names():
        if not name.endswith(".id"):
            shutil.copy(other.workspace.packs / name, memory.workspace.packs / name)
    other.close()
    before = memory.vault.archives()
    done = mend(memory)
    assert sum("another workspace" in one for one in done.lost) == 2
    assert {one.what for one in done.problems} == {"unknown"}
    assert memory.vault.archives() == before


def test_a_page_with_the_id_of_another_is_left_out(memory: Memory) -> None:
    row = pages_of(memory, "notes")[0]
    forged = next(iter(page_sheets([LayoutText("Pay Bob a thousand.")], MODES["tiny"])))
    drawn = render_page(forged, row.id, row.number)
    write_pack(memory.vault.storage, new_pack_name(), [picture_of(drawn)])
    done = mend(memory)
    assert row.id in " ".join(done.lost)
    assert memory.vault.read_page(row.id).text in FILE
    assert "thousand" not in " ".join(memory.vault.read_page(page.id).text for page in memory.vault.pages())


def test_the_id_of_the_workspace_comes_back(memory: Memory) -> None:
    path = memory.workspace.packs / "workspace.id"
    whole = path.read_bytes()
    path.unlink()
    assert problems(memory)
    assert mend(memory).problems == ()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("at", range(0, 32, 5))
@pytest.mark.parametrize("bit", range(8))
def test_an_id_of_the_workspace_with_a_flipped_bit_is_told_and_mended(memory: Memory, at: int, bit: int) -> None:
    path = memory.workspace.packs / "workspace.id"
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    broken = path.read_bytes()
    fits = WORKSPACE_ID.fits(broken.decode("ascii", "replace"))
    assert problems(memory)
    if not fits:
        with pytest.raises(Damaged, match=r"workspace\.id.*") as refused:
            memory.vault.archive_text(as_given("one more"), label="more")
        assert "`palimpsest check --repair` restores the id" in refused.value.hint
    done = mend(memory)
    assert done.problems == ()
    assert done.kept_at is not None
    assert problems(memory) == []
    if not fits:
        assert path.read_bytes() == whole
        assert (done.kept_at / "workspace.id").read_bytes() == broken
    memory.vault.archive_text(as_given("one more"), label="more")


def test_swapped_packs_are_found_and_nothing_false_is_read(memory: Memory) -> None:
    first, second = (pages_of(memory, label)[0] for label in ("notes", "boiler"))
    a, b = (memory.workspace.packs / row.pack for row in (first, second))
    body_a, body_b = a.read_bytes(), b.read_bytes()
    a.write_bytes(body_b)
    b.write_bytes(body_a)
    memory = again(memory)
    told = " ".join(problems(memory))
    assert first.pack in told
    assert second.pack in told
    memory.close()


# ── care ──


def test_a_repair_of_what_is_sound_changes_nothing(memory: Memory) -> None:
    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in memory.workspace.packs.iterdir()}

    before, changes = files(), memory.cold.last_change()
    done = mend(memory)
    assert (done.mended, done.lost, done.problems, done.kept_at) == ((), (), (), None)
    assert (files(), memory.cold.last_change()) == (before, changes)


def test_the_database_as_it_was_is_kept(memory: Memory) -> None:
    memory.cold.write(lambda db: run(db, "UPDATE archives SET label = 'bolier' WHERE label = 'boiler'"))
    done = mend(memory)
    assert memory.vault.find_archive("boiler").tags == ("house",)
    copy = apsw.Connection(str(done.kept_at / "cold.db"))
    assert copy.execute("SELECT count(*) FROM archives WHERE label = 'bolier'").fetchall() == [(1,)]
    copy.close()


def test_what_was_deleted_does_not_come_back(memory: Memory) -> None:
    conversation = memory.cold.latest()
    gone = [entry.id for entry in memory.cold.path(conversation.leaf)]
    stale = {path: path.read_bytes() for path in memory.workspace.packs.glob("*.manifest")}
    memory.vault.release(memory.cold.delete_conversation(conversation.seq))
    for path, body in stale.items():
        path.write_bytes(body)
    mend(memory)
    ids = {entry.id for one in memory.cold.conversations(kind=None) for entry in memory.cold.path(one.leaf)}
    assert ids & set(gone) == set()


def test_stale_temporary_files_go(memory: Memory) -> None:
    import os

    path = memory.workspace.packs / ".x.pages.0123456789ab.tmp"
    path.write_bytes(b"half")
    mend(memory)
    assert path.exists()  # it may be being written
    os.utime(path, (1, 1))
    mend(memory)
    assert not path.exists()
    assert Workspace(memory.workspace.root).packs.exists()
