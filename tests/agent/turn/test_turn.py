"""A turn with a model on loopback: the order of its events, and what is kept where it does not end well."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import (
    AnswerStored,
    CallLimitReached,
    PermissionRequested,
    Recall,
    SessionEvent,
    Stopped,
    TextDelta,
    ToolStarted,
    TurnFailed,
    UserStored,
    WordsHidden,
)
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.errors import TemporaryFailure
from foundation.paths import Workspace
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, several_calls, turn
from tests.agent.turn.event_order import names
from tests.loopback import Loopback, Reply, Stall, chat, data, delta, json_reply, stream, varied


def stalled(*pieces: str) -> Reply:
    """An answer that says these pieces and then hangs."""
    return stream(*(data(delta(content=piece)) for piece in pieces), Stall())


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=8_000, retries=0),
        tools=ToolSettings(most_calls=2),
    )
    yield opened
    await opened.close()


async def stored(session: Session) -> list[tuple[Role | None, str]]:
    return [(entry.role, session.memory.passage(entry).text) for entry in await session.branch.history()]


async def test_an_answer(session: Session, server: Loopback) -> None:
    server.plays(chat("The boiler ", "is fine."))
    seen = await turn(session, "How is the boiler?")
    assert names(seen) == "UserStored Recall ContextReady ModelConnected TextDelta TextDelta UsageKnown AnswerStored"
    assert await stored(session) == [(Role.USER, "How is the boiler?"), (Role.ASSISTANT, "The boiler is fine.")]


async def test_what_was_recalled_is_told_with_the_most_relevant_first(session: Session, server: Loopback) -> None:
    server.plays(*[chat("Ok.")] * 4)
    for text in ("The ferry was late today.", "The ferry to Hydra costs forty euros.", "On the ferry the food is bad."):
        await turn(session, text)
    session.new()
    seen = await turn(session, "What does the ferry to Hydra cost?")
    (recall,) = [event for event in seen if isinstance(event, Recall)]
    best, *others = recall.recalled
    assert best.text == "The ferry to Hydra costs forty euros."
    assert others
    ranks = [span.rank for span in recall.recalled if not span.beside]
    assert ranks == sorted(ranks)
    assert 0 < max(span.likelihood for span in others) < best.likelihood < 1


async def test_the_message_is_on_disk_before_the_model_is_asked(session: Session, server: Loopback) -> None:
    server.plays(chat("Yes."))
    async for event in session.send("Is it kept?"):
        if isinstance(event, UserStored):
            assert not [post for post in server.posts if post.path.endswith("/chat/completions")]
            assert session.memory.cold.find(event.entry).role is Role.USER


async def test_hidden_words_are_told_after_the_message_is_stored(session: Session, server: Loopback) -> None:
    server.plays(chat("Noted."))
    seen = await turn(session, "Call me. <private>Later than never")
    assert names(seen).startswith("UserStored WordsHidden Recall ContextReady ")
    assert next(event for event in seen if isinstance(event, WordsHidden)).unclosed == len("Later than never")


async def test_tools_come_after_the_usage_and_each_further_request_is_ready_once(
    session: Session, server: Loopback
) -> None:
    server.plays(several_calls(("remember", {"note": "Blue tea."}), ("search_memory", {"query": "tea"})), chat("Done."))
    seen = await turn(session, "Remember the tea", True)
    assert names(seen) == (
        "UserStored Recall ContextReady ModelConnected UsageKnown PermissionRequested ToolStarted ToolFinished "
        "VersionMade ToolStarted ToolFinished ContextReady ModelConnected TextDelta UsageKnown AnswerStored"
    )


async def test_a_tool_that_is_declined(session: Session, server: Loopback) -> None:
    server.plays(calls("remember", note="Blue tea."), chat("As you wish."))
    seen = await turn(session, "Remember the tea", False)
    assert names(seen).count("PermissionRequested ToolStarted PermissionDenied ToolFinished") == 1
    assert not (session.workspace.root / "MEMORY.md").exists() or "Blue" not in (
        session.workspace.root / "MEMORY.md"
    ).read_text("utf-8")


async def test_more_calls_than_the_turn_may_make(session: Session, server: Loopback) -> None:
    search = ("search_memory", {"query": "tea"})
    server.plays(several_calls(search, search), several_calls(search))
    seen = await turn(session, "Search on and on", further=[PermissionAnswer(False, attended=False)])
    assert isinstance(seen[-1], TurnFailed) and seen[-1].code == "too_many_calls"
    assert "asked for 3 tool calls in one turn and 2 were made" in seen[-1].message


async def test_more_calls_go_on_where_the_person_agrees(session: Session, server: Loopback) -> None:
    search = ("search_memory", {"query": "tea"})
    server.plays(several_calls(search, search), several_calls(search), several_calls(search, search), chat("Found."))
    seen = await turn(session, "Search on and on", further=[PermissionAnswer(True), PermissionAnswer(True)])
    asked = [event for event in seen if isinstance(event, CallLimitReached)]
    assert [event.made for event in asked] == [2, 4]
    assert asked[0].question == "2 calls in this turn. Continue for another 2?"
    assert isinstance(seen[-1], AnswerStored)


async def test_a_turn_that_makes_its_last_call_and_answers_is_not_asked(session: Session, server: Loopback) -> None:
    search = ("search_memory", {"query": "tea"})
    server.plays(several_calls(search, search), chat("Found."))
    seen = await turn(session, "Search twice")
    assert isinstance(seen[-1], AnswerStored) and "CallLimitReached" not in names(seen)


async def test_calls_that_do_not_fit_are_asked_for_after_those_that_do(session: Session, server: Loopback) -> None:
    search = ("search_memory", {"query": "tea"})
    server.plays(several_calls(search, search, search), chat("Found."))
    seen = await turn(session, "Search", further=[PermissionAnswer(True)])
    assert names(seen).count("ToolFinished") == 2 and isinstance(seen[-1], AnswerStored)


@pytest.mark.parametrize("answer", [PermissionAnswer(False), None])
async def test_a_person_who_declines_more_calls_or_stops_ends_the_turn(
    session: Session, server: Loopback, answer: PermissionAnswer | None
) -> None:
    search = ("search_memory", {"query": "tea"})
    server.plays(several_calls(search, search), several_calls(search), chat("Later."))
    further = [answer] if answer else None
    seen = await turn(session, "Search on", further=further, stop_at=None if answer else CallLimitReached)
    assert isinstance(seen[-1], Stopped)
    assert [text for role, text in await stored(session) if role is Role.TOOL][-1].endswith("no more tool calls.")
    assert isinstance((await turn(session, "And now?"))[-1], AnswerStored)


async def test_a_stop_declines_a_question_that_nobody_answers(session: Session, server: Loopback) -> None:
    server.plays(calls("remember", note="Blue tea."), chat("Later."))
    seen: list[SessionEvent] = []
    async for event in session.send("Remember the tea"):
        seen.append(event)
        if isinstance(event, PermissionRequested):
            session.stop()
    assert isinstance(seen[-1], Stopped)


@pytest.mark.parametrize("at", [UserStored, TextDelta])
async def test_a_stop_keeps_what_came(session: Session, server: Loopback, at: type) -> None:
    server.plays(stalled("So ", "far"))
    seen = await turn(session, "Tell me", stop_at=at)
    last = seen[-1]
    assert isinstance(last, Stopped)
    kept = [text for role, text in await stored(session) if role is Role.ASSISTANT]
    assert kept == ([last.text] if last.text else [])
    assert (await stored(session))[0] == (Role.USER, "Tell me")


async def test_where_nothing_came_nothing_is_said_to_be_kept(session: Session, server: Loopback) -> None:
    server.plays(stream(data(delta(role="assistant"))))
    failed = (await turn(session, "go"))[-1]
    assert isinstance(failed, TurnFailed) and failed.code == "cut_off"
    assert failed.hint.startswith("Use /retry to try again")


async def test_an_answer_that_breaks_off_is_kept(session: Session, server: Loopback) -> None:
    server.plays(stream(data(delta(content="Half of")), data({"error": {"message": "out of memory"}})))
    seen = await turn(session, "Tell me")
    last = seen[-1]
    assert isinstance(last, TurnFailed) and last.text == "Half of"
    assert (await stored(session))[-1] == (Role.ASSISTANT, "Half of")


async def test_a_turn_without_a_server_fails_after_the_message_is_stored(session: Session, server: Loopback) -> None:
    server.plays(json_reply({"error": {"message": "no such model"}}, status=404))
    seen = await turn(session, "Tell me")
    assert names(seen) == "UserStored Recall ContextReady TurnFailed"


async def test_a_reader_that_leaves_has_the_answer_stored_before_its_iterator_is_closed(
    session: Session, server: Loopback
) -> None:
    server.plays(stalled("So ", "far"))
    events = session.send("Tell me")
    async for event in events:
        if isinstance(event, TextDelta) and event.text.startswith("far"):
            break
    await events.aclose()
    assert not session.busy
    assert (await stored(session))[-1] == (Role.ASSISTANT, "So far")


async def test_one_turn_at_a_time(session: Session, server: Loopback) -> None:
    events = session.send("First")
    assert isinstance(await anext(events), UserStored)
    with pytest.raises(TemporaryFailure):
        await anext(session.send("Second"))
    await events.aclose()
    server.plays(chat("Third's answer."))
    assert isinstance((await turn(session, "Third"))[-1], AnswerStored)


async def test_an_older_talk_is_compacted_before_the_request_is_ready(session: Session, server: Loopback) -> None:
    for number in range(12):
        server.plays(chat(varied("Words of an answer. ", 60)))
        seen = await turn(session, f"Message {number}: " + "words of a message " * 60)
        if "Compacted" in names(seen):
            assert "UserStored Compacted " in names(seen)
            return
        await asyncio.sleep(0)
    pytest.fail("a window of 8,000 tokens held it all")


async def test_the_line_of_a_call_is_stored_with_its_result(session: Session, server: Loopback) -> None:
    wrong = ("read_file", {"limit": [], "path": "出.py"})
    server.plays(several_calls(("remember", {"note": "Blue tea."}), wrong), chat("Done."))
    seen = await turn(session, "Remember the tea", permit=True)
    lines = [event.summary for event in seen if isinstance(event, ToolStarted)]
    results = [entry for entry in await session.branch.history() if entry.role is Role.TOOL]
    assert [entry.meta["summary"] for entry in results] == lines
    assert len(lines) == 2 and "Blue tea" in lines[0]
    assert lines[1].startswith("read 出.py: Wrong arguments"), "a mistake names its file, too"


async def test_the_stored_line_of_a_call_holds_no_words_that_were_hidden(session: Session, server: Loopback) -> None:
    server.plays(calls("find_files", pattern="*rutabaga-77*"), chat("Done."))
    await turn(session, "Look for it. <private>rutabaga-77</private>")
    (result,) = [entry for entry in await session.branch.history() if entry.role is Role.TOOL]
    assert "rutabaga" not in str(result.meta) and result.meta["summary"].startswith("find files")
