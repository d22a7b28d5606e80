"""Pictures that look like pages and are none: given up on in bounded time, with a sentence that says why."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from memory.errors import NotAPage
from memory.pages.read.nearest import reader
from memory.pages.read.nearest.reader import read_nearest
from tests.hostile.measured import Measured, measured
from tests.hostile.picture_bombs import ENGLISH, ruled, swapped, tiled, turned

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="memory is measured with wait4"),
]
MOST_CPU = 25.0  # seconds: 15 for the reading, and what the program and its glyph tables take to load
MOST_MB = 700
LIMITS, LIMITS_IN_EVERY_RUN = (12.0, 15.0), (2.4, 3.0)
"""CPU seconds after which the reader begins no other grid, and after which it ends: as released, and a fifth."""
SOAK = pytest.mark.soak  # 5 to 15 seconds of CPU each
TURNED = "but its cells could not be read"
NO_GRID = "No grid of page cells was"


def recalled(folder: Path, picture: Image.Image, limits: tuple[float, float] = LIMITS) -> Measured:
    """By our own readers, within the limits. One thread computes, so that its seconds are the process's."""
    file = folder / "picture.png"
    picture.save(file)
    program = (
        "import sys; from agent.cli import main; from memory.pages.read.nearest import reader\n"
        f"reader._LONGEST, reader._TOO_LONG = {limits}\n"
        "sys.exit(main())"
    )
    words = ["--workspace", str(folder / "room"), "recall", str(file), "--json", "--engine", "nearest"]
    environment = {"PALIMPSEST_CONFIG_DIR": str(folder / "config"), "OPENBLAS_NUM_THREADS": "1"}
    return measured([sys.executable, "-c", program, *words], environment, seconds=160)


@pytest.mark.parametrize(
    ("make", "sentence", "limits"),
    [
        pytest.param(
            lambda: turned(1), TURNED, LIMITS_IN_EVERY_RUN, id="a page turned by a degree, a fifth of the time"
        ),
        pytest.param(lambda: turned(1), TURNED, LIMITS, id="a page turned by a degree", marks=SOAK),
        pytest.param(
            lambda: turned(0.3, ENGLISH, "base"), TURNED, LIMITS, id="a page turned by a third of a degree", marks=SOAK
        ),
        pytest.param(lambda: turned(1, dense=True), TURNED, LIMITS, id="a dense page turned", marks=SOAK),
        pytest.param(ruled, NO_GRID, LIMITS, id="lines at the pitch of our cells"),
        pytest.param(tiled, NO_GRID, LIMITS, id="more columns than a page has", marks=SOAK),
    ],
)
def test_what_is_no_page_is_given_up_soon(
    tmp_path: Path, make: Callable[[], Image.Image], sentence: str, limits: tuple[float, float]
) -> None:
    ended = recalled(tmp_path, make(), limits)
    assert ended.status != 0
    assert sentence in ended.err + ended.out
    assert ended.cpu < MOST_CPU - LIMITS[1] + limits[1], ended
    assert ended.peak_mb < MOST_MB, ended


@pytest.mark.parametrize("mode", ["tiny", pytest.param("large", marks=SOAK)])
@pytest.mark.parametrize("dense", [False, True])
def test_a_page_with_two_cells_swapped_is_read_soon_and_is_not_exact(tmp_path: Path, dense: bool, mode: str) -> None:
    ended = recalled(tmp_path, swapped(mode=mode, dense=dense))
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["hits"][0]["trust"] == "approximate"
    assert ended.cpu < MOST_CPU, ended
    assert ended.peak_mb < MOST_MB, ended


def test_a_reading_ends_in_the_middle_where_its_time_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_TOO_LONG", 0.05)
    file = io.BytesIO()
    swapped().save(file, "PNG")
    with pytest.raises(NotAPage, match=r"within 0\.05 seconds"):
        read_nearest(file.getvalue())
