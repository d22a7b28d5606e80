"""The demonstration: it must prove what it says, and leave the person's own things alone."""

from pathlib import Path

import pytest

from agent.cli.demo_output import half_blocks
from agent.services.demo import DEMO_TEXT, PAGE_NAME, as_object, demonstrate, figures
from memory.archive import read_png
from tests.agent.conftest import Run


def test_the_picture_alone_gives_the_text_back(tmp_path: Path) -> None:
    shown = demonstrate(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [PAGE_NAME]
    assert shown.equal
    assert shown.trust == "exact"
    assert read_png(shown.picture).text == DEMO_TEXT
    assert shown.page.vision_tokens < shown.page.text_tokens


def test_a_text_that_came_back_otherwise_would_be_told(tmp_path: Path) -> None:
    import msgspec

    shown = msgspec.structs.replace(demonstrate(tmp_path), read_back=DEMO_TEXT[:-1])
    assert not as_object(shown)["equal"]
    assert "differs from the original:" in dict(figures(shown))["read back"]


def test_on_the_command_line_it_needs_no_workspace_and_makes_none(bare: Run, tmp_path: Path) -> None:
    said = bare("archive", "--demo", "--json")
    assert said.status == 0
    assert said.json["schema"] == 1
    assert said.json["text"] == said.json["read_back"] == DEMO_TEXT
    assert Path(said.json["picture"]).is_file()
    assert not list(tmp_path.rglob(".palimpsest"))


def test_without_a_terminal_it_names_the_picture_and_draws_none(bare: Run) -> None:
    said = bare("archive", "--demo")
    assert said.status == 0
    assert said.out.count("锅炉") == 2
    assert PAGE_NAME in said.out
    assert "▀" not in said.out
    assert "\x1b" not in said.out


def test_it_takes_no_file(bare: Run) -> None:
    assert bare("archive", "--demo", "letter.txt").status == 2


@pytest.mark.parametrize(("columns", "rows"), [(24, 12), (61, 5), (1, 1)])
def test_half_blocks_fit_their_cells(tmp_path: Path, columns: int, rows: int) -> None:
    lines = half_blocks(demonstrate(tmp_path).picture, columns, rows).plain.split("\n")
    assert len(lines) <= rows
    assert all(set(line) <= {"▀"} and len(line) <= columns for line in lines)
