"""The list to choose from: what is typed narrows it by name, and finds more by content."""

from typing import Any

import pytest

from tests.tui.fakes import FakeSession, answer
from tui.dialogs.choices import ChoiceItem, ChoicesScreen

ITEMS = [ChoiceItem("c_1", "The boiler"), ChoiceItem("c_2", "Tea at four"), ChoiceItem("c_3", "The harbour")]
BY_TEXT = [ChoiceItem("c_1", "The boiler", "the boiler hums"), ChoiceItem("c_2", "Tea at four", "beside the boiler")]


async def by_text(query: str) -> list[ChoiceItem]:
    return BY_TEXT if query == "boiler" else []


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_content_is_found_as_one_types_beside_the_names(open_chat: Any, size: tuple[int, int]) -> None:
    chosen: list[str | None] = []
    async with open_chat(session=FakeSession(lambda text: answer(text)), size=size) as chat:
        chat.app.push_screen(ChoicesScreen("Conversations", ITEMS, by_text), chosen.append)
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.press(*"boiler")
        await chat.until(lambda: "1 more found in the text" in "\n".join(chat.seen))
        seen = "\n".join(chat.seen)
        assert "beside the boiler" in seen
        assert "the boiler hums" not in seen  # it is in the list by its name
        await chat.press("down", "enter")
        await chat.until(lambda: chosen)
        assert chosen == ["c_2"]


async def test_what_is_chosen_stays_when_more_is_found(open_chat: Any) -> None:
    chosen: list[str | None] = []
    async with open_chat(session=FakeSession(lambda text: answer(text))) as chat:
        chat.app.push_screen(ChoicesScreen("Conversations", ITEMS, by_text), chosen.append)
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.press(*"the", "down")
        await chat.until(lambda: "looking" not in "\n".join(chat.seen))
        await chat.press("enter")
        await chat.until(lambda: chosen)
        assert chosen == ["c_3"]
