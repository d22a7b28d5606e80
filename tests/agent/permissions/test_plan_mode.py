"""The mode plan: read-only, and its end: a plan is accepted, which brings back the mode before, answered, or left."""

import pytest

from agent.events import QuestionAsked, SessionEvent
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict
from agent.services.plan_mode import ACCEPT, ACCEPTED, ask_about_plan
from tests.agent.permissions.test_policy import EDIT, FETCH, NOTE, READ, RUN

PLAN = "I read the parser.\n\n# Plan\n\n1. Mend it."


async def ended(policy: Policy, answer: str, words: str | None) -> tuple[str, str]:
    """The message that follows, and what was asked."""
    asked: list[str] = []

    async def ask(event: SessionEvent) -> None:
        assert isinstance(event, QuestionAsked)
        asked.append(event.question.text)
        event.answer.set_result(words)

    return await ask_about_plan(policy, answer, ask), "".join(asked)


@pytest.mark.parametrize("mode", [PermissionMode.ASK, PermissionMode.EDIT, PermissionMode.AUTO])
async def test_an_accepted_plan_brings_back_the_mode_before(mode: PermissionMode) -> None:
    policy = Policy(RuleSet())
    policy.set_mode(mode)
    policy.set_mode(PermissionMode.PLAN)
    message, question = await ended(policy, PLAN, ACCEPT)
    assert message == ACCEPTED and policy.mode is mode
    assert question.startswith(f"Carry out this plan? The mode becomes {mode}: ")


async def test_steps_through_the_modes_are_not_the_mode_before() -> None:
    policy = Policy(RuleSet(), PermissionMode.EDIT)
    for mode in (PermissionMode.AUTO, PermissionMode.ASK, PermissionMode.READ_ONLY, PermissionMode.PLAN):
        policy.set_mode(mode, passing=True)
    policy.decide(READ)
    await ended(policy, PLAN, ACCEPT)
    assert policy.mode is PermissionMode.EDIT
    policy.set_mode(PermissionMode.READ_ONLY, passing=True)
    policy.decide(READ)  # the person works in this mode
    policy.set_mode(PermissionMode.PLAN, passing=True)
    await ended(policy, PLAN, ACCEPT)
    assert policy.mode is PermissionMode.READ_ONLY


@pytest.mark.parametrize(
    ("words", "message"), [("Smaller steps, please.", "Smaller steps, please."), ("", ""), (None, "")]
)
async def test_another_answer_goes_to_the_model_and_the_mode_stays(words: str | None, message: str) -> None:
    policy = Policy(RuleSet(), PermissionMode.PLAN)
    assert (await ended(policy, PLAN, words))[0] == message
    assert policy.mode is PermissionMode.PLAN


@pytest.mark.parametrize("answer", ["Parity is a sum of bits.", "The planet turns.", "We planned that.", ""])
async def test_an_answer_without_a_plan_asks_nothing(answer: str) -> None:
    assert await ended(Policy(RuleSet(), PermissionMode.PLAN), answer, ACCEPT) == ("", "")


@pytest.mark.parametrize(
    "answer", ["# Plan\n1. x", "**Plan**\n- x", "The plan:\n1. x", "## 计划\n1. x", "Implementation plan\n- x"]
)
async def test_a_heading_tells_a_plan(answer: str) -> None:
    assert (await ended(Policy(RuleSet(), PermissionMode.PLAN), answer, ACCEPT))[0] == ACCEPTED
    assert await ended(Policy(RuleSet()), answer, ACCEPT) == ("", "")


def test_the_mode_plan_only_reads() -> None:
    policy = Policy(RuleSet(), PermissionMode.PLAN, sandboxed=True)
    assert policy.decide(READ).verdict is Verdict.ALLOW
    assert {policy.decide(action).verdict for action in (EDIT, RUN, FETCH, NOTE)} == {Verdict.DENY}


def test_each_mode_is_reached_by_steps() -> None:
    mode, seen = PermissionMode.ASK, set[PermissionMode]()
    while mode not in seen:
        seen.add(mode)
        mode = mode.next
    assert seen == set(PermissionMode)
