"""The dialog with a question of the model: a chosen row answers, and what somebody happens to type does not."""

import asyncio
from typing import Any

import pytest

from agent.events import QuestionAsked
from agent.permissions.action import PersonQuestion
from models.messages import ToolCall
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.answers import NUMBER_S
from tui.dialogs.question import QuestionScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

QUESTION = PersonQuestion("Which port? \x1b[31m哪个端口?", ("8080", "9090"))


OPEN = PersonQuestion("Which port? 哪个端口? 🙂", ())


async def opened(
    chat: Any, question: PersonQuestion = QUESTION, settle_s: float = 0
) -> tuple[QuestionScreen, list[str | None]]:
    answers: list[str | None] = []
    dialog = QuestionScreen(question, settle_s=settle_s)
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
        (("1",), "8080"),
        (("2", "enter"), "9090"),
        (("3", "2", "enter"), "2"),
        (("1", "backspace", "escape"), ""),
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


async def test_a_number_answers_nothing_where_text_was_begun(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("x", "1")
        await asyncio.sleep(2 * NUMBER_S)
        assert (dialog.typed, answers) == ("x", [])  # it only chooses
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("up", "x", "up", "1")
        await asyncio.sleep(2 * NUMBER_S)
        assert (dialog.typed, dialog.written, answers) == ("1", "x", [])


async def test_a_click_on_an_option_answers(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await chat.pilot.click(".sheet-answers", offset=(5, 1))
        await chat.until(lambda: answers == ["9090"])


async def test_a_click_on_the_second_line_of_a_long_option_answers_with_it(open_chat: Any) -> None:
    long = "很长的 option " * 10
    async with open_chat(size=(80, 24)) as chat:
        _, answers = await opened(chat, PersonQuestion("Which?", (long, "short")))
        await chat.pilot.click(".sheet-answers", offset=(5, 1))
        await chat.until(lambda: answers == [long])


async def test_keys_and_clicks_that_were_meant_for_the_chat_answer_nothing(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat, settle_s=3_600)
        await chat.pilot.click(".sheet-answers", offset=(5, 1))
        await chat.press("down", "enter", "1")
        await asyncio.sleep(2 * NUMBER_S)
        assert answers == []


async def test_an_open_question_is_answered_by_typing_and_enter(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat, OPEN)
        await chat.until(lambda: "Write: ▏" in "\n".join(chat.seen))
        await chat.press("7", "端", "enter")
        await chat.until(lambda: answers == ["7端"])


async def test_what_was_typed_before_the_pause_is_for_the_prompt_and_no_part_of_the_answer(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat, OPEN, settle_s=3)
        await chat.press("x", "y", "enter")
        await chat.until(lambda: "Write: ▏" in "\n".join(chat.seen))
        assert "saved for the prompt: xy" in "\n".join(chat.seen)
        await chat.press("7", "0", "enter")
        await chat.until(lambda: answers == ["70"])
        assert dialog.unsent == "xy\n"


async def test_the_pause_begins_when_the_question_is_shown(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog = QuestionScreen(OPEN, settle_s=3)
        await asyncio.sleep(3.1)  # it waits for a pause in typing
        chat.app.push_screen(dialog)
        await chat.until(lambda: chat.app.screen is dialog)
        await chat.press("x")
        assert (dialog.typed, dialog.written) == ("x", "")


async def test_an_answer_that_was_begun_goes_into_the_prompt_where_the_question_is_left(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("x", "up", "7", "escape")
        await chat.until(lambda: answers == [""])
        assert dialog.unsent == "x\n7"


async def test_a_question_of_a_turn_is_answered_and_the_prompt_gets_what_was_typed_for_it(
    open_chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.chat.view.SETTLE_S", 3.0)
    future = asyncio.get_running_loop().create_future()
    request = QuestionAsked(ToolCall("call_1", "ask_person", "{}"), OPEN, future)
    async with open_chat(session=FakeSession(lambda _: [request, *answer("Well.")])) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, QuestionScreen))
        await chat.press("x")  # before the keys hold
        await chat.until(lambda: "Write: ▏" in "\n".join(chat.seen))
        await chat.press("7", "0", "enter")
        await chat.until(future.done)
        assert future.result() == "70"
        await chat.quiet()
        assert chat.screen.prompt.text == "x"
