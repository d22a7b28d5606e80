"""Our variables for every theme: each is there, and what is text can be read."""

from typing import Final

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tui.themes.own import CONTRAST_DARK, CONTRAST_LIGHT, DARK, THEMES
from tui.themes.variables import READABLE, contrast, variables_for

OURS: Final = {theme.name: theme for theme in THEMES}
TEXTUAL: Final = [theme for theme in BUILTIN_THEMES.values() if not theme.ansi]
INKS: Final = ("accent-ink", "muted", "code-ink", "code-keyword", "code-string", "error-ink", "warning-ink", "good-ink")


@pytest.mark.parametrize(
    "theme", [theme for theme in BUILTIN_THEMES.values() if not theme.ansi], ids=lambda it: it.name
)
def test_text_can_be_read_in_every_theme_of_textual(theme: Theme) -> None:
    ground = Color.parse(theme.to_color_system().generate()["background"])
    variables = variables_for(theme)
    assert min(contrast(Color.parse(variables[name]), ground) for name in INKS) >= READABLE


@pytest.mark.parametrize("theme", THEMES, ids=lambda it: it.name)
def test_text_can_be_read_in_our_own_themes(theme: Theme) -> None:
    least = 7 if theme.name in {CONTRAST_DARK, CONTRAST_LIGHT} else READABLE  # WCAG AAA, AA
    ground = Color.parse(theme.background or "")
    assert [name for name in INKS if contrast(Color.parse(theme.variables[name]), ground) < least] == []


def test_each_variable_that_our_themes_name_is_worked_out_for_others() -> None:
    ours = {name for name in OURS[DARK].variables if not name.startswith(("input-", "screen-", "block-"))}
    assert ours <= set(variables_for(BUILTIN_THEMES["nord"]))
    assert ours <= set(variables_for(BUILTIN_THEMES["ansi-dark"]))


def test_a_terminals_own_colours_are_named_and_not_computed() -> None:
    assert all(value.startswith("ansi_") for value in variables_for(BUILTIN_THEMES["ansi-light"]).values())
