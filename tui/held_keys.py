"""Keys that come while a screen opens: they are held, and then given to that screen in their order.

An action opens its screen in a worker, and the screen composes its widgets in a task of its own: what is typed in
between would go to the prompt, or nowhere.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.worker import Worker

from tui.typed_app import app_of

_POLL_S: Final = 0.005
HELD_AT_MOST_S: Final = 5.0  # then keys go where the focus is: whatever hangs, Ctrl+C must arrive


class HeldKeys:
    """The keys of one application. `handle` handles an event of a key, or a paste."""

    def __init__(self, app: App[None], handle: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app = app
        self._handle = handle
        self._held: deque[events.Event] = deque()
        self._opening: list[Callable[[], bool]] = []  # whether each screen or bar that is being opened is there
        self._release: asyncio.Task[None] | None = None

    def until(self, is_open: Callable[[], bool]) -> None:
        """Holds the keys that come from now on until `is_open`, and the screen on top is ready."""
        self._opening.append(is_open)
        self._begin()

    def takes(self, event: events.Key | events.Paste) -> bool:
        """Whether the event is held. Its handling follows."""
        if event.is_forwarded:
            return False
        if self._release is None and self._is_composed:
            return False
        self._held.append(event)
        self._begin()
        return True

    def stop(self) -> None:
        """Drops what is held: the application ends."""
        if self._release is not None:
            self._release.cancel()

    @property
    def _is_composed(self) -> bool:
        stack = self._app.screen_stack
        return not stack or stack[-1].is_mounted

    def _begin(self) -> None:
        if self._release is None:
            self._release = asyncio.create_task(self._give())

    async def _give(self) -> None:
        """Waits for what opens, then gives the keys one by one: each may open a screen of its own."""
        try:
            await self._wait()
            while self._held:
                await self._handle(self._held.popleft())
                await self._wait()
        finally:
            self._opening.clear()
            self._release = None

    async def _wait(self) -> None:
        end = time.monotonic() + HELD_AT_MOST_S
        waits = False
        while time.monotonic() < end and not (self._is_composed and all(is_open() for is_open in self._opening)):
            waits = True
            await asyncio.sleep(_POLL_S)
        self._opening.clear()
        if waits and self._app.screen_stack:
            await self._focused(max(end - time.monotonic(), _POLL_S))

    async def _focused(self, limit: float) -> None:
        """Waits until the screen has its focus, which it asks for when it is mounted."""
        is_done = asyncio.Event()
        self._app.screen.call_later(lambda: self._app.call_later(is_done.set))
        try:
            await asyncio.wait_for(is_done.wait(), limit)
        except TimeoutError:
            return


def hold_keys(node: DOMNode, worker: Worker[Any]) -> None:
    """Holds the keys until the worker has opened a screen, or has ended."""
    app = app_of(node)
    before = app.screen
    hold_keys_until(node, lambda: worker.is_finished or app.screen is not before)


def hold_keys_until(node: DOMNode, is_open: Callable[[], bool]) -> None:
    """Holds the keys until something is there that opens."""
    held = getattr(app_of(node), "held_keys", None)  # a widget may be tested in another application
    if isinstance(held, HeldKeys):
        held.until(is_open)
