"""A pack of a newer program is named as such: it is not called damaged, and no repair touches it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memory.archive.packs.pack import MAGIC
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import PackRow, pack_rows
from memory.cold.sql import run
from memory.errors import NewerPack
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived, mend


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    """A workspace whose packs are all of the next version; their rows and manifests vouch for them."""
    memory, _ = archived(tmp_path / "workspace", clock)
    rows = memory.cold.read(pack_rows)
    for row in rows:
        path = memory.workspace.packs / row.name
        body = path.read_bytes()
        path.write_bytes(MAGIC[:-1] + bytes([MAGIC[-1] + 1]) + body[len(MAGIC) :])
    memory.cold.write(lambda db: vouch(db, memory, rows))
    yield memory
    memory.close()


def vouch(db: apsw.Connection, memory: Memory, rows: list[PackRow]) -> None:
    for row in rows:
        sha256 = hashlib.sha256((memory.workspace.packs / row.name).read_bytes()).digest()
        run(db, "UPDATE packs SET sha256 = ? WHERE name = ?", (sha256, row.name))
    seal(db, memory.vault.storage, [row.name for row in rows])


def bodies(memory: Memory) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in memory.workspace.packs.glob("*.pages")}


def test_a_page_of_a_newer_pack_is_an_error_that_says_so(memory: Memory) -> None:
    page = memory.vault.pages()[0]
    with pytest.raises(NewerPack, match="version 3; this program reads versions 1 to 2"):
        memory.vault.png(page.id)
    with pytest.raises(NewerPack):
        memory.vault.read_page(page.id)


def test_check_names_the_pack_once_and_calls_no_page_damaged(memory: Memory) -> None:
    found = memory.vault.check()
    assert sorted(problem.where for problem in found) == sorted(bodies(memory))
    assert all("is of version 3" in problem.message and "Upgrade palimpsest" in problem.message for problem in found)


def test_a_repair_leaves_the_pack_as_it_is(memory: Memory) -> None:
    before = bodies(memory)
    mend(memory)
    assert bodies(memory) == before
    assert len(memory.cold.read(pack_rows)) == len(before)


def test_a_repair_without_an_index_leaves_the_pack_as_it_is_and_says_why(memory: Memory) -> None:
    before = bodies(memory)
    memory.close()
    for path in memory.workspace.state.glob("cold.db*"):
        if path.is_file():
            path.unlink()
    memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    lost = mend(memory).lost
    assert bodies(memory) == before
    assert [name for name in before if not any(name in line and "is of version 3" in line for line in lost)] == []
    memory.close()
