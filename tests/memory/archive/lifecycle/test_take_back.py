"""An archiving that is taken back: each text is in the store or on its pages at any time, and repeating it goes on."""

from typing import Any

import pytest

from foundation.paths import Workspace
from memory.archive.lifecycle import take_back
from memory.archive.repair.check import check_archive
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.sql import run
from memory.errors import Damaged
from memory.records import Entry
from tests.memory.conftest import Say


class _Killed(Exception):
    pass


@pytest.fixture
def archived(cold: ColdStore, vault: Vault, say: Say, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Entry], int]:
    """Twelve entries on the pages of one archive, and its seq; four of them are taken back in each transaction."""
    monkeypatch.setattr(take_back, "_AT_ONCE", 4_000)
    entries = [say(f"{n} 渡轮 🙂 {n * 7919}\n" * 80) for n in range(12)]
    return entries, vault.archive_entries(entries, label="ferry").seq


def ranges(entries: list[Entry]) -> list[tuple[int, int]]:
    return [(entries[0].seq, entries[4].seq), (entries[5].seq, entries[-1].seq + 10**12)]


def texts(cold: ColdStore, vault: Vault, entries: list[Entry]) -> list[str]:
    stored = cold.entries([entry.seq for entry in entries])
    return [vault.entry_text(stored[entry.seq]).text for entry in entries]


def in_store(cold: ColdStore, entries: list[Entry]) -> int:
    return sum(entry.text is not None for entry in cold.entries([entry.seq for entry in entries]).values())


def test_every_text_returns_and_no_page_is_left(
    cold: ColdStore, vault: Vault, workspace: Workspace, archived: tuple[list[Entry], int]
) -> None:
    entries, archive = archived
    assert in_store(cold, entries) == 0
    counts = list[int]()
    assert vault.take_back(ranges(entries), [archive], counts.append) == 12
    assert counts == sorted(counts)
    assert len(counts) > 2
    assert in_store(cold, entries) == 12
    assert texts(cold, vault, entries) == [entry.text for entry in entries]
    assert (vault.pages(), vault.archives(), list(workspace.packs.glob("*.pages"))) == ([], [], [])
    assert check_archive(cold, vault.storage) == []
    assert vault.take_back(ranges(entries), [archive]) == 0, "it may be repeated"


@pytest.mark.parametrize("place", ["first portion", "second portion", "release"])
def test_wherever_it_ends_no_text_is_lost_and_the_next_call_goes_on(
    cold: ColdStore, vault: Vault, archived: tuple[list[Entry], int], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    entries, archive = archived

    def end(count: int) -> None:
        if place == "first portion" or (place == "second portion" and count > 4):
            raise _Killed

    def end_release(*_: Any) -> None:
        raise _Killed

    with monkeypatch.context() as ending:
        if place == "release":
            ending.setattr(vault, "release", end_release)
        with pytest.raises(_Killed):
            vault.take_back(ranges(entries), [archive], end)
    assert texts(cold, vault, entries) == [entry.text for entry in entries]
    left = [problem.what for problem in check_archive(cold, vault.storage)]
    assert left == (["deletion"] if place == "release" else []), "pages that are to go are named until they are gone"
    vault.take_back(ranges(entries), [archive])
    assert in_store(cold, entries) == 12
    assert vault.pages() == []
    assert check_archive(cold, vault.storage) == []


def test_a_damaged_page_ends_it_and_what_was_not_reached_stays(
    cold: ColdStore, vault: Vault, workspace: Workspace, archived: tuple[list[Entry], int], clock: Any
) -> None:
    entries, archive = archived
    (pack,) = workspace.packs.glob("*.pages")
    raw = bytearray(pack.read_bytes())
    raw[len(raw) // 3] ^= 255
    pack.write_bytes(bytes(raw))
    fresh = Vault(workspace.packs, workspace.page_cache, cold, clock)  # nothing was read before
    with pytest.raises(Damaged):
        fresh.take_back(ranges(entries), [archive])
    assert len(fresh.archives()) == 1
    assert in_store(cold, entries) < 12


def test_a_text_that_is_not_the_one_that_was_stored_ends_it_too(
    cold: ColdStore, vault: Vault, archived: tuple[list[Entry], int]
) -> None:
    entries, archive = archived
    cold.write(lambda db: run(db, "UPDATE entries SET sha256 = x'00' WHERE seq = ?", (entries[-1].seq,)))
    with pytest.raises(Damaged):
        vault.take_back(ranges(entries), [archive])
    assert len(vault.archives()) == 1
    assert len(vault.pages()) > 0
