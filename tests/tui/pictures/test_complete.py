"""Every screen has a picture, every picture its test, and a picture that differs is reported."""

import ast
from pathlib import Path
from typing import Final

from tests.hostile.filled_screens import SCREENS
from tests.tui.pictures.conftest import PANELS, SHEETS, difference
from tests.tui.pictures.svg import panels_of, sheet

MODULES: Final = sorted(Path(__file__).parent.glob("test_*_pictures.py"))
ALIKE: Final = {"NoteScreen"}  # a PassageScreen of a note's file


def names_in(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef))
    return {name.removeprefix("test_") for name in names if name.startswith("test_")}


def test_every_screen_has_a_picture() -> None:
    named = {
        node.id
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name)
    }
    assert {screen.__name__ for screen in SCREENS} - named - ALIKE == set()


def test_every_picture_is_of_a_test() -> None:
    for module in MODULES:
        group = module.stem.removeprefix("test_").removesuffix("_pictures")
        assert {file.stem for file in (SHEETS / group).glob("*.svg")} == names_in(module), group


def test_every_sheet_has_all_sizes_and_themes() -> None:
    for file in SHEETS.rglob("*.svg"):
        panels = panels_of(file.read_text(encoding="utf-8"))
        for (size, theme), panel in zip(PANELS, panels, strict=True):
            assert f"<title>{size[0]}×{size[1]} {theme}</title>" in panel, file
        assert sheet(panels) == file.read_text(encoding="utf-8")


def test_a_difference_is_told_by_its_panel_and_line() -> None:
    file = SHEETS / "chat" / "an_error_is_one_panel.svg"
    known = panels_of(file.read_text(encoding="utf-8"))
    other = [known[0].replace("refused", "accepted"), *known[1:]]
    told = difference(known, other)
    assert told.startswith("80×24 in palimpsest:\n- ")
    assert "refused" in told
    assert "accepted" in told
    assert "120×36" not in told
