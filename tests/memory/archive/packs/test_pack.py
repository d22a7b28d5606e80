"""Packs: whole, unchanging, readable with nothing but themselves."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from memory.archive.packs import pack as packing
from memory.archive.packs.pack import _FOOTER, MAGIC, Pack, PageImage, new_pack_name
from memory.archive.packs.storage import LocalStorage
from memory.archive.repair.salvage import salvaged_pages
from memory.archive.write.page_writer import picture_of
from memory.errors import Damaged, NewerPack
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES
from memory.pages.render.page import RenderedPage, page_sheets, render_page
from memory.zstd import packer, unpack
from tests.memory.pages.zlib_pages import page_of_zlib


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


# ── versions, and pictures that are no pages ──


PHOTOGRAPH = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40


def image(number: int, png: bytes) -> PageImage:
    return PageImage(f"pg_{number:012}", number, "base", 1, "00", png)


@pytest.mark.parametrize("write", [packing.write_pack, packing.write_cold_pack])
def test_pictures_that_are_no_pages_share_a_pack_with_pages(
    tmp_path: Path, pages: list[RenderedPage], write: Callable[..., packing.WrittenPack]
) -> None:
    pngs = [pages[0].png, PHOTOGRAPH, page_of_zlib(pages[1].png), b"no picture", pages[2].png]
    storage = LocalStorage(tmp_path)
    written = write(storage, new_pack_name(), [image(number, png) for number, png in enumerate(pngs)])
    pack = Pack(storage, written.name)
    assert [pack.png(position) for position in range(len(pngs))] == pngs
    assert [saved.png for saved in salvaged_pages(storage.read(written.name))] == [pngs[0], pngs[2], pngs[4]]


def test_frames_that_would_be_too_large_to_read_are_divided(tmp_path: Path) -> None:
    pngs = [number.to_bytes(4) * 2**17 for number in range(1, 65)]  # half a megabyte each
    storage = LocalStorage(tmp_path)
    written = packing.write_cold_pack(storage, new_pack_name(), [image(n, png) for n, png in enumerate(pngs)])
    pack = Pack(storage, written.name)
    assert [pack.png(position) for position in range(len(pngs))] == pngs
    assert len({pack.frame_of(position) for position in range(len(pngs))}) == 4


def test_a_cold_pack_takes_less_than_its_text(tmp_path: Path) -> None:
    text = "".join(f"{n}: the ferry leaves at {n % 24}:{n % 60:02}, {n * 7919 % 9973} people\n" for n in range(9000))
    pages = [
        picture_of(render_page(sheet, f"pg_{number:012}", number))
        for number, sheet in enumerate(page_sheets([LayoutText(text)], MODES["base"]), 1)
    ]
    written = packing.write_cold_pack(LocalStorage(tmp_path), new_pack_name(), pages)
    assert written.size * 2 < len(text)


def test_a_pack_of_a_newer_program_is_called_newer_and_not_damaged(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    body = bytearray(path.read_bytes())
    body[len(MAGIC) - 1] += 1
    path.write_bytes(body)
    with pytest.raises(NewerPack, match="has version 3; this program reads versions 1 to 2") as caught:
        opened(path)
    assert str(path) in caught.value.message


def test_what_has_no_version_is_no_pack(tmp_path: Path, pages: list[RenderedPage]) -> None:
    path = write_pack(tmp_path / "packs", pages)
    path.write_bytes(MAGIC[:-1] + b"\0" + path.read_bytes()[len(MAGIC) :])
    with pytest.raises(Damaged, match="it is not a pack"):
        opened(path)


def test_a_list_that_lies_about_the_size_of_a_page_is_refused(tmp_path: Path, pages: list[RenderedPage]) -> None:
    pack = opened(write_pack(tmp_path / "packs", pages))
    pack.pages = tuple(structs.replace(leaf, size=leaf.size + 1) for leaf in pack.pages)
    with pytest.raises(Damaged, match=r"bytes instead of"):
        pack.png(0)


def test_any_flipped_bit_is_found_or_was_never_read(tmp_path: Path, pages: list[RenderedPage]) -> None:
    """In a cold pack: in every frame, in the list, in the footer and in the magic."""
    storage, name = LocalStorage(tmp_path), new_pack_name()
    packing.write_cold_pack(storage, name, [picture_of(page) for page in pages])
    body = storage.read(name)
    for at in [*range(len(MAGIC) + 16), *range(0, len(body) - 80, 7), *range(len(body) - 80, len(body))]:
        flipped = bytearray(body)
        flipped[at] ^= 1 << at % 8
        storage.write(name, bytes(flipped))
        try:
            pack = Pack(storage, name)
            found = [pack.png(position) for position in range(len(pages))]
        except Damaged as error:
            assert name in error.message
        else:
            assert found == [page.png for page in pages]
