"""Pages and packs damaged at random: every damage is found, and no false text is given out as exact."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.trust import Trust
from memory.errors import MemoryFailure
from memory.memory import Memory
from memory.pages.read.reader import read_picture
from memory.pages.types import PageRow
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived, problems

HOWS = ("flip", "flips", "rectangle", "cut", "swap", "zeros")


def damaged(whole: bytes, how: str, chance: random.Random) -> bytes:
    """The file with something wrong in it, never the same bytes."""
    raw = bytearray(whole)
    at = chance.randrange(len(raw))
    match how:
        case "flip":
            raw[at] ^= 1 << chance.randrange(8)
        case "flips":
            for _ in range(chance.randrange(2, 200)):
                raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        case "rectangle":  # of a stored 1-bit PNG: some bytes in each of some rows
            stride, wide = 129, chance.randrange(1, 60)
            for row in range(chance.randrange(1, 100)):
                begin = at + row * stride
                raw[begin : begin + wide] = bytes(byte ^ 0xFF for byte in raw[begin : begin + wide])
        case "cut":
            del raw[at:]
        case "swap":
            length = min(chance.randrange(1, 400), len(raw) // 2)
            a, b = sorted(chance.sample(range(0, len(raw) - length, 1), 2))
            b = max(b, a + length)
            raw[a : a + length], raw[b : b + length] = raw[b : b + length], raw[a : a + length]
        case _:
            raw[at : at + chance.randrange(1, 4000)] = b""
    return bytes(raw) if bytes(raw) != whole else damaged(whole, "flip", chance)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound") / "workspace"
    memory, _ = archived(root, FakeClock())
    memory.close()
    return root


COUNTS = [
    pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(60)]),
    pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(900)]),
]


@pytest.mark.parametrize("count", COUNTS)
def test_a_damaged_pack_is_found_and_gives_out_nothing_false(sound: Path, tmp_path: Path, count: int) -> None:
    shutil.copytree(sound, tmp_path / "copy")
    memory = Memory.open(Workspace(tmp_path / "copy"), FakeClock())
    rows = memory.vault.pages()
    texts = {row.id: memory.vault.read_page(row.id).text for row in rows}
    memory.close()
    chance, seen = random.Random(count), Counter[str]()
    for n in range(count):
        path = memory.workspace.packs / chance.choice([row.pack for row in rows])
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, HOWS[n % len(HOWS)], chance))
        memory = Memory.open(memory.workspace, FakeClock())
        seen["found"] += any(path.name in one for one in problems(memory))
        seen["false"] += sum(reads_false(memory, row, texts[row.id]) for row in rows if row.pack == path.name)
        memory.close()
        path.write_bytes(whole)
    assert (seen["found"], seen["false"]) == (count, 0)


def reads_false(memory: Memory, row: PageRow, text: str) -> bool:
    """Whether the vault gives out another text as the page's own."""
    try:
        page = memory.vault.read_page(row.id)
    except MemoryFailure:
        return False
    return page.trust is not Trust.APPROXIMATE and page.text != text


@pytest.mark.parametrize(
    ("count", "engine"),
    [
        pytest.param(100, "cells", marks=[pytest.mark.slow, pytest.mark.timeout(60)]),
        pytest.param(1000, "cells", marks=[pytest.mark.soak, pytest.mark.timeout(900)]),
        pytest.param(100, "auto", marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_a_damaged_picture_gives_out_nothing_false(sound: Path, count: int, engine: str) -> None:
    memory = Memory.open(Workspace(sound), FakeClock())
    pictures = [
        (memory.vault.png(row.id).read_bytes(), memory.vault.read_page(row.id).text) for row in memory.vault.pages()
    ]
    memory.close()
    chance, seen = random.Random(count), Counter[str]()
    for n in range(count):
        whole, text = chance.choice(pictures)
        try:
            page = read_picture(damaged_pixels(whole, HOWS[n % len(HOWS)], chance), engine=engine)
        except MemoryFailure:
            seen["refused"] += 1
            continue
        seen[page.trust.value] += 1
        assert page.trust is Trust.APPROXIMATE or page.text == text
    assert seen["refused"] + seen["approximate"] > 0


def damaged_pixels(png: bytes, how: str, chance: random.Random) -> bytes:
    """The picture with damaged pixels, every checksum of the file made right: nothing but the page itself can tell."""
    import numpy as np

    from memory.pages.render.png import decode, encode_png

    ink = decode(png)
    raw = np.frombuffer(damaged(ink.tobytes(), how, chance).ljust(ink.size, b"\x00")[: ink.size], np.uint8)
    return encode_png(raw.reshape(ink.shape))
