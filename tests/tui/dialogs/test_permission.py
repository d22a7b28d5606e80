"""The keys and clicks of the dialog that asks for permission: typed text grants nothing."""

import asyncio
from typing import Any

import pytest

from agent.events import PermissionRequested
from agent.permissions.action import PermissionAnswer, Scope
from models.messages import ToolCall
from tests.tui.dialogs.permission_asked import ACTION, RUN, opened
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.permission import PermissionScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.mark.parametrize("typed", ["yes, yes 1 your way is maybe", "y", "1 more", "22", "9"])
async def test_typed_text_and_enter_grant_nothing(open_chat: Any, typed: str) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press(*["space" if letter == " " else letter for letter in typed.replace(",", "")], "enter")
        assert answers == []
        assert dialog.typed == typed.replace(",", "") + "\n"


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "enter", "enter"), PermissionAnswer(True)),  # the first one scrolls to the end
        (("down", "down", "enter", "enter"), PermissionAnswer(True, Scope.SESSION)),
        (("down", "down", "down", "enter"), PermissionAnswer(False)),
        (("up", "n", "o", "enter"), PermissionAnswer(False, reason="no")),
        (("1",), PermissionAnswer(True)),
        (("2",), PermissionAnswer(True, Scope.SESSION)),
        (("2", "enter"), PermissionAnswer(True, Scope.SESSION)),
        (("3",), PermissionAnswer(False)),
        (("4", "n", "o", "1", "enter"), PermissionAnswer(False, reason="no1")),
        (("1", "backspace", "escape"), PermissionAnswer(False)),
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


async def click(chat: Any, row: int) -> None:
    await chat.pilot.click(".sheet-answers", offset=(6, row))
    await chat.press()


async def test_a_click_on_an_answer_gives_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await click(chat, 1)
        await chat.until(lambda: answers == [PermissionAnswer(True, Scope.SESSION)])


async def test_a_click_on_the_answer_with_a_reason_waits_for_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await click(chat, 3)
        assert answers == []
        await chat.press("n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])


async def test_a_click_that_was_meant_for_the_chat_grants_nothing(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", settle_s=3_600)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await click(chat, 0)
        await click(chat, 2)
        assert answers == []


async def test_lines_that_are_typed_for_the_prompt_keep_their_breaks(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("o", "n", "e", "enter", "enter", "t", "w", "o", "enter")
        assert dialog.typed == "one\n\ntwo\n"
        assert answers == []


@pytest.mark.parametrize("draft", ["", "half a thou"])
async def test_enter_alone_grants_nothing(open_chat: Any, draft: str) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    hold = asyncio.Event()
    async with open_chat(session=FakeSession(lambda _: [hold, request, *answer("Well.")])) as chat:
        await chat.say("go")
        await chat.insert(draft)
        hold.set()
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        assert "›" not in "\n".join(line for line in chat.seen if "Once" in line)
        await chat.press("enter", "enter")
        assert not future.done() and isinstance(chat.app.screen, PermissionScreen)
        await chat.press("1")
        await chat.until(future.done)
        assert future.result() == PermissionAnswer(True)
        await chat.quiet()
        assert chat.screen.prompt.text == draft


@pytest.mark.parametrize(("typed", "left"), [("y", ""), ("no", ""), ("yet another", "yet another")])
async def test_a_typed_yes_or_no_is_no_draft_afterwards(open_chat: Any, typed: str, left: str) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    async with open_chat(session=FakeSession(lambda _: [request, *answer("Well.")])) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.type(typed)
        await chat.press("escape")
        await chat.quiet()
        assert future.result() == PermissionAnswer(False)
        assert chat.screen.prompt.text == left


async def test_ctrl_c_stops_the_turn_and_grants_nothing(open_chat: Any) -> None:
    stopped: list[bool] = []
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        dialog.stop_turn = lambda: stopped.append(True)
        assert "Ctrl+C stops" in "\n".join(chat.seen)
        await chat.press("down", "ctrl+c")
        await chat.until(lambda: answers == [PermissionAnswer(False)])
        assert stopped == [True]


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_mode_that_is_changed_at_a_tall_question_is_told_in_it(open_chat: Any, size: tuple[int, int]) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    async with open_chat(session=FakeSession(lambda _: [request, *answer("Well.")]), size=size) as chat:
        await chat.say("go")
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        await chat.press("shift+tab", "shift+tab")
        await chat.until(lambda: "  mode edit from the next tool call: edits" in "\n".join(chat.seen))
        assert not future.done()
        await chat.press("escape")
        await chat.quiet()


async def test_ctrl_c_in_the_dialog_reaches_the_turn(open_chat: Any) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    session = FakeSession(lambda _: [request, *answer("Well.")])
    stopped: list[bool] = []
    session.stop = lambda: stopped.append(True)  # type: ignore[method-assign]  # seen without ending the fake's answer
    async with open_chat(session=session) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.press("ctrl+c")
        await chat.until(future.done)
        assert stopped == [True] and future.result() == PermissionAnswer(False)
        await chat.quiet()


async def with_guard(chat: Any, **arguments: Any) -> tuple[PermissionScreen, list[PermissionAnswer | None]]:
    answers: list[PermissionAnswer | None] = []
    dialog = PermissionScreen(RUN, "No rule decides.", settle_s=1.2, **arguments)
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers


@pytest.mark.parametrize(
    ("early", "later"), [(("1",), ("1",)), (("1", "1"), ("down", "enter")), (("4", "enter"), ("1",))]
)
async def test_a_number_that_was_pressed_too_early_goes_nowhere_and_then_keys_answer(
    open_chat: Any, early: tuple[str, ...], later: tuple[str, ...]
) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat)
        await chat.press(*early)
        assert "too early" in "\n".join(chat.seen)
        await chat.until(lambda: "1–4 ↑ ↓ choose" in "\n".join(chat.seen))
        assert answers == [] and "saved for the prompt" not in "\n".join(chat.seen)
        await chat.press(*later)
        await chat.until(lambda: answers == [PermissionAnswer(True)])
        assert dialog.unsent == ""


async def test_a_number_that_is_pressed_on_does_not_put_off_the_answers(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat)
        async with asyncio.timeout(8):
            while dialog.settles_in > 0:
                await chat.press("1")
                await asyncio.sleep(0.1)
        assert answers == []


async def test_after_text_for_the_prompt_a_number_chooses_and_enter_answers(open_chat: Any) -> None:
    async with open_chat(size=(100, 24)) as chat:
        dialog, answers = await with_guard(chat)
        await chat.press("s", "e", "e")
        await chat.until(lambda: "1–4 ↑ ↓ choose · Enter breaks the line" in "\n".join(chat.seen))
        await chat.press("1")
        assert "› 1 Once" in "\n".join(chat.seen)
        await asyncio.sleep(1.5)  # who types slowly goes on now
        assert answers == []
        await chat.press("0")
        assert dialog.typed == "see10"
        await chat.until(lambda: "choose" in "\n".join(chat.seen))
        await chat.press("2", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(True, Scope.SESSION)])
        assert dialog.unsent == "see10"


async def test_a_number_in_the_middle_of_a_message_is_part_of_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat, in_message=True)
        await chat.press("1")
        await asyncio.sleep(1.5)
        await chat.press("escape")
        await chat.until(lambda: answers == [PermissionAnswer(False)])
        assert dialog.unsent == "1"


async def test_the_first_enter_scrolls_where_the_end_was_not_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        _, answers = await opened(chat)
        await chat.press("down")
        await chat.until(lambda: "Enter scrolls down first" in "\n".join(chat.seen))
        await chat.press("enter")
        await chat.until(lambda: "line 59 of" in "\n".join(chat.seen))
        assert answers == [] and "Enter answers" in "\n".join(chat.seen)
        await chat.press("enter")
        await chat.until(lambda: answers == [PermissionAnswer(True)])


OFFERS = ("run_command(git status -s)", "run_command(git status *)")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "down", "down", "enter"), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[0])),
        (("up", "up", "up", "enter"), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[1])),
        (("4",), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[1])),
        (("down", "x", "enter", "escape"), PermissionAnswer(False)),
    ],
)
async def test_what_is_remembered_is_shown_and_typing_takes_a_choice_back(
    open_chat: Any, keys: tuple[str, ...], answer: PermissionAnswer
) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(RUN, "No rule decides.", offers=OFFERS), answers.append)
        await chat.until(lambda: "Always in this project: run_command(git status *)" in "\n".join(chat.seen))
        await chat.press(*keys)
        await chat.until(lambda: answers == [answer])


async def test_text_typed_before_a_reason_is_not_the_reason(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", offers=OFFERS)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await chat.press("y", "e", "s", "up", "n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])
        assert dialog.typed == "yes"


async def test_arrows_and_enter_that_were_meant_for_the_prompt_grant_nothing(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", offers=OFFERS, settle_s=3_600)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await chat.press("down", "enter", "up", "enter")
        assert answers == []


async def test_a_reason_is_waited_for_where_that_answer_is_chosen(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(RUN, "No rule decides.", offers=OFFERS), answers.append)
        await chat.until(lambda: "for a reason" in "\n".join(chat.seen))
        await chat.press("up", "enter", "space", "enter")
        await chat.until(lambda: "type it, then Enter" in "\n".join(chat.seen))
        assert answers == []
        await chat.press("n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])
