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
SOAK = pytest.mark.soak  # 15 seconds of CPU each
TURNED = "A page's first words stand in the picture, but its cells could not be read"
NO_GRID = "No grid of our cells was found in the picture"


def recalled(folder: Path, picture: Image.Image) -> Measured:
    """By our own readers. One thread computes, so that its seconds are the process's."""
    file = folder / "picture.png"
    picture.save(file)
    command = [sys.executable, "-m", "agent.cli", "--workspace", str(folder / "room"), "recall", str(file), "--json"]
    environment = {"PALIMPSEST_CONFIG_DIR": str(folder / "config"), "OPENBLAS_NUM_THREADS": "1"}
    return measured([*command, "--engine", "nearest"], environment, seconds=160)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(lambda: turned(1), TURNED, id="a page turned by a degree"),
        pytest.param(
            lambda: turned(0.3, ENGLISH, "base"), TURNED, id="a page turned by a third of a degree", marks=SOAK
        ),
        pytest.param(lambda: turned(1, dense=True), TURNED, id="a dense page turned", marks=SOAK),
        pytest.param(ruled, NO_GRID, id="lines at the pitch of our cells"),
        pytest.param(tiled, NO_GRID, id="more columns than a page has", marks=SOAK),
    ],
)
def test_what_is_no_page_is_given_up_soon(tmp_path: Path, make: Callable[[], Image.Image], sentence: str) -> None:
    ended = recalled(tmp_path, make())
    assert ended.status != 0
    assert sentence in ended.err + ended.out
    assert ended.cpu < MOST_CPU, ended
    assert ended.peak_mb < MOST_MB, ended


@pytest.mark.parametrize("dense", [False, True])
def test_a_page_with_two_cells_swapped_is_read_soon_and_is_not_exact(tmp_path: Path, dense: bool) -> None:
    ended = recalled(tmp_path, swapped(dense=dense))
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
