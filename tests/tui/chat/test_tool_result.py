"""A tool's result in the transcript: the end of a command's output, the reason of a failure, what a change did."""

from typing import Any

import pytest

from agent.events import PermissionDenied, TextDelta, ToolFinished, ToolStarted
from agent.permissions.action import Access, Action
from models.messages import ToolCall
from tests.tui.fakes import answer
from tui.chat.tool_result import result_lines

ACTION = Action(tool="run_command", access=Access.RUN, summary="run make", subject="make")


def texts(tool: str, text: str, *, failed: bool = False) -> list[str]:
    return [line.text for line in result_lines(tool, text, len(text), failed=failed)]


def test_a_command_shows_how_it_ended_and_its_last_lines() -> None:
    output = "[exit 1 after 0.2 s]\n" + "\n".join(f"行 {number} 🎉" for number in range(9)) + "\n"
    last = [f"行 {number} 🎉" for number in range(4, 9)]
    assert texts("run_command", output) == ["run_command: exit 1 after 0.2 s", "…", *last]
    assert texts("run_command", "[exit 0 after 0.1 s]\nok\n") == ["run_command: exit 0 after 0.1 s", "ok"]
    assert texts("run_command", "[exit 0 after 0.1 s]\n") == ["run_command: exit 0 after 0.1 s"]


def test_a_plan_is_shown_by_its_panel_alone_unless_it_failed() -> None:
    assert texts("update_plan", "Plan:\n[x] look") == []
    assert texts("update_plan", "No steps.", failed=True) == ["update_plan: failed: No steps."]


def test_the_last_lines_of_a_large_output_are_few_and_short() -> None:
    lines = texts("run_command", "[exit 0 after 0.1 s]\n" + "x" * 5_000_000)
    assert len(lines) == 3 and max(map(len, lines)) < 250


@pytest.mark.parametrize(
    ("tool", "text", "failed", "line"),
    [
        ("edit_file", "calc.py: 1 line changed.", False, "edit_file: calc.py: 1 line changed."),
        ("ask_user", "9090 🙂", False, "ask_user: 9090 🙂"),
        ("read_file", "茶" * 1_800, False, "read_file: 1.8k characters"),
        (
            "edit_file",
            "Not found: calc.py.\nmore",
            True,
            "edit_file: failed: Not found: calc.py.",
        ),
        ("read_file", "", True, "read_file: failed"),
    ],
)
def test_other_results_are_one_line(tool: str, text: str, failed: bool, line: str) -> None:
    assert texts(tool, text, failed=failed) == [line]


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_denied_call_says_once_that_it_was_not_done(open_chat: Any, size: tuple[int, int]) -> None:
    call = ToolCall("call_1", "run_command", "{}")
    denied = [
        ToolStarted(call, "run make", ACTION),
        PermissionDenied(call, ACTION, "不要 🙂"),
        ToolFinished(call, "Not done: run make. 不要 🙂", 24, failed=True, entry="e_3"),
    ]
    events = answer("Let me try.")
    async with open_chat(size=size, answers=lambda _: [*events[:-2], *denied, TextDelta("No."), *events[-2:]]) as chat:
        await chat.say("make it")
        await chat.quiet()
        assert "not done: 不要 🙂" in [line.strip() for line in chat.lines]
        assert "failed" not in chat.text


async def test_a_call_that_is_not_understood_says_why_once(open_chat: Any) -> None:
    call = ToolCall("call_1", "edit_file", "{}")
    mistaken = [
        ToolStarted(call, "edit_file: Not found"),
        ToolFinished(call, "Not found: calc.py", 18, failed=True, entry="e_3"),
    ]
    events = answer("Let me try.")
    async with open_chat(answers=lambda _: [*events[:-2], *mistaken, TextDelta("No."), *events[-2:]]) as chat:
        await chat.say("edit it")
        await chat.quiet()
        assert chat.text.count("edit_file") == 1
