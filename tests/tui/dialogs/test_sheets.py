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
from agent.permissions.action import Access, Action, PersonQuestion
from tests.tui.displayed import displayed_lines
from tui.app import PalimpsestApp
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.trust import ChangesScreen, LinkScreen, ServerScreen, TrustScreen
from tui.themes.own import DARK, THEMES

LONG = "很长的路径/项目资料/🏺陶器/" * 9
FACTS = (f"It runs: python3 -m server --root '{LONG}'", "It gets the variables: TOKEN")
ACTION = Action(tool="run_command", access=Access.RUN, summary=f"run ls {LONG}", detail=f"ls {LONG}")
DIALOGS: dict[str, Callable[[], Screen[Any]]] = {
    "choices": lambda: ChoicesScreen("模型 🤖", [ChoiceItem("a", LONG, LONG), ChoiceItem("b", "b")]),
    "proposal": lambda: ProposalScreen("Archive 归档", [("turns", LONG), ("pages", "3 🏺")]),
    "limit": lambda: GoOnScreen(CallLimitReached(200, 200, asyncio.get_running_loop().create_future()).question),
    "repetition": lambda: GoOnScreen(
        CallLimitReached(10, 10, asyncio.get_running_loop().create_future(), "mcp__文件_🏺").question
    ),
    "permission": lambda: PermissionScreen(ACTION, "No rule decides.", offers=["run_command(ls *)"]),
    "question": lambda: QuestionScreen(PersonQuestion(LONG, ("是 ✅", "否 ❌"))),
    "trust": lambda: TrustScreen(FACTS),
    "changes": lambda: ChangesScreen(FACTS),
    "link": lambda: LinkScreen("MEMORY.md", LONG, "It is read."),
    "server": lambda: ServerScreen("文件-files 📁", FACTS, is_changed=False),
}


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
@pytest.mark.parametrize("kind", DIALOGS)
async def test_a_dialog_stands_in_the_middle(kind: str, size: tuple[int, int]) -> None:
    class Asking(App[None]):
        CSS_PATH: ClassVar = [Path(tui.app.__file__).parent / path for path in PalimpsestApp.CSS_PATH]

    app = Asking()
    for theme in THEMES:
        app.register_theme(theme)
    app.theme = DARK
    async with app.run_test(size=size) as pilot:
        await app.push_screen(DIALOGS[kind]())
        await pilot.pause()
        sheet = app.screen.query_one(".sheet").region
        width, height = size
        assert app.screen.region.contains_region(sheet)
        assert abs(sheet.x - (width - sheet.right)) <= 1, "as far from the left as from the right"
        assert abs(sheet.y - (height - sheet.bottom)) <= 1, "as far from the top as from the bottom"
        assert any("Esc" in line or "Enter" in line for line in displayed_lines(app)), "the keys are seen"
