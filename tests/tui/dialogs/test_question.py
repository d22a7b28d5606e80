"""The dialog with a question of the model: a chosen row answers, and what somebody happens to type does not."""

from typing import Any

import pytest

from agent.permissions.action import PersonQuestion
from tui.dialogs.question import QuestionScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

QUESTION = PersonQuestion("Which port? \x1b[31m哪个端口?", ("8080", "9090"))


async def opened(chat: Any, question: PersonQuestion = QUESTION) -> tuple[QuestionScreen, list[str | None]]:
    answers: list[str | None] = []
    dialog = QuestionScreen(question)
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers


async def test_typed_text_and_enter_answer_nothing(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("8", "enter")
        assert answers == []
        assert dialog.typed == "8\n"
        assert "\x1b" not in "".join(chat.seen)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "down", "enter"), "9090"),
        (("up", "7", "0", "enter"), "70"),
        (("escape",), ""),
    ],
)
async def test_a_chosen_row_answers(open_chat: Any, keys: tuple[str, ...], answer: str) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await chat.press(*keys)
        await chat.until(lambda: answers == [answer])


async def test_a_long_question_leaves_the_rows_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        await opened(chat, PersonQuestion("Many words. " * 400, tuple(f"option {number}" for number in range(9))))
        await chat.until(lambda: "option 8" in "\n".join(chat.seen) and "Write an answer" in "\n".join(chat.seen))
