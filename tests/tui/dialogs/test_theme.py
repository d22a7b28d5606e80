"""Choosing a theme: the list opens on the one in use, and leaving it changes nothing."""

import pytest

from tests.tui.conftest import Open
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
