"""A paste answers no question: it is text for the prompt, or for the field that has the keys."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.screen import Screen

from agent.permissions.action import PermissionAnswer, PersonQuestion
from tests.tui.conftest import Chat, Open
from tests.tui.dialogs.permission_asked import RUN
from tui.dialogs.answers import NUMBER_S
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen, YesScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.sheet import SheetDialog
from tui.dialogs.trust import ServerScreen, TrustScreen

QUESTION = PersonQuestion("Which boiler?", ("the old one", "the new one"))
DIALOGS = [
    lambda: PermissionScreen(RUN, "No rule decides."),
    lambda: PermissionScreen(RUN, "No rule decides.", settle_s=0.05),
    lambda: QuestionScreen(QUESTION),
    lambda: TrustScreen(["2 conversations"]),
    lambda: ServerScreen("files", ["runs npx"], is_changed=False),
    lambda: GoOnScreen("40 calls were made."),
    lambda: YesScreen("Forget it?", [("memory", "1 note")]),
    lambda: ProposalScreen("Archive", [("leaves", "12 turns")]),
]


async def shown(chat: Chat, dialog: Screen[Any]) -> list[Any]:
    answers: list[Any] = []
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    await asyncio.sleep(0.1)
    return answers


def at_once(chat: Chat, text: str) -> None:
    """The keys of one read."""
    for character in text:
        chat.app.post_message(events.Key("enter" if character == "\r" else character, character))


@pytest.mark.parametrize("pasted", ["1", "2", "y", "1\r", "y\r"])
@pytest.mark.parametrize("make", DIALOGS)
async def test_a_paste_answers_nothing_and_is_for_the_prompt(open_chat: Open, make: Any, pasted: str) -> None:
    async with open_chat() as chat:
        dialog = make()
        answers = await shown(chat, dialog)
        chat.app.post_message(events.Paste(pasted))
        await asyncio.sleep(NUMBER_S + 0.1)
        assert answers == [] and chat.app.screen is dialog
        if isinstance(dialog, SheetDialog):
            assert dialog.unsent == pasted.replace("\r", "\n")


async def test_a_number_after_a_pasted_one_only_chooses(open_chat: Open) -> None:
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", settle_s=0.05)
        answers = await shown(chat, dialog)
        chat.app.post_message(events.Paste("1"))
        await asyncio.sleep(0.1)
        await chat.press("2")
        await asyncio.sleep(NUMBER_S + 0.1)
        assert answers == []
        await chat.press("enter")
        await chat.until(lambda: answers != [])
        assert answers[0].granted and dialog.unsent == "1"


async def test_a_paste_where_a_reason_is_written_is_part_of_it(open_chat: Open) -> None:
    async with open_chat() as chat:
        answers = await shown(chat, PermissionScreen(RUN, "No rule decides."))
        await chat.press("up")
        chat.app.post_message(events.Paste("1"))
        await asyncio.sleep(NUMBER_S + 0.1)
        assert answers == []
        await chat.press("enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="1")])


@pytest.mark.parametrize("text", ["1\r", "2\r", "y\r", "yes\r"])
@pytest.mark.parametrize("make", [DIALOGS[0], DIALOGS[2], DIALOGS[6], DIALOGS[7]])
async def test_keys_that_come_with_enter_in_one_read_answer_nothing(open_chat: Open, make: Any, text: str) -> None:
    async with open_chat() as chat:
        answers = await shown(chat, make())
        at_once(chat, text)
        await asyncio.sleep(NUMBER_S + 0.1)
        assert answers == []


async def test_a_number_and_then_enter_answer(open_chat: Open) -> None:
    async with open_chat() as chat:
        answers = await shown(chat, PermissionScreen(RUN, "No rule decides."))
        await chat.press("1")
        await asyncio.sleep(0.05)
        await chat.press("enter")
        await chat.until(lambda: answers == [PermissionAnswer(True)])


async def test_lines_pasted_into_the_field_of_a_dialog_choose_nothing(open_chat: Open) -> None:
    async with open_chat() as chat:
        dialog = ChoicesScreen("Which?", [ChoiceItem("a", "one"), ChoiceItem("b", "two")])
        answers = await shown(chat, dialog)
        chat.app.post_message(events.Paste("two\r\rone\r"))
        await chat.until(lambda: "no match" in "\n".join(chat.seen))
        assert answers == []
