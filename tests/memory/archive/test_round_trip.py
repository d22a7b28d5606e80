"""Texts as people have them, through every mode in both cell sizes: what comes back is what went in."""

import io
import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from PIL import Image

from foundation.trust import Trust
from memory.pages.read.exact import read_exact
from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.page import page_sheets, render_page

ID = "pg_0123456789ab"
CORPUS = {
    "code": "def mean(values: list[float]) -> float:\n\treturn sum(values) / len(values)  # `[]` fails\n\n" * 60,
    "Chinese prose": "今天天气很好，我们一起去公园散步。“他说：这本书非常有意思。”——《红楼梦》第一回……\n　　" * 90,
    "a table": "| page | tokens |\n|:-----|-------:|\n| base |    256 |\n| 大   |    400 |\n" * 70,
    "emoji joined": "👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍💻 🇫🇷🇯🇵 ❤️‍🔥 1️⃣ " * 90,
    "box drawing": "┌──┬──┐\n│░▒│▓█│\n├──┼──┤\n╚══╩══╝ ▁▂▃▄▅▆▇ ⠁⠂⠄⡀ ╭╮╰╯\n" * 80,
    "empty": "",
    "line ends of Windows": "first\r\nsecond\r\n\r\nthird\rfourth\n\r" * 200,
    "NULs": "a\x00b\x00\x00\x01\x02\x7f\x80\x9f\n" * 200,
    "lone surrogates": "\ud800 \udfff \udc00\ud800 \ud83d" * 200,
    "right to left": "مرحبا بالعالم \u202eabc\u202c שלום \u2067עולם\u2069 ١٢٣\n" * 120,
    "marks that combine": "Z\u0351\u036b\u0343\u036a\u0302 e\u0301 ह\u093f\u0902 ก\u0e33\u0e49 \u0300\n" * 120,
    "blanks": " \t\u00a0\u2003\u3000\u200b\ufeff\u2028\u2029\x85\n" * 200,
    "our own signs": "␛41; ␛ ↵ ↵↵ ␛110002; ─ ── ▶ PALIMPSEST-2 \n" * 120,
    "the last planes": "\U0001f98a\U0002a6d6\U000e0001\U000f0000\U0010ffff\ufffe\uffff" * 200,
}
ALL_MODES = [*MODES.values(), *DENSE_MODES.values()]
every_mode = pytest.mark.parametrize("mode", ALL_MODES, ids=lambda mode: f"{mode.name}-{mode.cell.name}")


def read_back(pictures: list[bytes]) -> str:
    readings = [read_exact(picture) for picture in pictures]
    assert {reading.trust for reading in readings} <= {Trust.EXACT}
    return "".join(reading.text for reading in readings)


def drawn(text: str, mode: Mode) -> list[bytes]:
    return [render_page(sheet, ID, number).png for number, sheet in enumerate(page_sheets([LayoutText(text)], mode), 1)]


@every_mode
@pytest.mark.parametrize("kind", CORPUS)
def test_a_file_comes_back_to_the_byte(kind: str, mode: Mode) -> None:
    assert read_back(drawn(CORPUS[kind], mode)) == CORPUS[kind]


@pytest.mark.parametrize("mode", [MODES["large"], DENSE_MODES["large"]], ids=lambda mode: mode.cell.name)
def test_a_line_of_a_million_characters_comes_back(mode: Mode) -> None:
    line = "".join(random.Random(5).choices("the quick 敏捷的 fox🦊 ", k=1_000_000))
    assert read_back(drawn(line, mode)) == line


@every_mode
def test_a_conversation_of_them_all_comes_back_entry_by_entry(mode: Mode) -> None:
    said = [
        LayoutText(text[:2500], EntryHead(f"e_{key}", kind, "user", datetime(2026, 3, 14, tzinfo=UTC)), key)
        for key, (kind, text) in enumerate(CORPUS.items())
    ]
    found: dict[str, str] = {}
    for number, sheet in enumerate(page_sheets(said, mode), 1):
        reading = read_exact(render_page(sheet, ID, number).png)
        assert reading.trust is Trust.EXACT
        ends = [head.begin - 1 for head in reading.heads[1:]] + [len(reading.text)]
        for head, end in zip(reading.heads, ends, strict=True):
            assert head.head is not None
            found[head.head.speaker] = found.get(head.head.speaker, "") + reading.text[head.end : end]
    assert found == {kind: text[:2500] for kind, text in CORPUS.items()}


def again(png: bytes, **options: object) -> bytes:
    """The picture written anew by another program: no metadata, other compression."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        bare = Image.frombytes(image.mode, image.size, image.tobytes())
    bare.save(buffer, "PNG", **options)
    return buffer.getvalue()


REWRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "optimised": lambda png: again(png, optimize=True),
    "compressed hard": lambda png: again(png, compress_level=9),
    "stored": lambda png: again(png, compress_level=0),
}


@every_mode
@pytest.mark.parametrize("way", REWRITTEN)
def test_a_picture_written_anew_without_metadata_reads_exactly(way: str, mode: Mode) -> None:
    text = "".join(CORPUS[kind][:300] for kind in CORPUS)
    pictures = drawn(text, mode)
    rewritten = [REWRITTEN[way](png) for png in pictures]
    assert rewritten != pictures
    assert read_back(rewritten) == text
