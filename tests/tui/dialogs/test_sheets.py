"""Each dialog stands in the middle of the screen, whole, with the keys that answer it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.app import App
from textual.screen import Screen

import tui.app
from agent.events import CallLimitReached
from tests.tui.displayed import displayed_lines
from tests.tui.screens import DIALOGS
from tui.app import PalimpsestApp
from tui.dialogs.confirm import GoOnScreen
from tui.themes.own import DARK, THEMES


def limit(*limits: Any) -> GoOnScreen:
    return GoOnScreen(CallLimitReached(*limits[:2], asyncio.get_running_loop().create_future(), *limits[2:]).question)


SHEETS: dict[str, Callable[..., Screen[Any]]] = {
    **DIALOGS,
    "limit of calls": lambda *_: limit(200, 200),
    "repetition": lambda *_: limit(10, 10, "mcp__文件_🏺"),
}


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
@pytest.mark.parametrize("kind", SHEETS)
async def test_a_dialog_stands_in_the_middle(kind: str, size: tuple[int, int]) -> None:
    class Asking(App[None]):
        CSS_PATH: ClassVar = [Path(tui.app.__file__).parent / path for path in PalimpsestApp.CSS_PATH]

    app = Asking()
    for theme in THEMES:
        app.register_theme(theme)
    app.theme = DARK
    async with app.run_test(size=size) as pilot:
        await app.push_screen(SHEETS[kind](app, None))
        await pilot.pause()
        sheet = app.screen.query_one(".sheet").region
        width, height = size
        assert app.screen.region.contains_region(sheet)
        assert abs(sheet.x - (width - sheet.right)) <= 1, "as far from the left as from the right"
        assert abs(sheet.y - (height - sheet.bottom)) <= 1, "as far from the top as from the bottom"
        assert any("Esc" in line or "Enter" in line for line in displayed_lines(app)), "the keys are seen"
