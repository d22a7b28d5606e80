"""`archive --png DIR --layout natural`: pages for people beside those that are read back."""

from pathlib import Path

from memory.pages.font.glyphs import load_glyphs
from memory.pages.read.exact import read_cells
from memory.pages.render.modes import DENSE
from memory.pages.render.png import decode
from memory.pages.render.raster import cells_of
from tests.agent.conftest import Run


def test_the_pictures_in_the_folder_show_lines_as_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("milk\nbread\ntea\n")
    said = run(
        "archive",
        str(tmp_path / "list.txt"),
        "--dense",
        "--png",
        str(tmp_path / "out"),
        "--layout",
        "natural",
        "--json",
    )
    assert said.status == 0, said.err
    (picture,) = (tmp_path / "out").iterdir()
    assert said.json["copies"] == [str(picture)]
    assert picture.name == "list-natural-0001.png"
    ink = decode(picture.read_bytes())
    codes = read_cells(cells_of(ink, DENSE), load_glyphs(DENSE)).reshape(ink.shape[0] // DENSE.height, -1)
    assert ["".join(map(chr, row[:5])).rstrip() for row in codes[2:4]] == ["milk", "bread"]


def test_a_layout_without_a_folder_is_a_misuse(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("milk\n")
    said = run("archive", str(tmp_path / "list.txt"), "--layout", "natural", "--json")
    assert (said.status, said.json["error"]["code"]) == (2, "misuse")
