"""Pages come to rest: packed tighter, found by everyone, and the same to the last pixel."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive.lifecycle import move, release
from memory.archive.packs.pack import COLD, WARM, Pack, write_cold_pack
from memory.archive.packs.storage import PAGES_A_FRAME, LocalStorage
from memory.archive.rows import facts, pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.sql import run
from memory.errors import Damaged, StoreBusy
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

NOW = timedelta(0)


def lines(name: str, count: int) -> str:
    return "".join(
        f"{name} {n}: the ferry leaves at {n % 24}:{n % 60:02}, 渡轮 {n * 7919 % 9973}\n" for n in range(count)
    )


@pytest.fixture
def filled(vault: Vault) -> Vault:
    """Twelve pages in three packs."""
    for name in ("harbour", "island", "mainland"):
        vault.archive_text(as_given(lines(name, 150)), label=name, mode="tiny")
    return vault


def texts(vault: Vault) -> list[str]:
    read = [vault.read_page(row.id) for row in vault.pages()]
    assert {page.trust for page in read} == {Trust.EXACT}
    return [page.text for page in read]


def kinds(cold: ColdStore) -> list[str]:
    return [row.kind for row in cold.read(page_rows.pack_rows)]


def test_pages_at_rest_are_one_cold_pack_and_read_as_before(
    filled: Vault, cold: ColdStore, workspace: Workspace, clock: FakeClock
) -> None:
    before, pngs = texts(filled), {row.id: filled.png(row.id).read_bytes() for row in filled.pages()}
    old = set(filled.storage.names())
    did = filled.repacking.run(min_age=NOW, least=1)
    assert (did.pages, did.packs, did.left) == (len(before), 1, 0)
    assert did.bytes_after < did.bytes_before
    assert kinds(cold) == [COLD]
    fresh = Vault(workspace.packs, workspace.page_cache, cold, clock)
    assert texts(fresh) == before
    assert {row.id: fresh.png(row.id).read_bytes() for row in fresh.pages()} == pngs
    assert not {name for name in old if name.endswith(".pages")} & set(fresh.storage.names())
    assert fresh.check() == []
    assert filled.repacking.run(min_age=NOW, least=1).pages == 0  # it would only come again


def test_a_whole_cold_pack_of_an_older_version_is_repacked_once(vault: Vault, cold: ColdStore) -> None:
    vault.archive_text(as_given(lines("harbour", 2400)), label="harbour", mode="tiny")
    count = len(vault.pages())
    assert count >= PAGES_A_FRAME
    vault.repacking.run(min_age=NOW, least=1)
    assert vault.repacking.due(NOW) == vault.repacking.run(min_age=NOW, least=1).pages == 0
    cold.write(lambda db: run(db, "UPDATE packs SET kind = 'cold'"))
    assert vault.repacking.due(NOW) == count
    assert vault.repacking.run(min_age=NOW, least=1).pages == count
    assert set(kinds(cold)) == {COLD}


def test_neighbours_in_a_cold_pack_come_from_one_frame(filled: Vault, cold: ColdStore) -> None:
    filled.repacking.run(min_age=NOW, least=1)
    (row,) = cold.read(page_rows.pack_rows)
    pack = Pack(filled.storage, row.name)
    assert len({pack.frame_of(n) for n in range(len(pack.pages))}) == 1


def test_what_was_archived_today_stays_warm(filled: Vault, cold: ColdStore, clock: FakeClock) -> None:
    assert (filled.repacking.due(), filled.repacking.run(least=1).pages) == (0, 0)
    clock.advance(24 * 3600)
    assert filled.repacking.due() == len(filled.pages())
    assert filled.repacking.run().pages == 0  # they fill no frame
    assert filled.repacking.run(least=1).pages == len(filled.pages())


def test_a_reader_with_a_stale_row_gets_its_page(
    filled: Vault, cold: ColdStore, workspace: Workspace, clock: FakeClock
) -> None:
    """Another process read where a page stands, and then the page moved and its pack went."""
    other = Vault(workspace.packs, workspace.page_cache, cold, clock)
    row = filled.pages()[0]
    filled.repacking.run(min_age=NOW, least=1)
    assert not (workspace.packs / row.pack).exists()
    assert other.exact_text(row) == filled.read_page(row.id).text


def test_a_run_that_is_stopped_leaves_all_as_it_was(filled: Vault, cold: ColdStore) -> None:
    before, files = texts(filled), set(filled.storage.names())

    class Enough(Exception): ...

    def stop(packed: int) -> None:
        if packed == 5:
            raise Enough

    with pytest.raises(Enough):
        filled.repacking.run(min_age=NOW, least=1, on_page=stop)
    assert set(filled.storage.names()) == files
    assert cold.read(pack_gc.owners_by_name) == {}
    assert texts(filled) == before
    assert filled.check() == []


def test_a_pack_that_does_not_come_back_takes_no_page(
    filled: Vault, cold: ColdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk gives back another page than was written."""

    def forgetful(storage: LocalStorage, name: str, pages: list, on_page: Callable | None = None):
        return write_cold_pack(storage, name, [*pages[1:], pages[0]], on_page)

    monkeypatch.setattr(move, "write_cold_pack", forgetful)
    with pytest.raises(Damaged, match="but reads back differently"):
        filled.repacking.run(min_age=NOW, least=1)
    assert kinds(cold) == [WARM] * 3
    assert filled.check() == []


def test_a_damaged_page_stays_in_its_pack(filled: Vault, cold: ColdStore, workspace: Workspace) -> None:
    path = workspace.packs / filled.pages()[0].pack
    body = bytearray(path.read_bytes())
    body[200] ^= 8
    path.write_bytes(body)
    with pytest.raises(Damaged):
        filled.repacking.run(min_age=NOW, least=1)
    assert path.read_bytes() == body
    assert kinds(cold) == [WARM] * 3


def test_one_process_packs_at_a_time(filled: Vault, cold: ColdStore) -> None:
    told: list[str] = []

    def again(_: int) -> None:
        with pytest.raises(StoreBusy):
            filled.repacking.run(min_age=NOW, least=1)
        told.append("refused")

    filled.repacking.run(min_age=NOW, least=1, on_page=again)
    assert told


def test_a_pack_held_open_goes_later(
    filled: Vault, cold: ColdStore, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where an open file cannot be deleted."""
    held = filled.pages()[0].pack
    delete = LocalStorage.delete

    def refuse(folder: LocalStorage, name: str) -> None:
        if name == held:
            raise PermissionError(13, "in use", name)
        delete(folder, name)

    monkeypatch.setattr(LocalStorage, "delete", refuse)
    filled.repacking.run(min_age=NOW, least=1)
    assert (workspace.packs / held).exists()
    assert cold.read(pack_gc.owners_by_name) == {held: ""}
    assert filled.check() == []
    monkeypatch.undo()
    assert pack_gc.sweep(cold, filled.storage) == [held]
    assert not (workspace.packs / held).exists()


def test_only_files_that_we_wrote_are_ever_deleted(filled: Vault, workspace: Workspace) -> None:
    stranger: Path = workspace.packs / "0123456789abcdef0123.pages"
    stranger.write_bytes(b"somebody's")
    filled.repacking.run(min_age=NOW, least=1)
    filled.release()
    assert stranger.read_bytes() == b"somebody's"


class Crash(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("work", ["repack", "delete"])
def test_work_that_ends_before_its_commit_leaves_the_old_packs_their_manifests(
    filled: Vault, cold: ColdStore, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    def seal_and_crash(*given: object) -> None:
        facts.seal(*given)  # type: ignore[arg-type]  # as the caller gives them
        raise Crash

    with monkeypatch.context() as crash:
        crash.setattr(move if work == "repack" else release, "seal", seal_and_crash)
        with pytest.raises(Crash):
            if work == "repack":
                filled.repacking.run(min_age=NOW, least=1)
            else:
                filled.delete_conversation(filled.archives()[0].conversation or 1)
    assert [problem for problem in filled.check() if problem.what != "deletion"] == []
