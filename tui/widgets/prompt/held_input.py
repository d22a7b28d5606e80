"""Keys and pastes that the prompt holds while a text is on its way into it: they are typed after that text."""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from textual import events

HELD: Final = frozenset(
    {"enter", "shift+enter", "alt+enter", "ctrl+j", "backspace", "delete", "left", "right", "up", "down", "home", "end"}
)
"""Keys that are held besides the printable ones. The others, such as Esc, work at once."""


class HeldInput:
    """The held keys and pastes of a prompt, in their order."""

    def __init__(self, type_key: Callable[[events.Key], Awaitable[None]], paste_text: Callable[[str], None]) -> None:
        """`type_key` and `paste_text` put them into the prompt."""
        self._type_key, self._paste_text = type_key, paste_text
        self._events: deque[events.Key | events.Paste] = deque()
        self._holders = 0
        self.typed = 0  # keys and pastes so far that may have changed the text
        self._handled: events.Key | events.Paste | None = None  # the one that is typed now

    @property
    def has_input(self) -> bool:
        return bool(self._events)

    def takes(self, event: events.Key | events.Paste) -> bool:
        """Keeps the event for later; False where it is to be handled now."""
        if event is not self._handled and (isinstance(event, events.Paste) or event.is_printable):
            self.typed += 1
        if event is self._handled or not (self._holders or self._events or self._handled):
            return False
        if isinstance(event, events.Key) and not (event.is_printable or event.key in HELD):
            return False
        self._events.append(event)
        event.stop()
        event.prevent_default()
        return True

    @asynccontextmanager
    async def until_filled(self) -> AsyncGenerator[None, None]:
        """Holds what is typed meanwhile, and types it at the end."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                await self._type()

    async def _type(self) -> None:
        while self._events and not self._holders:
            self._handled = event = self._events.popleft()
            try:
                if isinstance(event, events.Key):
                    await self._type_key(event)
                else:
                    self._paste_text(event.text)
            finally:
                self._handled = None
