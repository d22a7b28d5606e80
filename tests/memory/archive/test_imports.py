"""Nobody pays for pages before a page is drawn or read."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

LOADED = "import sys; {}; print([name for name in ('numpy', 'PIL', 'zstandard') if name in sys.modules])"


@pytest.mark.parametrize("room", ["memory", "memory.archive", "memory.pages.types", "memory.archive.vault"])
def test_importing_a_room_loads_nothing_heavy(room: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", LOADED.format(f"import {room}")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[]"
