"""What the screen shows while a turn runs: seconds, the plan, the mode; and calls with their results."""

import asyncio
from typing import Any

import pytest
from msgspec import structs

from agent.events import PlanUpdated, ReasoningDelta, TextDelta, ToolFinished, ToolStarted
from agent.permissions.action import Access, Action
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet
from context.checklist import Checklist, PlanStep, StepState
from foundation.figures import elapsed
from memory.records import EntryKind
from models.messages import Role, ToolCall
from tests.tui.fakes import FakeSession, answer, spoken
from tui.chat.tool_result import stored_lines
from tui.chat.turn_view import TurnView
from tui.widgets.status import StatusInfo, fit_line

SIZES = [(80, 24), (200, 50)]
LISTED = Action(tool="read_file", access=Access.READ, summary="read 陶器.py")


def started(id_: str, summary: str) -> ToolStarted:
    return ToolStarted(ToolCall(id_, "read_file", "{}"), summary, LISTED)


def finished(id_: str, text: str, *, failed: bool = False) -> ToolFinished:
    return ToolFinished(ToolCall(id_, "read_file", "{}"), text, len(text), failed, entry="e_3")


def plan(*states: StepState) -> Checklist:
    return Checklist(tuple(PlanStep(f"step {number} 步骤 🏺", state) for number, state in enumerate(states)))


DONE, PENDING = StepState.DONE, StepState.PENDING


# Seconds


@pytest.mark.parametrize("size", SIZES)
async def test_the_seconds_of_a_turn_and_of_a_call_are_counted(open_chat: Any, size: tuple[int, int]) -> None:
    now = [100.0]
    async with open_chat(size=size) as chat:
        view = TurnView(chat.screen.transcript, chat.screen.status, clock=lambda: now[0])
        view.write(ReasoningDelta("hm"))
        now[0] += 1.9
        view.tick()
        await chat.pilot.pause()
        assert chat.seen[-1].endswith("thinking · 2 characters · Esc stops"), "few seconds are not shown"
        now[0] += 7.4
        view.tick()
        await chat.pilot.pause()
        assert chat.seen[-1].endswith("thinking · 2 characters · 9 s · Esc stops")
        now[0] += 24
        view.tick()
        await chat.pilot.pause()
        assert chat.seen[-1].endswith("thinking · 2 characters · stalled 33 s · Esc stops")
        view.write(started("call_1", "read 陶器.py"))
        now[0] += 65
        view.tick()
        await chat.pilot.pause()
        assert "▸ read 陶器.py · 1 min 5 s" in [line.strip() for line in chat.lines]
        assert "running read_file · 1 min 5 s · Esc stops" in chat.seen[-1]
        view.write(finished("call_1", "text"))
        assert "▸ read 陶器.py" in [line.strip() for line in chat.lines]
        view.write(answer("Done.")[-1])
        await chat.pilot.pause()
        assert chat.screen.status.info.seconds == 0
        assert " s ·" not in chat.seen[-1]


async def test_a_stopped_call_counts_no_more(open_chat: Any) -> None:
    now = [100.0]
    async with open_chat() as chat:
        view = TurnView(chat.screen.transcript, chat.screen.status, clock=lambda: now[0])
        view.write(started("call_1", "run make"))
        now[0] += 9
        view.tick()
        assert "  ▸ run make · 9 s" in chat.lines
        view.write(answer("Done.")[-1])
        assert "  ▸ run make" in chat.lines


async def test_the_seconds_are_counted_while_an_answer_is_awaited(open_chat: Any) -> None:
    gate = asyncio.Event()
    events = answer("Well.")
    async with open_chat(answers=lambda _: [*events[:3], gate, *events[3:]]) as chat:
        await chat.say("hello")
        await chat.until(lambda: "connecting · 2 s · Esc stops" in chat.seen[-1])
        await chat.until(lambda: "connecting · 3 s · Esc stops" in chat.seen[-1])
        gate.set()
        await chat.quiet()
        assert "Esc stops" not in chat.seen[-1]


async def test_without_animations_the_seconds_are_counted_in_larger_steps(
    open_chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.chat.controller.TICK_S", 3600)
    monkeypatch.setattr("tui.chat.controller.STILL_TICK_S", 2.1)
    gate = asyncio.Event()
    events = answer("Well.")
    async with open_chat(answers=lambda _: [*events[:3], gate, *events[3:]]) as chat:
        chat.app.animation_level = "none"
        await chat.say("hello")
        await chat.until(lambda: "connecting · 2 s · Esc stops" in chat.seen[-1])
        gate.set()
        await chat.quiet()


def test_the_seconds_stand_before_the_keys() -> None:
    assert [elapsed(seconds) for seconds in (2, 59, 60, 3_599, 7_380)] == [
        "2 s", "59 s", "1 min 0 s", "59 min 59 s", "2 h 3 min",
    ]  # fmt: skip
    assert fit_line(StatusInfo(doing="/model", seconds=3), 80) == ("", "/model · 3 s")
    assert fit_line(StatusInfo(seconds=3), 80) == ("", "")


# Calls and their results


@pytest.mark.parametrize("size", SIZES)
async def test_results_of_calls_side_by_side_stand_below_their_calls(open_chat: Any, size: tuple[int, int]) -> None:
    calls = [
        started("call_1", "read 一.py"),
        started("call_2", "read 二.py"),
        started("call_3", "read 三 🏺.py"),
        finished("call_1", "x" * 1_200),
        finished("call_2", "Not readable: 二.py", failed=True),
        finished("call_3", "three"),
    ]
    events = answer("Read.")
    async with open_chat(size=size, answers=lambda _: [*events[:3], *calls, TextDelta("Well."), *events[-2:]]) as chat:
        await chat.say("read them")
        await chat.quiet()
        lines = [line.strip() for line in chat.lines if line.strip()]
        first = lines.index("▸ read 一.py")
        assert lines[first:] == [
            "▸ read 一.py",
            "✓ 1.2k characters",
            "▸ read 二.py",
            "✗ failed: Not readable: 二.py",
            "▸ read 三 🏺.py",
            "✓ 5 characters",
            "◆ Well.",
        ]


@pytest.mark.parametrize(
    ("summary", "text", "failed", "lines"),
    [
        (
            "run pytest -q",
            "[exit 0 after 0.1 s]\nok\n",
            False,
            ["▸ run pytest -q", "  ✓ exit 0 after 0.1 s", "    ok"],
        ),
        ("run make", "Not done: run make. 不要 🙂", True, ["▸ run make", "  ✗ not done: 不要 🙂"]),
        (
            "run: Missing argument",
            "Missing argument: x. Valid: y",
            True,
            ["▸ run", "  ✗ failed: Missing argument: x. Valid: y"],
        ),
        ("run make", "Not run: no shell.", True, ["▸ run make", "  ✗ failed: Not run: no shell."]),
        ("", "[exit 0 after 0.1 s]\nok\n", False, ["▸ ✓ run_command: exit 0 after 0.1 s", "    ok"]),
    ],
)
def test_a_stored_call_has_the_lines_that_it_had(summary: str, text: str, failed: bool, lines: list[str]) -> None:
    shown = stored_lines("run_command", summary, text, len(text), failed=failed)
    assert [f"{line.prefix}{line.text}" for line in shown] == lines


@pytest.mark.parametrize(
    ("summary", "text", "failed", "lines"),
    [
        ("write 出.py", "出.py: 600 bytes written.", False, ["▸ write 出.py", "  ✓ 600 bytes written."]),
        ("write 出.py", "Not writable: 出.py.", True, ["▸ write 出.py", "  ✗ failed: Not writable: 出.py."]),
        (
            "write a: b.py: Nothing to change: The file would be as it is",
            "Nothing to change: The file would be as it is.",
            True,
            ["▸ write a: b.py", "  ✗ failed: Nothing to change: The file would be as it is."],
        ),
        ("apply a patch", "calc.py: 1 line changed.", False, ["▸ apply a patch", "  ✓ calc.py: 1 line changed."]),
    ],
)
def test_a_write_names_its_file_once_however_it_ends(summary: str, text: str, failed: bool, lines: list[str]) -> None:
    shown = stored_lines("write_file", summary, text, len(text), failed=failed)
    assert [f"{line.prefix}{line.text}" for line in shown] == lines


async def test_a_resumed_conversation_shows_its_calls(open_chat: Any) -> None:
    session = FakeSession(lambda text: answer(text))
    meta = {"name": "run_command", "summary": "run pytest -q", "failed": False}
    call = spoken(1, Role.TOOL, "[exit 0 after 0.1 s]\n完成 🎉\n")
    session.entries = [structs.replace(call, kind=EntryKind.TOOL_RESULT, meta=meta)]
    async with open_chat(session=session, resume="c_1") as chat:
        await chat.until(lambda: "  ▸ run pytest -q" in chat.lines)
        assert [line.strip() for line in chat.lines if line.strip()] == [
            "▸ run pytest -q",
            "✓ exit 0 after 0.1 s",
            "完成 🎉",
        ]


async def test_a_resumed_conversation_shows_a_call_that_a_killed_program_began(open_chat: Any) -> None:
    session = FakeSession(lambda text: answer(text))
    session.entries = [spoken(1, Role.USER, "推送 it"), spoken(2, Role.ASSISTANT, "")]
    session.interrupted = {2: [ToolCall("call_1", "run_command", '{"command": "git push 🚀"}')]}
    async with open_chat(session=session, resume="c_1") as chat:
        await chat.until(lambda: "  ▸ run_command: git push 🚀" in chat.lines)
        shown = [line.strip() for line in chat.lines if line.strip()]
        after = shown.index("▸ run_command: git push 🚀") + 1
        assert shown[after] == "✗ interrupted: no result was stored; it may have run in part"


# The plan


@pytest.mark.parametrize("size", SIZES)
async def test_a_plan_that_is_done_leaves_with_its_turn(open_chat: Any, size: tuple[int, int]) -> None:
    gate = asyncio.Event()
    plans = {"begin": plan(*[DONE] * 4, *[PENDING] * 5), "end": plan(*[DONE] * 9)}
    events = answer("Well.")
    async with open_chat(
        size=size, answers=lambda text: [*events[:3], PlanUpdated(plans[text]), gate, *events[3:]]
    ) as chat:
        await chat.say("begin")
        await chat.until(lambda: any("plan  4 of 9 done, 4 not shown · F4 hides it" in line for line in chat.seen))
        assert any("○ step 4 步骤 🏺" in line for line in chat.seen)
        gate.set()
        await chat.quiet()
        assert any("○ step 4" in line for line in chat.seen), "what is open stays"
        gate.clear()
        await chat.say("end")
        await chat.until(lambda: any("plan  9 of 9 done" in line for line in chat.seen))
        gate.set()
        await chat.quiet()
        assert not any("plan  9 of 9" in line for line in chat.seen)


async def test_an_unfinished_plan_is_one_line_in_a_later_turn(open_chat: Any) -> None:
    unfinished, events = plan(DONE, StepState.DOING, PENDING), answer("Well.")

    def told(text: str) -> list[Any]:
        return [*events[:3], *([PlanUpdated(unfinished)] if text == "plan" else []), *events[3:]]

    async with open_chat(answers=told) as chat:
        await chat.say("plan")
        await chat.quiet()
        assert any("○ step 2" in line for line in chat.seen)
        await chat.say("something else")
        await chat.quiet()
        assert not any("○ step 2" in line for line in chat.seen)
        assert any(line.strip().startswith("plan  1 of 3 done · ▸ step 1") for line in chat.seen)
        await chat.press("f4", "f4")
        assert any("○ step 2" in line for line in chat.seen), "F4 brings the steps back"
        await chat.say("plan")
        await chat.quiet()
        assert any("○ step 2" in line for line in chat.seen)


@pytest.mark.parametrize(
    ("size", "shown"), [((40, 10), "plan  1 of 4 done · ○ step 1 步骤"), ((20, 5), "plan  1 of 4…")]
)
async def test_a_plan_is_one_line_on_a_low_screen(open_chat: Any, size: tuple[int, int], shown: str) -> None:
    async with open_chat(
        size=size, answers=lambda text: [PlanUpdated(plan(DONE, PENDING, PENDING, PENDING)), *answer("Well.")]
    ) as chat:
        await chat.say("begin")
        await chat.quiet()
        (line,) = [line.strip() for line in chat.seen if "plan " in line or "step" in line]
        assert line.startswith(shown)
        assert any("❯ Ask" in line for line in chat.seen), "the prompt has its row"
        await chat.pilot.resize_terminal(80, 24)
        await chat.until(lambda: any("○ step 3" in line for line in chat.seen))
        await chat.pilot.resize_terminal(80, 12)
        await chat.until(lambda: not any("○ step 3" in line for line in chat.seen))


@pytest.mark.parametrize("by", ["key", "click"])
async def test_a_hidden_plan_comes_back_by_key_or_when_it_changes(open_chat: Any, by: str) -> None:
    plans = {"begin": plan(DONE, PENDING), "same": plan(DONE, PENDING), "other": plan(DONE, PENDING, PENDING)}

    def is_seen() -> bool:
        return any("step 1 步骤" in line for line in chat.seen)

    async with open_chat(answers=lambda text: [PlanUpdated(plans[text]), *answer("Well.")]) as chat:
        await chat.press("f4")
        assert not any("plan  " in line for line in chat.seen), "there is none yet"
        await chat.say("begin")
        await chat.until(is_seen)
        await (chat.press("f4") if by == "key" else chat.pilot.click("#plan"))
        await chat.until(lambda: not is_seen())
        await chat.say("same")
        await chat.quiet()
        assert not is_seen(), "it did not change"
        await chat.say("other")
        await chat.until(is_seen)
        await chat.press("f4", "f4")
        assert is_seen()


async def test_a_long_plan_is_shown_around_its_present_step(open_chat: Any) -> None:
    async with open_chat(answers=lambda _: [PlanUpdated(plan(*[DONE] * 6, *[PENDING] * 3)), *answer("Well.")]) as chat:
        await chat.say("begin")
        await chat.until(lambda: any("○ step 6" in line for line in chat.seen))
        assert not any("step 0" in line for line in chat.seen)


# The mode


@pytest.mark.parametrize("size", SIZES)
async def test_the_newest_mode_alone_is_explained_and_not_for_long(
    open_chat: Any, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.chat.screen.MODE_SHOWN_S", 0.3)
    async with open_chat(size=size, notifications=True) as chat:
        await chat.press("shift+tab", "shift+tab")
        await chat.until(lambda: "edits in the project are allowed; commands need confirmation." in chat.seen[-1])
        assert "mode edit" in chat.seen[-1]
        assert not any("read-only" in line for line in chat.seen)
        assert not any("commands need confirmation" in line for line in chat.seen[:-1])
        await chat.until(lambda: "commands need confirmation" not in chat.seen[-1])
        assert "mode edit" in chat.seen[-1]


async def test_a_mode_without_a_sandbox_says_so_in_one_line(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.press("shift+tab", "shift+tab", "shift+tab")
        await chat.until(
            lambda: "edits are allowed; commands need confirmation, because there is no sandbox here." in chat.seen[-1]
        )


@pytest.mark.parametrize("mode", PermissionMode)
async def test_each_mode_is_explained_whole_beside_its_name_at_80_columns(open_chat: Any, mode: PermissionMode) -> None:
    async with open_chat(size=(80, 24)) as chat:
        chat.session.permissions = Policy(RuleSet(), sandboxed=True)
        while chat.session.permissions.mode.next is not mode:
            chat.session.permissions.set_mode(chat.session.permissions.mode.next)
        await chat.press("shift+tab")
        await chat.until(lambda: mode.effect(sandboxed=True) in chat.seen[-1])
        assert f"mode {mode}" in chat.seen[-1].lower()
        assert "…" not in chat.seen[-1]
        if mode is PermissionMode.AUTO:
            assert "if /undo can restore" in chat.seen[-1]
