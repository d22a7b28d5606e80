"""The dialog that asks for permission: it shows the whole action, and typed text grants nothing."""

from typing import Any

import pytest

from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from tui.dialogs.permission import PermissionScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

LONG = "\n".join(f"line {number} of the note" for number in range(60))
ACTION = Action(tool="remember", access=Access.NOTE, summary="add to MEMORY.md", detail=LONG)


async def opened(chat: Any) -> tuple[PermissionScreen, list[PermissionAnswer | None]]:
    answers: list[PermissionAnswer | None] = []
    dialog = PermissionScreen(ACTION, "Memory is written only with a yes.")
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers


@pytest.mark.parametrize("typed", ["yes, yes 1 your way is maybe", "y", "1", "2"])
async def test_typed_text_and_enter_grant_nothing(open_chat: Any, typed: str) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press(*["space" if letter == " " else letter for letter in typed.replace(",", "")], "enter")
        assert answers == []
        assert dialog.typed == typed.replace(",", "")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "enter"), PermissionAnswer(True)),
        (("down", "down", "enter"), PermissionAnswer(True, Scope.SESSION)),
        (("down", "down", "down", "enter"), PermissionAnswer(False)),
        (("up", "n", "o", "enter"), PermissionAnswer(False, reason="no")),
        (("escape",), PermissionAnswer(False)),
    ],
)
async def test_a_chosen_answer_is_given_with_enter(
    open_chat: Any, keys: tuple[str, ...], answer: PermissionAnswer
) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await chat.press(*keys)
        await chat.until(lambda: answers == [answer])


async def test_what_asks_each_time_is_not_offered_for_the_session(open_chat: Any) -> None:
    async with open_chat() as chat:
        chat.app.push_screen(PermissionScreen(ACTION, "Memory is written only with a yes.", once_only=True))
        await chat.until(lambda: "Once" in "\n".join(chat.seen))
        assert "For this session" not in "\n".join(chat.seen)


async def test_a_long_action_scrolls_and_its_answers_stay_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        await opened(chat)
        assert "line 0 of" in "\n".join(chat.seen)
        await chat.press(*["pagedown"] * 8)
        await chat.until(lambda: "line 59 of" in "\n".join(chat.seen))
        assert "Once" in "\n".join(chat.seen) and "Enter answers" in "\n".join(chat.seen)
