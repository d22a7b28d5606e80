"""The list to choose from: what is typed narrows it, and a long one stays whole on a small screen."""

from typing import Any

import pytest

from tests.tui.fakes import FakeSession, answer
from tui.dialogs.choices import KEYS, ChoiceItem, ChoicesScreen

ITEMS = [ChoiceItem("c_1", "The boiler"), ChoiceItem("c_2", "Tea at four"), ChoiceItem("c_3", "The harbour")]


async def test_what_is_typed_narrows_the_list(open_chat: Any) -> None:
    chosen: list[str | None] = []
    async with open_chat(session=FakeSession(lambda text: answer(text))) as chat:
        chat.app.push_screen(ChoicesScreen("Conversations", ITEMS), chosen.append)
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.press(*"the", "down", "enter")
        assert chosen == ["c_3"]


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("size", [(80, 24), (80, 23), (80, 12), (200, 50)])
async def test_a_long_list_keeps_its_keys_and_cuts_no_entry_in_half(
    open_chat: Any, size: tuple[int, int], details: bool
) -> None:
    items = [ChoiceItem(f"c_{n}", f"label {n} 锅炉", f"detail {n}." if details else "") for n in range(60)]
    async with open_chat(session=FakeSession(lambda text: answer(text)), size=size) as chat:
        chat.app.push_screen(ChoicesScreen("Branch from", items))
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        for keys in ([], ["pagedown"] * 3, ["pagedown"] * 9, ["up"] * 4):
            await chat.press(*keys)
            seen = "\n".join(chat.seen)
            assert KEYS in seen
            shown = [line.split()[1] for line in chat.seen if line.strip().startswith("label ")]
            assert shown
            if details:
                assert [
                    line.split()[1].rstrip(".") for line in chat.seen if line.strip().startswith("detail ")
                ] == shown
