"""What is done before a picture is taken."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from tui.app import PalimpsestApp

Act = Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]]


async def idle(app: PalimpsestApp) -> None:
    """Until the session stands and nothing goes on."""
    async with asyncio.timeout(20):
        while not app.chat.is_idle:
            await asyncio.sleep(0.01)


async def at_end(app: PalimpsestApp, pilot: Pilot[None]) -> None:
    """Until two pauses find the same end of the transcript: keys that scroll begin there."""
    transcript, before = app.chat.transcript, None
    async with asyncio.timeout(20):
        while before != (now := (transcript.line_cache.total, transcript.size, transcript.scroll_y)) or (
            transcript.scroll_y < transcript.max_scroll_y
        ):
            before = now
            await pilot.pause()


async def shown(app: PalimpsestApp, pilot: Pilot[None], screen: type[Screen[Any]]) -> None:
    """Until that screen stands and its workers are done."""
    async with asyncio.timeout(20):
        while not isinstance(app.screen, screen) or any(
            one.is_running for one in app.workers if one.node is app.screen
        ):
            await pilot.pause(0.02)
    await pilot.pause()


def saying(text: str, *keys: str) -> Act:
    """A message with its whole answer, then keys."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add(text)
        await idle(app)
        if keys:
            await at_end(app, pilot)
        for key in keys:
            await pilot.press(key)

    return act


def pushing(create: Callable[[], Screen[Any]], *keys: str) -> Act:
    """A screen of its own, then keys."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        screen = create()
        app.push_screen(screen)
        await shown(app, pilot, type(screen))
        for key in keys:
            await pilot.press(key)
        await pilot.pause()

    return act


def pressing(*keys: str, opens: type[Screen[Any]]) -> Act:
    """Keys that open a screen."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await shown(app, pilot, opens)

    return act
