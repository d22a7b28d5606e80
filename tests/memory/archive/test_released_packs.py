"""A workspace that 0.3.0 archived, with a cold pack and a warm one. 0.3.1 and 0.3.2 wrote the same packs: version 1."""

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard

from foundation.paths import Workspace
from foundation.trust import Trust
from memory.archive.packs.pack import COLD, MAGIC, SIGNATURE
from memory.archive.repair.salvage import salvaged_pages
from memory.archive.rows import pages as page_rows
from memory.archive.vault import Vault
from memory.cold import ColdStore
from tests.fakes import FakeClock
from tests.memory.cold.drafts import fake_analyse

RELEASED = Path(__file__).parent / "data" / "released-0.3.0"
TEXTS: dict[str, str] = json.loads((RELEASED / "texts.json").read_text("ascii"))


@pytest.fixture
def cold(workspace: Workspace, clock: FakeClock) -> Iterator[ColdStore]:
    shutil.copytree(RELEASED / "packs", workspace.packs)
    body = zstandard.ZstdDecompressor().decompress((RELEASED / "cold.db.zst").read_bytes())
    workspace.database.write_bytes(body)
    store = ColdStore.open(workspace.database, analyse=fake_analyse, clock=clock)
    yield store
    store.close()


@pytest.fixture
def vault(workspace: Workspace, cold: ColdStore, clock: FakeClock) -> Vault:
    return Vault(workspace.packs, workspace.page_cache, cold, clock)


def texts(vault: Vault) -> dict[str, str]:
    found: dict[str, str] = {}
    for archive in vault.archives():
        read = [vault.read_page(page.id) for page in vault.pages(archive.seq)]
        assert {page.trust for page in read} == {Trust.EXACT}
        found[archive.label] = "".join(page.text for page in read)
    return found


def versions(workspace: Workspace) -> list[int]:
    return [path.read_bytes()[len(SIGNATURE)] for path in sorted(workspace.packs.glob("*.pages"))]


def test_its_packs_are_read(workspace: Workspace, vault: Vault) -> None:
    assert versions(workspace) == [1, 1]
    assert texts(vault) == TEXTS
    assert vault.check() == []


def test_its_packs_are_repacked_and_their_pages_are_the_same_to_the_byte(
    workspace: Workspace, vault: Vault, cold: ColdStore, clock: FakeClock
) -> None:
    clock.advance(10 * 365 * 24 * 3600)  # past the year in which they were made
    before = {row.id: vault.page_reader.png(row) for row in vault.pages()}
    assert {row.kind for row in cold.read(page_rows.pack_rows)} == {"cold", "warm"}
    assert vault.repacking.due(timedelta(0)) == len(before)
    did = vault.repacking.run(min_age=timedelta(0), least=1)
    assert (did.pages, did.left) == (len(before), 0)
    assert did.bytes_after * 3 < did.bytes_before
    assert [row.kind for row in cold.read(page_rows.pack_rows)] == [COLD]
    assert versions(workspace) == [MAGIC[-1]]
    assert {row.id: vault.page_reader.png(row) for row in vault.pages()} == before
    assert texts(vault) == TEXTS
    assert vault.check() == []
    assert vault.repacking.run(min_age=timedelta(0), least=1).pages == 0


def test_pages_are_saved_from_its_packs_without_an_index(workspace: Workspace, vault: Vault) -> None:
    saved = [page for path in workspace.packs.glob("*.pages") for page in salvaged_pages(path.read_bytes())]
    assert {page.page.page_id: page.png for page in saved} == {
        row.id: vault.page_reader.png(row) for row in vault.pages()
    }
