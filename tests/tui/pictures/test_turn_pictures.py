"""A turn: reasoning, tool calls, the plan, receipts; running, done and failed, closed and open."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.checkpoints.change import ChangedFile, CheckpointKind, CheckpointRecord
from agent.events import (
    CheckpointMade,
    Compacted,
    Notice,
    PermissionDenied,
    PlanUpdated,
    ReasoningDelta,
    SessionEvent,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agent.permissions.action import Access, Action
from context.checklist import Checklist, PlanStep, StepState
from context.compaction.compact import CompactionReceipt
from models.messages import ToolCall
from tests.tui.fakes import RECALLED, FakeSession, answer
from tests.tui.pictures.acts import saying
from tests.tui.pictures.conftest import Picture
from tui.app import PalimpsestApp
from tui.widgets.transcript.block import BlockText

PLAN = Checklist(
    (
        PlanStep("Read the boiler's log 锅炉日志", StepState.DONE),
        PlanStep("Write the dates down 🗓", StepState.DOING),
        PlanStep("Call Hansen", StepState.PENDING),
    )
)
QUESTION = "Write the dates of 锅炉 down 🙂"


def call(id_: str, tool: str, summary: str, access: Access = Access.READ) -> ToolStarted:
    return ToolStarted(ToolCall(id_, tool, "{}"), summary, Action(tool=tool, access=access, summary=summary))


def result(started: ToolStarted, text: str, *, failed: bool = False) -> ToolFinished:
    return ToolFinished(started.call, text, len(text), failed, entry="e_3")


READ = call("call_1", "read_file", "read 锅炉/log.md")
RUN = call("call_2", "run_command", "run make dates 🗓", Access.RUN)
EDIT = call("call_3", "edit_file", "edit 锅炉/dates.md", Access.EDIT)
PUSH = call("call_4", "run_command", "run git push", Access.RUN)
DIFF = """--- 锅炉/dates.md
+++ 锅炉/dates.md
@@ -1,3 +1,3 @@
 # Dates 日期
-Hansen: April
+Hansen: May 🙂
 warranty: 2027
"""
CALLS: tuple[SessionEvent, ...] = (
    READ,
    result(READ, "1 | serviced in May\n2 | 每年五月保养 🙂\n"),
    RUN,
    result(RUN, "make: *** No rule to make target 'dates'.  Stop.\n(exit code 2)", failed=True),
    EDIT,
    result(EDIT, "Edited 锅炉/dates.md: 1 line added, 1 removed."),
    PUSH,
    PermissionDenied(
        PUSH.call,
        PUSH.action or Action(tool="", access=Access.RUN, summary=""),
        "A rule denies run_command(git push *).",
    ),
    result(PUSH, "Not done: run git push. A rule denies run_command(git push *).", failed=True),
)


def turn(*events: SessionEvent, ends: bool = True) -> FakeSession:
    """A turn with these events before its answer; one that does not end is waited for."""
    told = answer("Hansen comes in May. 五月。", recalled=RECALLED)
    rest: list[Any] = told[3:] if ends else [asyncio.Event()]
    return FakeSession(lambda _: [*told[:3], *events, *rest])


def until(text: str, *keys: str) -> Any:
    """A message, and what its turn shows as soon as it has these words; then keys."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add(QUESTION)
        async with asyncio.timeout(20):
            while text not in app.chat.status.info.doing:
                await pilot.pause(0.02)
        for key in keys:
            await pilot.press(key)

    return act


async def test_reasoning_that_is_written(picture: Picture) -> None:
    await picture(until("thinking"), session=turn(ReasoningDelta("The log says May. 五月 🙂", 1.2), ends=False))


async def test_reasoning_that_is_opened(picture: Picture) -> None:
    reasoning = ReasoningDelta("The log says **May**. 五月 🙂\n\nSo Hansen is called in April.", 4.2)
    await picture(saying(QUESTION, "ctrl+up", "ctrl+up", "enter"), session=turn(reasoning))


async def test_reasoning_that_is_stalled(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.chat.activity.STALL_S", -1.0)
    monkeypatch.setattr("tui.chat.activity.elapsed", lambda _: "12 s")
    await picture(until("stalled"), session=turn(ReasoningDelta("The log", 1.2), ends=False))


async def test_a_tool_that_runs(picture: Picture) -> None:
    events = (READ, CALLS[1], RUN, ToolProgress(RUN.call, "reading 日志 🙂\n"))
    await picture(until("日志"), session=turn(*events, ends=False))


async def test_tools_that_are_done_failed_and_denied(picture: Picture) -> None:
    await picture(saying(QUESTION), session=turn(*CALLS))


async def test_a_diff_that_is_opened(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.chat.blocks.StoredTexts.result", lambda *_: lambda: BlockText(DIFF, "diff"))
    await picture(saying(QUESTION, "ctrl+up", "ctrl+up", "ctrl+up", "enter"), session=turn(*CALLS))


async def test_the_plan_above_the_prompt(picture: Picture) -> None:
    await picture(saying(QUESTION), session=turn(PlanUpdated(PLAN)))


async def test_receipts_and_notices(picture: Picture) -> None:
    text = (
        "Archived 12 older turns (24 entries) on 3 pages and replaced them with a summary of 900 tokens. "
        "Request: 9,800 → 4,100 tokens."
    )
    receipt = CompactionReceipt(text=text, entries=24, turns=12, pages=3, archived="House · e_1 to e_24")
    file = ChangedFile(folder="/code", path="锅炉/dates.md", before="a", after="b")
    record = CheckpointRecord(
        id="cp_1", time=0, kind=CheckpointKind.TOOL, conversation="c_1", message="e_1", entry="e_3", files=(file,)
    )
    notices = (
        Notice("info", "AGENTS.md was read anew. 🙂"),
        Notice("warning", "MEMORY.md is longer than its share: the first 1,340 tokens are used. 太长"),
    )
    await picture(saying(QUESTION), session=turn(*notices, Compacted(receipt), CheckpointMade(record)))


async def test_an_answer_that_is_written(picture: Picture) -> None:
    await picture(until("answering"), session=turn(TextDelta("Hansen comes in **May** 五月"), ends=False))
