"""The terminal in memory draws the same however its input is cut."""

import pyte
import pytest

from tests.tui.emulator import Emulator, cells

FAMILY = "👩\u200d👩\u200d👧"
OUTPUT = f"\x1b[31mof {FAMILY} 👩\u200d💻 ❤️ 1️⃣\x1b[0me\u0301 \x1b[2;3H页\u200b🇩🇪 x"


def drawn(step: int) -> Emulator:
    screen = Emulator(30, 3)
    stream = pyte.ByteStream(screen)
    data = OUTPUT.encode()
    for start in range(0, len(data), step):
        stream.feed(data[start : start + step])
    return screen


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7])
def test_parts_of_any_size_draw_the_same(step: int) -> None:
    assert cells(drawn(step)) == cells(drawn(1000))


def test_a_cluster_takes_its_own_cells() -> None:
    assert drawn(1).display[0].startswith(f"of {FAMILY} 👩\u200d💻 ❤️ 1️⃣e\u0301 ")
