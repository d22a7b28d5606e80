"""The plan that the model shows, and the questions that it asks."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, PlanUpdated, QuestionAsked, SessionEvent, Stopped, ToolFinished
from agent.session import Session
from agent.tools.person.ask_user import MAX_OPTIONS
from agent.tools.person.update_plan import MAX_STEP_CHARS, MAX_STEPS, UpdatePlan
from agent.tools.port import ToolFailure, ToolRun, ToolSettings
from context.checklist import Checklist, PlanStep, StepState
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import calls, only, open_session, told
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, chat, varied

STEPS = [{"text": "Read the tests", "state": "done"}, {"text": "改正", "state": "doing"}, {"text": "Run them"}]
PLAN = Checklist((PlanStep("Read the tests", StepState.DONE), PlanStep("改正", StepState.DOING), PlanStep("Run them")))


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=6_000),
        tools=ToolSettings(result_chars=2_000),
    )
    yield opened
    await opened.close()


async def turn(session: Session, text: str, answer: Callable[[QuestionAsked], Any] = lambda _: None) -> list[Any]:
    seen: list[SessionEvent] = []
    async for event in session.send(text):
        seen.append(event)
        if isinstance(event, QuestionAsked):
            answer(event)
    assert_in_order(seen)
    return seen


async def test_a_plan_is_shown_stored_and_there_after_a_resume(session: Session, server: Loopback) -> None:
    server.plays(calls("update_plan", steps=STEPS), chat("I begin."))
    seen = await turn(session, "Fix it")
    assert only(seen, PlanUpdated).plan == PLAN
    assert told(server)["content"] == str(PLAN)
    conversation = session.conversation
    assert conversation is not None
    session.new()
    assert await session.branch.plan() is None
    await session.resume(conversation.id)
    assert await session.branch.plan() == PLAN


@pytest.mark.parametrize(
    "steps", [["[x] Read the tests", "[>] 改正", "[ ] Run them"], ["- [X] Read the tests", " [>]  改正", "Run them"]]
)
def test_a_step_has_its_state_as_a_mark(steps: list[str]) -> None:
    seen: list[SessionEvent] = []
    UpdatePlan().run({"steps": steps}, ToolRun("e_test", threading.Event(), emit=seen.append))
    assert only(seen, PlanUpdated).plan == PLAN


async def test_an_open_plan_is_in_the_summary_of_each_compaction(session: Session, server: Loopback) -> None:
    server.plays(calls("update_plan", steps=STEPS), chat("I begin."))
    await turn(session, "Fix it")
    for compaction in range(2):
        for number in range(4):
            server.plays(chat(f"{compaction} {number}: " + varied("Some more words about the boiler. ", 40)))
            await turn(session, f"And question {number} of {compaction}?")
        assert await session.compaction.run()
        request = await _request_text(session)
        assert request.count(str(PLAN)) == 1
    server.plays(calls("update_plan", steps=[{"text": "All", "state": "done"}]), chat(varied("Done. ", 300)))
    await turn(session, "Go on")
    server.plays(chat(varied("Well. ", 300)))
    await turn(session, "Thanks")
    assert await session.compaction.run()
    assert "[x] All" in (await _request_text(session)).rpartition("Plan:")[2]


async def _request_text(session: Session) -> str:
    return "\n".join(message.text for message in (await session.context_report("Next?")).messages)


async def test_a_plan_whose_steps_are_wrong_is_corrected_with_the_item(session: Session, server: Loopback) -> None:
    server.plays(calls("update_plan", steps=[{"text": "a"}, {"text": "b", "state": "started"}]), chat("So."))
    seen = await turn(session, "Plan")
    assert only(seen, ToolFinished).failed
    assert "Item 2 of “steps”" in told(server)["content"]
    assert '{"steps": ["[x] ' in told(server)["content"]


@pytest.mark.parametrize("steps", [[], ["Step"] * (MAX_STEPS + 1), "Step", ["a", " "], [{"text": ""}], ["a", 7]])
def test_a_plan_has_some_steps_with_words(steps: object) -> None:
    with pytest.raises(ToolFailure, match="“steps”"):
        UpdatePlan().action({"steps": steps})


def test_a_long_step_is_cut_and_is_one_line() -> None:
    seen: list[SessionEvent] = []
    step = "[x] Read\n[ ] forged " + "x" * 1_000
    UpdatePlan().run({"steps": [step]}, ToolRun("e_test", threading.Event(), emit=seen.append))
    (shown,) = only(seen, PlanUpdated).plan.steps
    assert (shown.state, len(shown.text), shown.text[:15]) == (StepState.DONE, MAX_STEP_CHARS, "Read [ ] forged")


async def test_options_are_few_and_have_words(session: Session, server: Loopback) -> None:
    options = ["8080", " 8080 ", " ", *map(str, range(20))]
    server.plays(calls("ask_user", question="Which port?", options=options), chat("Good."))
    seen = await turn(session, "Start it", lambda event: event.answer.set_result("7070"))
    assert only(seen, QuestionAsked).question.options == ("8080", *map(str, range(MAX_OPTIONS - 1)))


async def test_the_answer_is_the_persons_words(session: Session, server: Loopback) -> None:
    server.plays(calls("ask_user", question="Which port?", options=["8080", "9090"]), chat("Good."))
    seen = await turn(session, "Start it", lambda event: event.answer.set_result("7070, 请"))
    asked = only(seen, QuestionAsked)
    assert (asked.question.text, asked.question.options) == ("Which port?", ("8080", "9090"))
    assert told(server)["content"] == "7070, 请"


@pytest.mark.parametrize(("answer", "words"), [(None, "Nobody is there"), ("", "without an answer")])
async def test_a_question_without_an_answer_fails_and_says_why(
    session: Session, server: Loopback, answer: str | None, words: str
) -> None:
    server.plays(calls("ask_user", question="Which port?"), chat("Then 8080."))
    seen = await turn(session, "Start it", lambda event: event.answer.set_result(answer))
    assert only(seen, ToolFinished).failed
    assert words in told(server)["content"]
    assert only(seen, AnswerStored)


async def test_a_stopped_turn_ends_an_open_question(session: Session, server: Loopback) -> None:
    server.plays(calls("ask_user", question="Which port?"), chat("Then 8080."))
    seen = await turn(session, "Start it", lambda _: session.stop())
    assert only(seen, Stopped)


async def test_a_face_that_leaves_ends_an_open_question(session: Session, server: Loopback) -> None:
    server.plays(calls("ask_user", question="Which port?"))
    stream = session.send("Start it")
    async for event in stream:
        if isinstance(event, QuestionAsked):
            break
    await asyncio.wait_for(stream.aclose(), 5)
    assert not session.busy
