"""The chat screen over a scripted session, and keys to press."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from foundation.paths import Workspace
from tests.tui.displayed import displayed_lines
from tests.tui.fakes import FakeSession, answer
from tests.tui.headless import draw_at_pauses
from tui.app import PalimpsestApp
from tui.chat.screen import ChatScreen
from tui.chat.start import ChatStart
from tui.themes.terminal import TerminalGround

HERE = f"{Path(__file__).parent}{os.sep}"
draw_at_pauses()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A busy machine draws late: a screen's tests have a minute by the clock."""
    for item in items:
        if str(item.path).startswith(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(60))


class Chat:
    """A running chat screen: what a person does, and what they see."""

    def __init__(self, app: PalimpsestApp, session: FakeSession, pilot: Pilot[None]) -> None:
        self.app = app
        self.session = session
        self.pilot = pilot
        self.screen: ChatScreen = app.chat

    @property
    def lines(self) -> list[str]:
        """The transcript, all of it, as text."""
        cache = self.screen.transcript.line_cache
        return [(strip.text if (strip := cache.line(number)) else "").rstrip() for number in range(cache.total)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def seen(self) -> list[str]:
        """The whole screen as it stands."""
        return displayed_lines(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        for character in text:
            await self.pilot.press({"/": "slash", " ": "space", "@": "at"}.get(character, character))
        await self.pilot.pause()

    async def insert(self, text: str) -> None:
        """Puts the text in at the prompt's cursor at once, for tests that are not about typing."""
        self.screen.prompt.insert(text)
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        """Puts it in at the cursor and sends it; returns when it was taken."""
        await self.insert(text)
        before = self.said
        await self.press("enter")
        await self.until(lambda: self.said > before)

    @property
    def said(self) -> int:
        """How many things the screen has taken to be done."""
        return self.screen.queue.accepted

    async def until(self, holds: Callable[[], Any], within: float = 30) -> None:
        """Waits for what must come; fails where it does not."""
        async with asyncio.timeout(within):
            while not holds():
                await asyncio.sleep(0.01)
        await self.pilot.pause()

    async def quiet(self) -> None:
        """Until the session stands and nothing goes on."""
        await self.until(lambda: self.screen.is_idle)


Open = Callable[..., AbstractAsyncContextManager[Chat]]


@pytest.fixture
def open_chat(workspace: Workspace, tmp_path: Path) -> Open:
    """`async with open_chat(answers=…, size=…, **start) as chat`."""

    @asynccontextmanager
    async def opened(
        *,
        answers: Callable[[str], Sequence[Any]] = lambda text: answer(f"You said {text}."),
        session: FakeSession | None = None,
        size: tuple[int, int] = (80, 24),
        theme: str = "palimpsest",
        typed: str = "",  # before there was a screen
        notifications: bool = False,
        **start: Any,
    ) -> AsyncIterator[Chat]:
        fake = session or FakeSession(answers)

        async def open_session() -> Any:
            return fake

        begin = ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, **start)
        app = PalimpsestApp(begin, open_session, theme=theme, ground=TerminalGround(typed=typed))
        async with app.run_test(size=size, notifications=notifications) as pilot:
            chat = Chat(app, fake, pilot)
            await chat.quiet()
            yield chat

    return opened
