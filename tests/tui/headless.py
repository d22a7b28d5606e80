"""Less work for an application without a terminal, which took 40 % of the CPU time of its tests.

A frame is drawn when a test pauses or reads the screen, instead of up to sixty times a second. A style sheet is parsed
once in a process instead of by each application. Tests in a pty draw every frame.
"""

# ruff: noqa: SLF001 - Textual has no setting for either

from collections.abc import Hashable
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen

_refresh = Screen._compositor_refresh
_pause = Pilot.pause
_parse = Stylesheet._parse_rules
_parsed: dict[Hashable, list[Any]] = {}


def draw_at_pauses() -> None:
    """Changes Textual for all headless applications of this process."""
    Screen._compositor_refresh = _deferred  # type: ignore[method-assign]  # Textual has no setting for it
    Pilot.pause = _paused  # type: ignore[method-assign]  # Textual has no setting for it
    Stylesheet._parse_rules = _shared  # type: ignore[method-assign]  # Textual has no setting for it


def draw_every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test that counts frames."""
    monkeypatch.setattr(Screen, "_compositor_refresh", _refresh)


def _deferred(screen: Screen[Any]) -> None:
    """Keeps the dirty regions for the next frame that is drawn."""
    app = screen.app
    if app.is_headless and screen is app.screen:
        screen._dirty_widgets.clear()
        app._update_mouse_over(screen)
    else:
        _refresh(screen)


async def _paused(pilot: Pilot[Any], delay: float | None = None) -> None:
    await _pause(pilot, delay)
    _refresh(pilot.app.screen)


def _shared(sheet: Stylesheet, css: str, *given: Any, **named: Any) -> list[Any]:
    """Parsed rules are immutable: Textual itself caches them within an application."""
    key = (css, given, frozenset(named.items()), frozenset(sheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, css, *given, **named)
    return _parsed[key]
