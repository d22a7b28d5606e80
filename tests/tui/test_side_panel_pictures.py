"""Pictures of the panel beside the conversation. `pytest --snapshot-update` takes them anew; look at them before."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.services.panel_figures import PanelFigures, SpentToday, TouchedFile
from foundation.paths import Workspace
from tests.tui.chat.test_side_panel import wide_session
from tests.tui.test_snapshots import resting
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart

FIGURES = PanelFigures(
    (
        TouchedFile("src/heating/boiler_schedule.py", "a", "b", 41, 7),
        TouchedFile("docs/家/锅炉保养记录和保修单 🔧/很长的名字-2027.md", "", "b", 1_204, 0),
    ),
    SpentToday(182_300, "1.20 USD"),
)


def picture(
    snap_compare: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    act: Callable[[Pilot[None]], Awaitable[None]],
    size: tuple[int, int],
) -> bool:
    monkeypatch.setattr("tui.chat.start.short_path", lambda _: "~/notes")
    monkeypatch.setattr("tui.chat.side_panel.panel_figures", lambda *_: FIGURES)
    session = wide_session()

    async def opened() -> Any:
        return session

    start = ChatStart(workspace=Workspace(tmp_path), model="offline", working_directory=tmp_path, new_workspace=True)
    app = PalimpsestApp(start, opened, theme="palimpsest")

    async def before(pilot: Pilot[None]) -> None:
        await resting(app)
        app.chat.queue.add("When is the boiler serviced? 锅炉什么时候保养？")
        await resting(app)
        await act(pilot)
        await pilot.pause(0.2)

    return snap_compare(app, run_before=before, terminal_size=size)


async def nothing(_: Pilot[None]) -> None:
    """As it is after a turn."""


async def with_the_keys(pilot: Pilot[None]) -> None:
    await pilot.press("f6", "down", "down", "down", "down", "enter", "up")


def test_the_panel_after_a_turn(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert picture(snap_compare, monkeypatch, tmp_path, nothing, (200, 50))


def test_the_panel_with_the_keys_and_a_folded_part(
    snap_compare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert picture(snap_compare, monkeypatch, tmp_path, with_the_keys, (200, 50))


def test_a_small_screen_has_no_panel(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert picture(snap_compare, monkeypatch, tmp_path, nothing, (80, 24))
