"""A file of many packs: the same pages as in one, and no more held than one pack's pictures."""

import tracemalloc
from pathlib import Path

import pytest

from foundation.privacy import as_given
from memory.archive.packs.pack import new_pack_name
from memory.archive.packs.storage import LocalStorage
from memory.archive.vault import Vault
from memory.archive.write import page_writer
from memory.archive.write.page_writer import bind
from memory.cold import ColdStore
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import mode_named

TEXT = "".join(
    f"{n}: the ferry QF{n % 97} leaves at {n % 24}:{n % 60:02}, 渡轮 {n * 7919 % 9973}\n" for n in range(4000)
)


def archived(vault: Vault, cold: ColdStore, label: str) -> list[tuple[object, ...]]:
    """All that is kept of each page, less its random ids."""
    pages = vault.archive_text(as_given(TEXT), label=label).pages
    archive = vault.find_archive(label)
    entries = cold.branch(cold.conversation_at(archive.conversation or 0).leaf or 0).entries
    assert "".join(vault.read_page(page.id).text for page in pages) == TEXT
    assert "".join(vault.entry_text(entry).text for entry in entries) == TEXT
    return [
        (page.number, page.mode, page.chars, page.sha256, page.text_tokens, page.factsheet, entry.chars, entry.kind)
        for page, entry in zip(pages, entries, strict=True)
    ]


def test_a_file_of_many_packs_has_the_pages_that_it_has_in_one(
    vault: Vault, cold: ColdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = archived(vault, cold, "whole")
    vault.delete_conversation(vault.find_archive("whole").conversation or 0)
    monkeypatch.setattr(page_writer, "PAGES_A_PACK", 3)
    assert archived(vault, cold, "in packs of three") == whole
    assert len({page.pack for page in vault.pages()}) == -(-len(whole) // 3) > 5


def test_no_more_than_one_pack_of_pictures_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pictures of the pack before were held while the next was drawn: 53 MB more."""
    monkeypatch.setattr(page_writer, "PAGES_A_PACK", 64)
    mode = mode_named("base", dense=False)
    runs = [[LayoutText("x" * (mode.capacity * 128))]]
    storage = LocalStorage(tmp_path)
    list(bind(storage, [[LayoutText("x")]], mode, 0, new_name=new_pack_name))  # what is loaded once
    held: list[int] = []
    tracemalloc.start()
    pages = sum(
        1
        for _ in bind(
            storage,
            runs,
            mode,
            0,
            new_name=new_pack_name,
            on_page=lambda _: held.append(tracemalloc.get_traced_memory()[0]),
        )
    )
    tracemalloc.stop()
    assert pages == 128
    assert max(held) < 13_000_000, f"{max(held):,}"
