"""The end of a turn in the mode `plan`: a plan is accepted, which brings back the mode before, or answered."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final

from agent.events import QuestionAsked, SessionEvent
from agent.permissions.action import PersonQuestion
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from models.messages import ToolCall

ACCEPT: Final = "Yes, carry out the plan"
ACCEPTED: Final = "The plan is accepted. Carry it out."
_PLAN: Final = re.compile(r"(?im)^\W*(?:the |implementation )*plan\b|^\W*(?:实施)?(?:计划|方案)")


async def ask_about_plan(policy: Policy, answer: str, ask: Callable[[SessionEvent], Awaitable[object]]) -> str:
    """The message that follows the model's answer; "" where it holds no plan, or the plan is left open.

    `ask` shows the question and sets its answer.
    """
    if policy.mode is not PermissionMode.PLAN or not _PLAN.search(answer):
        return ""
    mode = policy.mode_before_plan
    text = f"Carry out this plan? The mode becomes {mode}: {mode.effect(sandboxed=policy.sandboxed)}"
    asked = QuestionAsked(
        ToolCall("plan", "plan", "{}"), PersonQuestion(text, (ACCEPT,)), asyncio.get_running_loop().create_future()
    )
    await ask(asked)
    words = (asked.answer.result() or "") if asked.answer.done() else ""
    if words != ACCEPT:
        return words.strip()
    policy.set_mode(mode)
    return ACCEPTED
