"""Themes of the person: YAML files, with a sentence for what is wrong in one."""

from pathlib import Path

import pytest

from tui.themes.files import load_themes


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_theme_needs_only_one_colour(tmp_path: Path) -> None:
    written(tmp_path, "pottery.yaml", 'primary: "#b5651d"\n')
    themes, problems = load_themes(tmp_path)
    assert ([(theme.name, theme.primary, theme.dark) for theme in themes], problems) == (
        [("pottery", "#b5651d", True)],
        [],
    )


def test_all_its_fields_are_taken(tmp_path: Path) -> None:
    written(tmp_path, "day.yml", 'primary: blue\nbackground: "#ffffff"\ndark: false\nvariables:\n  muted: "#555555"\n')
    ((theme,), problems) = load_themes(tmp_path)
    assert (theme.background, theme.dark, theme.variables, problems) == ("#ffffff", False, {"muted": "#555555"}, [])


def test_no_folder_is_no_theme(tmp_path: Path) -> None:
    assert load_themes(tmp_path / "themes") == ([], [])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "primary: purplish\n", "line 1: 'purplish' is not a colour."),
        ("a.yaml", "background: blue\n", "missing required field `primary`"),
        ("a.yaml", "primary: blue\ncolour: red\n", "line 2: A theme has no field “colour”."),
        ("a.yaml", "primary: blue\ndark: perhaps\n", "`$.dark`"),
        ("a.yaml", "primary: [blue]\n", "is not a colour"),
        ("a.yaml", "primary: blue\nvariables:\n  muted: [1]\n", "line 3: [1] is not a colour."),
        ("a.yaml", "- blue\n", "line 1"),
        ("a b.yaml", "primary: blue\n", "Its name is not valid for a theme."),
        ("a.yaml", 'primary: "\n', "line"),
    ],
)
def test_a_file_that_is_no_theme_is_named_and_the_others_are_taken(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, name, text)
    written(tmp_path, "z.yaml", "primary: blue\n")
    themes, (problem,) = load_themes(tmp_path)
    assert [theme.name for theme in themes] == ["z"]
    assert str(path) in problem
    assert said in problem
