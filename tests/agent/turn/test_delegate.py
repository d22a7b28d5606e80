"""`delegate`: a question is answered in a conversation of its own, stored, bounded and stopped with the turn."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, SessionEvent, Stopped, ToolFinished, ToolProgress, ToolStarted
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from memory.origin import DERIVED_FROM
from memory.search import Query
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, several_calls, turn
from tests.agent.turn.event_order import assert_in_order
from tests.agent.turn.test_text_tools import completions
from tests.agent.turn.test_turn import stalled
from tests.loopback import Loopback, Reply, chat, json_reply

QUESTION = "Which harbour does the ferry Aurelia leave from?"


def delegated(question: str = QUESTION, **more: Any) -> Reply:
    return several_calls(("delegate", {"question": question, **more}))


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "ferries.txt").write_text("The ferry Aurelia leaves from Port Ellison.\n")
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(window=16_000, retries=0),
        tools=ToolSettings(delegations=2, delegate_calls=2, delegate_tokens=5_000),
        project=(project,),
    )
    yield opened
    await opened.close()


def finished(seen: list[SessionEvent]) -> ToolFinished:
    return next(event for event in seen if isinstance(event, ToolFinished))


def texts(body: Any) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


async def test_a_question_is_answered_in_a_fresh_context_and_its_course_is_stored(
    session: Session, server: Loopback
) -> None:
    server.plays(
        delegated(files=["ferries.txt"]),
        calls("read_file", path="ferries.txt"),
        chat("It leaves from Port Ellison, says ferries.txt."),
        chat("Port Ellison."),
    )
    seen = await turn(session, "My cousin Bartholomew asks about ferries.")
    assert_in_order(seen)
    assert isinstance(seen[-1], AnswerStored) and seen[-1].text == "Port Ellison."
    assert [type(event).__name__ for event in seen if isinstance(event, ToolStarted | ToolProgress)] == [
        "ToolStarted",
        "ToolProgress",
    ]
    _, first, second, last = completions(server)
    assert "Bartholomew" not in texts(first) and QUESTION in texts(first) and "ferries.txt" in texts(first)
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert "read_file" in offered and not offered & {"delegate", "remember", "run_command", "ask_user", "write_file"}
    assert "Port Ellison" in texts(second)
    assert "Bartholomew" in texts(last) and "It leaves from Port Ellison" in texts(last)

    shown = finished(seen).shown
    answer, conversation = shown.split("(answer ")[1].split(";")[0], shown.split("conversation ")[1].rstrip(")")
    course = session.memory.conversations.find(conversation)
    assert course.kind == "delegate" and course.title.startswith("Delegated: Which harbour")
    entries = list(session.memory.conversations.all_entries(course.seq))
    assert [entry.role for entry in entries] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert entries[-1].id == answer
    assert entries[0].meta[DERIVED_FROM] == [finished(seen).entry]  # a model's words are no evidence
    result = session.memory.conversations.find_entry(finished(seen).entry)
    assert result.meta[DERIVED_FROM] == [answer]
    assert [chat.id for chat in session.memory.conversations.recent()] == [session.conversation.id]  # type: ignore[union-attr]  # after a turn
    purposes = [row.purpose for row in session.memory.spending()]
    assert purposes == ["chat", "delegate", "delegate", "chat"]
    hits = session.memory.search.query(Query(text="ferry Aurelia harbour Ellison")).hits
    assert course.id in {hit.conversation for hit in hits}


async def test_a_delegate_changes_nothing_and_cannot_delegate(session: Session, server: Loopback) -> None:
    forbidden = several_calls(("remember", {"note": "x"}), ("delegate", {"question": "and this?"}))
    server.plays(delegated(), forbidden, chat("I cannot."), chat("So be it."))
    seen = await turn(session, "go")
    assert isinstance(seen[-1], AnswerStored)
    results = [m["content"] for m in completions(server)[2]["messages"] if m["role"] == "tool"]
    assert len(results) == 2 and all("no tool" in result for result in results)


async def test_a_delegate_that_calls_tools_it_does_not_have_goes_on(session: Session, server: Loopback) -> None:
    server.plays(
        delegated(),
        calls("run_command", command="ls"),
        calls("run_command", command="ls"),
        chat("I can only read."),
        chat("So be it."),
    )
    seen = await turn(session, "go")
    assert not finished(seen).failed and "I can only read." in finished(seen).shown
    result = [m["content"] for m in completions(server)[2]["messages"] if m["role"] == "tool"][-1]
    assert "no tool “run_command” for a delegated question" in result and "read_file" in result


async def test_calls_questions_and_tokens_are_bounded(session: Session, server: Loopback) -> None:
    read = calls("read_file", path="ferries.txt")
    server.plays(delegated(), read, read, read, chat("Too much."))
    seen = await turn(session, "go")
    assert finished(seen).failed and "tool calls" in finished(seen).shown and "conversation c_" in finished(seen).shown
    assert "the limit is 2 (tools.delegate_calls)" in finished(seen).shown
    assert isinstance(seen[-1], AnswerStored)

    expensive = chat("Never mind.", prompt_tokens=6_000)
    server.plays(delegated(), expensive, chat("Hm."))
    seen = await turn(session, "again")  # what it answered before the bound was reached counts
    assert not finished(seen).failed

    server.plays(delegated(), chat("a"), delegated(), chat("b"), delegated(), chat("Enough."))
    seen = await turn(session, "and again")
    failed = [event for event in seen if isinstance(event, ToolFinished)][-1]
    assert failed.failed and "may delegate 2 questions" in failed.shown


async def test_it_is_stopped_with_the_turn(session: Session, server: Loopback) -> None:
    server.plays(delegated(), calls("read_file", path="ferries.txt"), stalled("It is "))
    seen = await turn(session, "go", stop_at=ToolProgress)
    assert isinstance(seen[-1], Stopped)
    assert server.client_left.wait(5) or len(completions(server)) < 3
    assert finished(seen).failed


async def test_a_delegate_that_fails_says_why_and_the_turn_goes_on(session: Session, server: Loopback) -> None:
    server.plays(delegated(), json_reply({"error": {"message": "boom"}}, status=400), chat("I answer myself."))
    seen = await turn(session, "go")
    assert finished(seen).failed and "boom" in finished(seen).shown
    assert isinstance(seen[-1], AnswerStored)
