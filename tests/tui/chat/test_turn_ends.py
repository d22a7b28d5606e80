"""The answer's mark, and what is said where a turn ends."""

from typing import Any

import pytest
from msgspec.structs import replace

from agent.events import TextDelta, TextWithdrawn, ToolFinished, ToolStarted, TurnFailed
from models.chat.errors import KEPT
from models.messages import ToolCall
from tests.tui.fakes import answer
from tui.chat.turn_view import TurnView

CALL = ToolCall("c_1", "read_file", "{}")


def view_of(chat: Any) -> TurnView:
    return TurnView(chat.screen.transcript, chat.screen.status)


async def test_the_answer_after_a_tool_call_has_its_mark(open_chat: Any) -> None:
    async with open_chat() as chat:
        view = view_of(chat)
        for event in (
            TextDelta("Let me look. 看 🏺"),
            ToolStarted(CALL, "read x", "x"),
            ToolFinished(CALL, "one", 3, False, entry="e_3"),
            TextDelta("It is north."),
            TextDelta(" Really."),
        ):
            view.write(event)
        chat.screen.transcript.end_stream()
        await chat.pilot.pause()
        marked = [line for line in chat.lines if line.startswith("◆")]
        assert marked == ["◆ Let me look. 看 🏺", "◆ It is north. Really."]
        assert chat.lines[chat.lines.index(marked[1]) - 1] == "", "one blank line above it"
        assert chat.lines[chat.lines.index(marked[1]) - 2] != ""


async def test_that_it_is_kept_is_said_once(open_chat: Any) -> None:
    async with open_chat() as chat:
        view_of(chat).write(TurnFailed("cut_off", "Cut off", "Gone.", f"{KEPT} Send again.", "e_2", "North"))
        await chat.pilot.pause()
        assert chat.text.count("is saved") == 1
        view_of(chat).write(TurnFailed("x", "It failed", "Gone.", "Send again.", "e_2", "North"))
        await chat.pilot.pause()
        assert chat.text.count("is saved") == 2


async def test_the_welcome_names_the_model_that_was_chosen(open_chat: Any) -> None:
    async with open_chat(answers=lambda text: answer("Yes.")) as chat:
        assert "offline: quotes" in chat.text
        await chat.session.use_model("openai:qwen3")
        await chat.screen.controller.show_conversation()
        await chat.pilot.pause()
        assert "offline: quotes" not in chat.text
        assert any("model" in line and "openai:qwen3" in line for line in chat.lines)


@pytest.mark.parametrize(
    ("reason", "said"),
    [("length", "write “go on” for more"), ("filtered", "stopped by the service’s content filter"), ("stop", "")],
)
async def test_an_answer_that_ends_early_says_why(open_chat: Any, reason: str, said: str) -> None:
    def ended(text: str) -> list[Any]:
        *events, stored = answer(f"You said {text}.")
        return [*events, replace(stored, reason=reason)]

    async with open_chat(answers=ended) as chat:
        await chat.say("hello")
        await chat.quiet()
        assert chat.lines[-1].endswith(said)


async def test_text_that_was_reasoning_leaves_the_answer(open_chat: Any) -> None:
    async with open_chat() as chat:
        view = view_of(chat)
        for event in (TextDelta("A colour.\n\nI choose one.\n\n"), TextDelta("It is red.")):
            view.write(event)
            chat.screen.transcript.advance()
        view.write(TextWithdrawn("A colour.\n\nI choose one.\n\nIt is red."))
        view.write(TextDelta("Blue."))
        chat.screen.transcript.end_stream()
        await chat.pilot.pause()
        assert [line for line in chat.lines if line.startswith("◆")] == ["◆ Blue."]
        assert "I choose one" not in chat.text and "red" not in chat.text
        assert "thought · 36 characters" in chat.text
