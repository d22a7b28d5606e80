"""A project that brings MCP servers: each is asked about, with the command line that it would run."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual import events

from agent.mcp.server_spec import ServerSource, configured_server
from foundation.paths import Workspace
from tests.tui.displayed import displayed_lines
from tests.tui.fakes import FakeSession, answer
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart
from tui.dialogs.trust import ServerScreen

RAW = {"command": "uvx", "args": ["helper-server", "--all"], "env": {"API_KEY": "hidden-value"}}


@pytest.mark.parametrize(
    ("key", "expected"), [("ctrl+t", [("helper", True)]), ("ctrl+n", [("helper", False)]), ("enter", [])]
)
async def test_the_dialog_shows_the_command_line_and_typing_does_not_answer(
    key: str, expected: list[tuple[str, bool]], workspace: Workspace, tmp_path: Path
) -> None:
    session, answers = FakeSession(lambda _: answer("Yes.")), list[tuple[str, bool]]()

    def take(name: str, *, allowed: bool) -> None:
        answers.append((name, allowed))

    server = configured_server("helper", RAW, ServerSource.PROJECT, str(tmp_path))
    session.servers = SimpleNamespace(unanswered=(server,), is_changed=lambda _: False, answer=take)

    async def opened() -> Any:
        return session

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path), opened)
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(30):
            while not isinstance(app.screen, ServerScreen):
                await asyncio.sleep(0.02)
        await pilot.pause()
        shown = "\n".join(displayed_lines(app))
        assert "It runs: uvx helper-server --all" in shown
        assert "API_KEY" in shown
        assert "hidden-value" not in shown
        assert "Ctrl+T trust it · Ctrl+N never · Enter not now" in shown
        await pilot.press("y", "1")
        assert isinstance(app.screen, ServerScreen)
        await pilot.press(key)
        async with asyncio.timeout(30):
            while not app.chat.is_idle:
                await asyncio.sleep(0.02)
        await pilot.pause()
        assert answers == expected
        assert app.chat.prompt.text == "y1"


@pytest.mark.parametrize("key", ["ctrl+t", "enter"])
async def test_a_message_that_is_entered_right_after_the_answer_is_sent(
    key: str, workspace: Workspace, tmp_path: Path
) -> None:
    session = FakeSession(lambda _: answer("Yes."))
    server = configured_server("helper", RAW, ServerSource.PROJECT, str(tmp_path))

    def take(_name: str, *, allowed: bool) -> None:
        assert allowed == (key == "ctrl+t")

    session.servers = SimpleNamespace(unanswered=(server,), is_changed=lambda _: False, answer=take)

    async def opened() -> Any:
        return session

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path), opened)
    async with app.run_test(size=(80, 24)) as pilot, asyncio.timeout(30):
        while not isinstance(app.screen, ServerScreen):
            await asyncio.sleep(0.02)
        await pilot.pause()
        for each in (key, "h", "i", "enter"):
            app.post_message(events.Key(each, each if len(each) == 1 else None))
        while "Yes." not in "\n".join(displayed_lines(app)):
            await asyncio.sleep(0.02)
        assert app.chat.prompt.text == ""
