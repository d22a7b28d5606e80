"""A page's picture says what its pixels prove, and nothing proves who drew them."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory
from memory.pages.read.reader import read_picture
from tests.agent.conftest import Run

TEXT = "\n".join(f"Line {n}: the boiler firm asks for 1250 kroner, to be paid in May." for n in range(20))
NOT_KNOWN = "This page is not in this workspace, so its source cannot be verified."


@pytest.fixture
def drawn(root: Path, run: Run) -> Path:
    """A page of the workspace at `root`."""
    memory = Memory.open(Workspace(root))
    page = memory.vault.archive_text(as_given(TEXT), label="bill", mode="tiny").pages[0]
    path = memory.vault.png(page.id)
    memory.close()
    return path


def test_outside_of_any_workspace_a_page_is_said_to_be_unknown(drawn: Path, bare: Run) -> None:
    ran = bare("recall", str(drawn))
    assert (ran.out, NOT_KNOWN in ran.err) == (TEXT, True)
    (hit,) = bare("recall", str(drawn), "--json").json["hits"]
    assert (hit["trust"], hit["told"]) == ("exact", [NOT_KNOWN])


def test_in_its_own_workspace_it_is_known(drawn: Path, run: Run) -> None:
    (hit,) = run("recall", str(drawn), "--json").json["hits"]
    assert (hit["trust"], hit["told"]) == ("exact", [])


def test_in_another_workspace_it_is_unknown_on_the_command_line_and_in_the_chat(
    drawn: Path, bare: Run, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    assert bare("init", str(other)).status == 0
    Memory.open(Workspace(other)).close()
    (hit,) = bare("--workspace", str(other), "recall", str(drawn), "--json").json["hits"]
    assert hit["told"] == [NOT_KNOWN]
    assert NOT_KNOWN in bare("--workspace", str(other), "-p", f"/recall {drawn}").out


@pytest.mark.timeout(60)  # the second reader measures the picture: seconds where others use the cores
def test_a_pixel_that_was_changed_is_said_with_its_line(drawn: Path, tmp_path: Path) -> None:
    ink = np.array(Image.open(drawn).convert("L"))
    ink[100, 100] ^= 0xFF
    raw = io.BytesIO()
    Image.fromarray(ink).convert("1").save(raw, "PNG")
    found = read_picture(raw.getvalue())
    assert (found.text, found.trust) == (TEXT, "exact")
    assert found.warnings[0].startswith("The picture was altered in line ")
    assert "its pixels differ from the page" in found.warnings[0]


@pytest.mark.timeout(60)  # as above
def test_a_page_that_was_only_compressed_or_scaled_is_not_called_altered(drawn: Path) -> None:
    page = Image.open(drawn).convert("L")
    raw = io.BytesIO()
    page.resize((int(page.width * 1.3),) * 2, Image.Resampling.BICUBIC).save(raw, "JPEG", quality=70)
    found = read_picture(raw.getvalue())
    assert (found.text, found.trust, found.warnings) == (TEXT, "exact", ())
