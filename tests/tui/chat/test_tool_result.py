"""A tool's result in the transcript: the end of a command's output, the reason of a failure, what a change did."""

from typing import Any

import pytest
from rich.style import Style

from agent.events import PermissionDenied, TextDelta, ToolFinished, ToolStarted
from agent.permissions.action import Access, Action
from models.messages import ToolCall
from tests.tui.fakes import answer
from tui.chat.tool_result import call_line, result_lines
from tui.widgets.transcript.block import Block, BlockExcerpt, BlockText
from tui.widgets.transcript.styles import TranscriptStyles

ACTION = Action(tool="run_command", access=Access.RUN, summary="run make", subject="make")


def texts(tool: str, text: str, *, failed: bool = False) -> list[str]:
    rows = result_lines(tool, text, len(text), failed=failed, summary="do it")
    return [f"{row.prefix}{row.text}".strip() for row in rows]


def test_a_command_shows_how_it_ended_and_its_last_lines() -> None:
    output = "[exit 1 after 0.2 s]\n" + "\n".join(f"行 {number} 🎉" for number in range(9)) + "\n"
    last = [f"行 {number} 🎉" for number in range(4, 9)]
    assert texts("run_command", output) == ["✗ failed: exit 1 after 0.2 s", "…", *last]
    assert texts("run_command", "[exit 0 after 0.1 s]\nok\n") == ["✓ exit 0 after 0.1 s", "ok"]
    assert texts("run_command", "[exit 0 after 0.1 s]\n") == ["✓ exit 0 after 0.1 s"]


@pytest.mark.parametrize(
    ("ended", "tone"),
    [("exit 0 after 0.1 s", "muted"), ("exit 1 after 0.1 s", "warning"), ("exit -9 after 0.1 s", "warning")],
)
def test_another_status_than_0_has_a_colour_and_a_word(ended: str, tone: str) -> None:
    first = result_lines("run_command", f"[{ended}]\n出\n", 9, failed=False)[0]
    assert first.tone == tone
    assert ("failed" in first.text) == (tone == "warning")


@pytest.mark.parametrize(
    "ended",
    [
        "stopped by the user; ended by SIGTERM after 2.8 s",
        "ended at its time limit of 2 s; `timeout` sets it",
        "ended by SIGSEGV after 0.1 s",
    ],
)
def test_a_command_that_was_cut_short_has_not_the_mark_of_success(ended: str) -> None:
    first = result_lines("run_command", f"[{ended}]\n出\n", 9, failed=False, summary="run make")[0]
    assert (first.prefix, first.tone, first.text) == ("  ✗ ", "warning", ended)


def test_an_open_card_shows_the_end_of_the_output_once() -> None:
    output = "one\n二\n🎉\n"
    rows = result_lines("run_command", f"[exit 0 after 0.1 s]\n{output}", 9, failed=False, summary="run make")
    block = Block(key="call:1", rows=(call_line("run make"), *rows))
    look = TranscriptStyles.of_theme({}, Style())

    def drawn(item: Block) -> str:
        return "\n".join("".join(part.text for part in line) for line in item.lines(60, look))

    assert drawn(block).count("🎉") == 1
    opened = block.opened(BlockExcerpt.end_of(BlockText(output)))
    assert drawn(opened).count("🎉") == 1 and "✓ exit 0" in drawn(opened)
    assert drawn(block.opened(BlockExcerpt("", note="it cannot be read"))).count("🎉") == 1, "nothing else shows it"


def test_a_plan_is_shown_by_its_panel_alone_unless_it_failed() -> None:
    assert texts("update_plan", "Plan:\n[x] look") == []
    assert texts("update_plan", "No steps.", failed=True) == ["✗ failed: No steps."]


def test_the_last_lines_of_a_large_output_are_few_and_short() -> None:
    lines = texts("run_command", "[exit 0 after 0.1 s]\n" + "x" * 5_000_000)
    assert len(lines) == 3 and max(map(len, lines)) < 250


@pytest.mark.parametrize(
    ("tool", "text", "failed", "line"),
    [
        ("edit_file", "calc.py: 1 line changed.", False, "✓ calc.py: 1 line changed."),
        ("ask_user", "9090 🙂", False, "✓ 9090 🙂"),
        ("remember", "Remembered as n_1.", False, "✓ Remembered as n_1."),
        ("read_file", "茶" * 1_800, False, "✓ 1.8k characters"),
        (
            "edit_file",
            "Not found: calc.py.\nmore",
            True,
            "✗ failed: Not found: calc.py.",
        ),
        ("read_file", "", True, "✗ failed"),
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
        assert "✗ not done: 不要 🙂" in [line.strip() for line in chat.lines]
        assert "failed" not in chat.text


async def test_a_call_that_is_not_understood_says_why_once(open_chat: Any) -> None:
    call = ToolCall("call_1", "edit_file", "{}")
    mistaken = [
        ToolStarted(call, "edit calc.py: Not found: calc.py"),
        ToolFinished(call, "Not found: calc.py", 18, failed=True, entry="e_3"),
    ]
    events = answer("Let me try.")
    async with open_chat(answers=lambda _: [*events[:-2], *mistaken, TextDelta("No."), *events[-2:]]) as chat:
        await chat.say("edit it")
        await chat.quiet()
        assert [line.strip() for line in chat.lines if "edit" in line or "Not found" in line][-2:] == [
            "▸ edit calc.py",
            "✗ failed: Not found: calc.py",
        ]
