"""Pages coded by symbols: any pictures come back to the byte, pages of ours as symbols, and no lie is believed."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from memory.errors import Damaged
from memory.pages import symbol_coding
from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE, MODES, REGULAR, Mode, modes_of
from memory.pages.render.page import page_sheets, render_page
from memory.pages.render.png import encode_png, stored_blocks
from memory.pages.render.readable import natural_pages
from memory.pages.symbol_coding import _HEAD, _HEADS_AT, MAGIC, DrawnPage, PageSymbols, encode_drawn, encode_pages
from tests.examples import examples
from tests.memory.pages.zlib_pages import page_of_zlib

ALL_MODES = [mode for cell in (REGULAR, DENSE) for mode in modes_of(cell).values()]
TEXTS = {
    "english": "The ferry leaves at nine, and the valve by the stairs drips again.\n" * 40,
    "chinese": "渡轮九点离开，楼梯旁的阀门又在滴水。记忆是页面的图片。\n" * 40,
    "code": "def page(n: int) -> bytes:\n    return cells[n] ^ 0x1F  # ␛ ├── 🦊 é\n" * 40,
    "every": "".join(map(chr, range(0x21, 0x3000))) + "".join(map(chr, range(0x4E00, 0x9FFF, 3))),
    "nothing": "",
}


def drawn(text: str, mode: Mode, head: EntryHead | None = None) -> list[bytes]:
    sheets = page_sheets([LayoutText(text, head)], mode)
    return [render_page(sheet, f"pg_{number:012}", number).png for number, sheet in enumerate(sheets, 1)]


def round_trip(pngs: list[bytes]) -> PageSymbols:
    pages = PageSymbols(encode_pages(pngs))
    assert [pages.png(number) for number in range(len(pages))] == pngs
    return pages


def as_they_are(pngs: list[bytes]) -> list[int]:
    """Which of them are stored as they are, by their heads."""
    coded = encode_pages(pngs)
    heads = (_HEAD.unpack_from(coded, _HEADS_AT + number * _HEAD.size) for number in range(len(pngs)))
    return [number for number, head in enumerate(heads) if head[0] == 0]


@pytest.mark.parametrize("mode", ALL_MODES, ids=lambda mode: f"{mode.name} {mode.cell.name}")
@pytest.mark.parametrize("text", TEXTS)
def test_a_page_is_coded_from_its_grid_as_from_its_picture(text: str, mode: Mode) -> None:
    sheet = next(iter(page_sheets([LayoutText(TEXTS[text])], mode)))
    page = render_page(sheet, "pg_000000000001", 1)
    assert encode_drawn(DrawnPage(page.mode, page.grid, page.png)) == encode_pages([page.png])


# ── any pictures come back to the byte ──


def grey(shade: int, side: int) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((side, side)).point(lambda value: value ^ shade).save(buffer, "PNG")
    return buffer.getvalue()


def other_encoder(side: int, level: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("1", (side, side), 1).save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()


def noise(seed: int, height: int, width: int) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (height, width // 8), np.uint8))


sides = st.sampled_from([8, 128, 136, 512, 640, 1024])
pictures = st.one_of(
    st.binary(max_size=200),
    st.builds(grey, st.integers(0, 255), st.integers(1, 300)),
    st.builds(other_encoder, sides, st.integers(0, 9)),
    st.builds(noise, st.integers(0, 9), sides, sides),
    st.builds(lambda words, mode: drawn(words, mode)[0], st.text(max_size=300), st.sampled_from(ALL_MODES)),
    st.builds(lambda words: drawn(words, MODES["tiny"])[0] + b"after the end", st.text(max_size=20)),
    st.builds(lambda words: page_of_zlib(drawn(words, MODES["base"])[0]), st.text(max_size=20)),
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(pictures, max_size=5))
@example([])
def test_any_pictures_come_back_to_the_byte(pngs: list[bytes]) -> None:
    round_trip(pngs)


@settings(max_examples=examples(30), deadline=None)
@given(st.sampled_from(ALL_MODES), st.lists(st.tuples(st.integers(0), st.integers(0)), min_size=1, max_size=4))
def test_a_page_with_flipped_pixels_comes_back_with_them(mode: Mode, flips: list[tuple[int, int]]) -> None:
    """Also in the margin, which is on no grid."""
    ink = np.zeros((mode.side, mode.side // 8), np.uint8)
    for row, column in [*flips, (mode.side - 1, mode.side - 1)]:
        ink[row % mode.side, column % mode.side // 8] ^= 128 >> column % 8
    round_trip([encode_png(ink), drawn("ferry", mode)[0]])


def test_more_symbols_than_two_bytes_tell_apart_come_back() -> None:
    pngs = [noise(seed, 1280, 1280) for seed in range(6)]
    assert as_they_are(pngs) == []
    round_trip(pngs)


@pytest.mark.parametrize("count", [255, 256, 257, 511, 512, 65_280, 65_281, 65_282])
def test_each_width_of_a_token_comes_back(count: int) -> None:
    """Cells with one bitmap each, in cells of 8×16: 80 columns of the largest side take 65,282 on six pages."""
    per_page = 128 * 128
    sheets: list[bytes] = []
    for start in range(0, count, per_page):
        number = np.arange(start, start + per_page, dtype=np.int64)
        number = np.where(number < count, number, start)
        cells = np.zeros((128, 128, 16), np.uint8)
        cells[:, :, 0], cells[:, :, 1], cells[:, :, 2] = (
            (number >> shift & 255).astype(np.uint8).reshape(128, 128) for shift in (0, 8, 16)
        )
        ink = np.zeros((2048, 256), np.uint8)
        ink[:, :128] = cells.transpose(0, 2, 1).reshape(2048, 128)
        sheets.append(encode_png(ink))
    round_trip(sheets)


@pytest.mark.parametrize("bits", [0, 3, 64])
def test_bitmaps_that_share_a_hash_are_told_apart(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = symbol_coding.hash_cells
    monkeypatch.setattr(symbol_coding, "hash_cells", lambda cells: real(cells) >> np.uint64(64 - bits if bits else 63))
    round_trip(drawn(TEXTS["chinese"], MODES["tiny"]))


# ── every page of ours goes as symbols ──


@pytest.mark.parametrize("words", TEXTS)
@pytest.mark.parametrize("mode", ALL_MODES, ids=lambda mode: f"{mode.name}-{mode.cell.name}")
def test_every_page_goes_as_symbols(mode: Mode, words: str) -> None:
    pngs = drawn(TEXTS[words], mode)
    assert as_they_are(pngs) == []
    round_trip(pngs)


@settings(max_examples=examples(25), deadline=None)
@given(st.text(max_size=3000), st.sampled_from(ALL_MODES))
def test_every_page_of_any_text_goes_as_symbols(words: str, mode: Mode) -> None:
    assert as_they_are(drawn(words, mode, EntryHead("e_1", "Ann", "user", None))) == []


def test_pages_for_people_go_as_symbols_in_their_own_cells() -> None:
    for mode in ALL_MODES:
        assert as_they_are(list(natural_pages([LayoutText(TEXTS["code"])], mode))) == []


def test_pages_of_several_sizes_and_cells_share_one_frame() -> None:
    pngs = [png for mode in ALL_MODES for png in drawn(TEXTS["english"][:400], mode)]
    assert as_they_are(pngs) == []
    round_trip(pngs)


def test_a_dense_page_is_coded_in_its_own_cells() -> None:
    for mode in ALL_MODES:
        coded = encode_pages(drawn(TEXTS["chinese"] * 40, mode)[:1])
        assert _HEAD.unpack_from(coded, _HEADS_AT)[:3] == (mode.side, mode.cell.width, mode.cell.height)


def test_a_page_that_another_zlib_stored_goes_as_symbols() -> None:
    """zlib divides stored blocks as its buffers happen to be: Python's own made 65531, 32773 and 33792 bytes."""
    ours = drawn(TEXTS["english"] * 4, MODES["base"])[0]
    theirs = page_of_zlib(ours)
    assert (theirs != ours, stored_blocks(theirs)) == (True, (65531, 32773, 33792))
    assert as_they_are([theirs]) == []
    round_trip([theirs, ours])


def test_pages_take_a_fraction_of_their_pictures() -> None:
    pngs = drawn("".join(f"{n}: {TEXTS['english']}" for n in range(9)), MODES["base"])
    assert len(encode_pages(pngs)) * 10 < sum(map(len, pngs))


# ── lies ──


def coded() -> bytes:
    return encode_pages([*drawn(TEXTS["english"], MODES["tiny"]), b"no picture"])


def read_all(data: bytes) -> None:
    pages = PageSymbols(data)
    for number in range(len(pages)):
        pages.png(number)


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0), st.integers(0, 255))
def test_a_false_byte_is_an_error_or_another_picture_and_nothing_else(at: int, value: int) -> None:
    data = bytearray(coded())
    data[at % len(data)] = value
    try:
        read_all(bytes(data))
    except Damaged as error:
        assert error.message.startswith("The coded pages cannot be read")


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0))
def test_what_is_cut_off_is_refused(at: int) -> None:
    data = coded()
    with pytest.raises(Damaged):
        read_all(data[: at % len(data)])


def test_what_is_cut_off_gives_the_pages_before_its_end() -> None:
    pngs = drawn(TEXTS["english"], MODES["tiny"])
    data = encode_pages(pngs)
    found = PageSymbols(data[:-1], whole=False)
    assert [found.png(number) for number in range(len(pngs) - 1)] == pngs[:-1]
    with pytest.raises(Damaged, match="cut off"):
        found.png(len(pngs) - 1)


def coded_page(
    ids: bytes,
    symbols: int = 1,
    flags: bytes = b"\0",
    *,
    pages: int = 1,
    pairs: int | None = None,
    grid: tuple[int, int, int] = (128, 8, 16),
    blocks: tuple[int, ...] = (128 * 17,),
) -> bytes:
    """A page with these tokens; its bytes are as long as its counts say, unless the counts are given."""
    second = flags[0].bit_count()
    head = _HEAD.pack(*grid, len(blocks), len(ids), 0)
    table = struct.pack(f"<{len(blocks)}H", *blocks) + flags * -(-symbols // 8) + bytes((symbols + second) * 16)
    counts = struct.pack("<III", pages, symbols, second if pairs is None else pairs)
    return MAGIC + counts + head + table + ids


PICTURE = coded_page(bytes(128))


@pytest.mark.parametrize("counts", [(2**32 - 1, 1, 0), (1, 2**32 - 1, 0), (1, 1, 2**32 - 1), (2, 1, 0), (1, 2, 0)])
def test_counts_that_lie_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(Damaged):
        PageSymbols(MAGIC + struct.pack("<III", *counts) + PICTURE[_HEADS_AT:])


def test_more_pages_than_a_frame_has_are_refused() -> None:
    for pages, whether in ((64, True), (65, False)):
        data = MAGIC + struct.pack("<III", pages, 0, 0) + bytes(_HEAD.size * pages)
        if whether:
            assert len(PageSymbols(data)) == pages
        else:
            with pytest.raises(Damaged, match="65 pages"):
                PageSymbols(data)


def test_pairs_that_are_marked_and_not_counted_are_refused() -> None:
    with pytest.raises(Damaged, match="1 pairs where 0 belong"):
        PageSymbols(coded_page(bytes(128 + 16), flags=b"\x80", pairs=0)[:-16])


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(Damaged, match="where"):
        PageSymbols(PICTURE + b"\0")


@pytest.mark.parametrize("first", [2**32 - 1, 129, 127])
def test_lengths_that_lie_are_refused(first: int) -> None:
    head = _HEAD.pack(128, 8, 16, 1, first, 0)
    with pytest.raises(Damaged):
        PageSymbols(PICTURE[:_HEADS_AT] + head + PICTURE[_HEADS_AT + _HEAD.size :])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (coded_page(bytes(128), grid=(65_528, 8, 16)), "claims 65528 pixels"),
        (coded_page(bytes(128), grid=(129, 8, 16)), "claims 129 pixels"),
        (coded_page(bytes(128), grid=(120, 8, 16)), "claims 120 pixels"),
        (coded_page(bytes(128), grid=(128, 1, 1)), "in cells of 1×1"),
        (coded_page(bytes(128), blocks=(128 * 17 - 1,)), "other pixels"),
        (coded_page(bytes(128), blocks=()), "other pixels"),
        (coded_page(bytes(128), blocks=(128 * 17, *[0] * 64)), "other pixels"),
        (coded_page(bytes(127) + b"\1"), "not there"),
        (coded_page(bytes(127)), "127 cells"),
        (coded_page(bytes(129), flags=b"\x80"), "258 cells"),
        (coded_page(bytes(128), 0), "not there"),
        (coded_page(bytes(257)), "more tokens than cells"),
        (coded_page(bytes(127) + b"\xff", 300), "within one"),
        (coded_page(b""), "0 cells"),
    ],
)
def test_pages_that_lie_are_refused(data: bytes, why: str) -> None:
    pages = PageSymbols(data)
    with pytest.raises(Damaged, match=why):
        pages.png(0)


def test_a_page_of_one_symbol_reads() -> None:
    assert PageSymbols(PICTURE).png(0) == encode_png(np.zeros((128, 16), np.uint8))
    assert PageSymbols(coded_page(bytes(64), flags=b"\x80")).png(0) == encode_png(np.zeros((128, 16), np.uint8))


def test_a_page_that_is_not_there_is_refused() -> None:
    pages = PageSymbols(coded())
    for number in (-1, len(pages)):
        with pytest.raises(Damaged, match="no page"):
            pages.png(number)


def test_stored_blocks_of_what_is_no_page_are_none() -> None:
    page = drawn("ferry", MODES["tiny"])[0]
    compressed = page[:33] + struct.pack(">I", 9) + b"IDAT" + zlib.compress(b"") + page[-16:]
    for png in (b"", page[:41], page[:50], compressed, other_encoder(512, 9)):
        assert stored_blocks(png) == ()
