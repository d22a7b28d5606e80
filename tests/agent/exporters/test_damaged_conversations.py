"""Conversations with damage in them: all that is sound is written out, and what is lost is named."""

from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.archive.packs.pack import Pack
from memory.cold.sql import run as run_sql
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.memory.archive.intact_workspace import talk

LAST = "Entry 11 tells of the boiler, valve 87109."


@pytest.fixture
def damaged(run: Run, root: Path) -> str:
    """A workspace whose conversation lies on several pages, one of them damaged; that page's id."""
    memory = Memory.open(Workspace(root))
    said = talk(memory)
    kept = memory.vault.archive_entries(said[:-1], label="boiler", mode="tiny")
    assert len(kept.pages) > 3
    page = kept.pages[2]
    frame = Pack(memory.vault.storage, page.pack).pages[page.position]
    memory.close()
    pack = root / ".palimpsest" / "packs" / page.pack
    raw = bytearray(pack.read_bytes())
    raw[frame.offset + frame.length // 2] ^= 0x55
    pack.write_bytes(raw)
    return page.id


@pytest.mark.parametrize(
    "words", [("export",), ("export", "--to", "jsonl"), ("conversations", "show", "The boiler")], ids=" ".join
)
def test_a_damaged_page_stops_nothing(run: Run, damaged: str, words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.status == 1
    assert LAST in ran.out
    assert f"[lost: page {damaged} is damaged]" in ran.out
    assert damaged in ran.err
    assert "check --repair" in ran.err


def test_one_flipped_bit_in_a_role_is_found_shown_and_mended(run: Run, root: Path) -> None:
    memory = Memory.open(Workspace(root))
    said = talk(memory)
    memory.cold.write(lambda db: run_sql(db, "UPDATE entries SET role = 'uses' WHERE seq = ?", (said[0].seq,)))
    memory.close()
    checked = run("check")
    assert checked.status == 1
    assert "“uses” instead of “user”" in checked.out
    shown = run("conversations", "show", "The boiler")
    assert shown.status == 1
    assert LAST in shown.out
    assert "role is damaged" in shown.err
    assert LAST in run("export").out

    mended = run("check", "--repair")
    assert (mended.status, f"Entry {said[0].id}" in mended.out) == (0, True)
    assert run("export").status == 0
