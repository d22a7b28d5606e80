"""Asks for the attention of a person who looks at another window, when an answer is done or a question waits."""

import os
from collections.abc import Callable
from typing import Final

from textual.screen import Screen

from tui.output.notification import (
    BELL,
    NotifyKind,
    desktop_command,
    notification_text,
    run_desktop,
    terminal_notification,
)
from tui.typed_app import app_of, themed_app

DONE: Final = "is done"
ASKS: Final = "asks"


class Attention:
    """Notifies while the terminal is known not to have the focus."""

    def __init__(self, screen: Screen[None], kind: NotifyKind, title: Callable[[], str]) -> None:
        """`title` gives the title of the conversation, "" before its first message."""
        self._screen = screen
        self.kind: NotifyKind = kind
        self._title = title

    def call(self, event: str) -> None:
        """Notifies of DONE or ASKS; nothing where the terminal has the focus. Never waits."""
        app = app_of(self._screen)
        if app.app_focus or self.kind == "off":
            return
        text = notification_text(self._title(), event)
        if self.kind == "desktop" and (command := desktop_command(text, os.environ)):
            self._screen.run_worker(self._notify_desktop(command), group="notify", exclusive=True)
            return
        themed_app(self._screen).write_sequence(terminal_notification(self.kind, text, os.environ))

    async def _notify_desktop(self, command: tuple[str, ...]) -> None:
        """Rings the bell where the program fails."""
        if not await run_desktop(command):
            themed_app(self._screen).write_sequence(BELL)
