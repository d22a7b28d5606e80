"""Choosing a theme: the list opens on the one in use, and leaving it changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from agent.config.config import Config
from foundation.paths import Workspace
from tests.tui.conftest import Open
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.choices import ChoicesScreen


@pytest.mark.parametrize(("named", "shown"), [("palimpsest-light", "palimpsest-light"), ("auto", "palimpsest")])
async def test_the_list_opens_on_the_theme_in_use_and_marks_it(open_chat: Open, named: str, shown: str) -> None:
    async with open_chat(theme=named) as chat:
        chat.screen.queue.add("/theme")
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen) and "in use" in "\n".join(chat.seen))
        assert chat.app.theme == shown
        at = next(number for number, line in enumerate(chat.seen) if "in use" in line)
        assert chat.seen[at - 1].split() == [named]
        await chat.press("down")
        await chat.until(lambda: chat.app.theme != shown)
        await chat.press("escape")
        await chat.until(lambda: chat.app.theme == shown)
        assert chat.app.named_theme == named


async def test_a_list_that_was_narrowed_goes_back_to_the_theme_in_use(open_chat: Open) -> None:
    async with open_chat(theme="palimpsest-light") as chat:
        chat.screen.queue.add("/theme")
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.type("nord")
        await chat.until(lambda: chat.app.theme == "nord")
        await chat.press(*["backspace"] * 4)
        await chat.until(lambda: chat.app.theme == "palimpsest-light")


async def test_a_theme_that_the_settings_name_and_that_is_none_is_told_at_the_start(open_chat: Open) -> None:
    async with open_chat(theme="nosuch") as chat:
        await chat.until(lambda: "screen.theme: there is no theme “nosuch”. /theme lists them." in chat.text)


async def test_a_file_of_a_theme_that_is_mended_is_taken_up(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session: Any = FakeSession(answer)
    session.workspace, session.config = workspace, Config(environment={"PALIMPSEST_CONFIG_DIR": str(tmp_path / "c")})
    file = tmp_path / "c" / "themes" / "mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("primary: no colour\n", "utf-8")
    async with open_chat(session=session) as chat:
        await chat.say("/theme mine")
        await chat.until(lambda: "There is no theme “mine”." in chat.text)
        assert "mine.yaml" in chat.text.replace("\n", "")
        file.write_text('primary: "#e0a458"\n', "utf-8")
        await chat.say("/theme mine")
        await chat.until(lambda: chat.app.theme == "mine")
