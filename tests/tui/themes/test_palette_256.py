"""In a terminal of 256 colours our grounds stay neutral."""

import pytest
from textual.theme import Theme

from tests.tui.conftest import Open
from tui.themes.own import DARK, LIGHT, THEMES
from tui.themes.palette_256 import is_neutral, with_greys

OURS = {theme.name: theme for theme in THEMES}


@pytest.mark.parametrize("theme", THEMES, ids=lambda it: it.name)
def test_grounds_are_neutral(theme: Theme) -> None:
    shown = with_greys(theme)
    assert is_neutral(shown.background or "")
    assert is_neutral(shown.panel or "")


def test_a_colour_stays_where_it_is_one_or_has_a_grey_cell() -> None:
    shown = with_greys(OURS[LIGHT])
    assert shown.background == OURS[LIGHT].background
    assert shown.accent == OURS[LIGHT].accent
    assert shown.variables["selection"] == OURS[LIGHT].variables["selection"]
    assert with_greys(OURS[DARK]) == OURS[DARK]


@pytest.mark.parametrize(("system", "panel"), [("256", "#e8e8e8"), ("truecolor", "#eee7da")])
async def test_the_application_asks_its_terminal(
    system: str, panel: str, open_chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", system)
    async with open_chat(theme=LIGHT) as chat:
        assert chat.app.theme_variables["panel"].lower() == panel
