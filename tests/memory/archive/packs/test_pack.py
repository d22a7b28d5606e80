"""Packs: whole, unchanging, readable with nothing but themselves."""

import os
import stat
from pathlib import Path

import pytest

from memory.archive.packs import pack as packing
from memory.archive.packs.pack import _FOOTER, MAGIC, Pack, new_pack_name
from memory.archive.packs.storage import LocalStorage
from memory.archive.write.page_writer import picture_of
from memory.errors import Damaged
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES
from memory.pages.render.page import RenderedPage, page_sheets, render_page
from memory.zstd import packer, unpack


def write_pack(folder: Path, pages: list[RenderedPage]) -> Path:
    written = packing.write_pack(LocalStorage(folder), new_pack_name(), [picture_of(page) for page in pages])
    return folder / written.name


def opened(path: Path) -> Pack:
    return Pack(LocalStorage(path.parent), path.name)


@pytest.fixture
def pages() -> list[RenderedPage]:
    text = "The quick brown fox. " * 1500
    return [
        render_page(sheet, f"pg_{number:012}", number)
        for number, sheet in enumerate(page_sheets([LayoutText(text)], MODES["base"]), 1)
    ]


def test_a_pack_gives_back_each_page_to_the_byte(tmp_path: Path, pages: list[RenderedPage]) -> None:
    pack = opened(write_pack(tmp_path / "packs", pages))
    assert [pack.png(n) for n in range(len(pages))] == [page.png for page in pages]
    assert [(leaf.id, leaf.number, leaf.mode, leaf.chars, leaf.sha256) for leaf in pack.pages] == [
        (p.id, p.number, p.mode.name, len(p.text), p.sha256.hex()) for p in pages
    ]


def test_a_pack_is_much_smaller_than_its_pictures(tmp_path: Path, pages: list[RenderedPage]) -> None:
    assert write_pack(tmp_path / "packs", pages).stat().st_size < sum(len(page.png) for page in pages) / 5


def test_names_are_never_used_twice(tmp_path: Path, pages: list[RenderedPage]) -> None:
    names = {write_pack(tmp_path / "packs", pages[:1]).name for _ in range(20)}
    assert len(names) == 20
    assert not any(":" in name for name in names)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_pack_is_for_its_owner_alone(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_else_is_left_in_the_folder(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("cut", [0, 5, len(MAGIC), 1000, -1, -30, -60])
def test_a_pack_that_is_cut_off_is_said_to_be_damaged(tmp_path: Path, pages: list[RenderedPage], cut: int) -> None:
    path = write_pack(tmp_path / "packs", pages)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(Damaged) as caught:
        opened(path)
    assert str(path) in caught.value.message


def test_a_page_altered_on_disk_is_said_to_be_damaged(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    pack = opened(path)
    body = bytearray(path.read_bytes())
    body[pack.pages[1].offset + pack.pages[1].length // 2] ^= 1
    path.write_bytes(body)
    assert pack.png(0) == pages[0].png
    with pytest.raises(Damaged):
        pack.png(1)


def test_a_list_of_pages_altered_on_disk_is_said_to_be_damaged(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    body = path.read_bytes()
    offset, length, *rest = _FOOTER.unpack(body[-_FOOTER.size :])
    manifest = unpack(body[offset : offset + length], limit=2**20).replace(b'"number":1', b'"number":7')
    forged = packer()(manifest)  # a sound frame, and not the one that was written
    path.write_bytes(body[:offset] + forged + _FOOTER.pack(offset, len(forged), *rest))
    with pytest.raises(Damaged, match="altered"):
        opened(path)


def test_a_pack_that_is_gone_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        opened(tmp_path / "gone.pages")
