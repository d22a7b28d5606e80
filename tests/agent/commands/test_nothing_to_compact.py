"""/compact where nothing can leave: it says why."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import Proposal, TextResult
from agent.events import UserStored
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat, varied

OWN = " ".join(f"Valve {number} opens at {number + 20} degrees, and I want it in the plan." for number in range(40))


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Session]:
    models = ModelSettings(window=40_000, tools=False, retries=0)
    opened = open_session(workspace, tmp_path, server, models=models, context=ContextSettings(recall=False))
    yield opened
    await opened.close()


async def _compact(session: Session) -> str:
    outcome = await registry.run(session, "/compact --yes")
    if isinstance(outcome, Proposal):
        outcome = await outcome.run(lambda _: None)
    assert isinstance(outcome, TextResult)
    return outcome.markdown


async def test_where_only_the_persons_own_words_remain(session: Session, server: Loopback) -> None:
    server.answers_all(lambda _: chat("Ok."))
    await turn(session, OWN)
    said = await _compact(session)
    assert "are your own messages, which are not shortened" in said and "fits" not in said


async def test_where_every_turn_has_left(session: Session, server: Loopback) -> None:
    server.answers_all(lambda _: chat(varied("The boiler is in the cellar, beside the meter. ", 200)))
    await turn(session, "Where is the boiler? I keep asking.")
    assert "Archived" in await _compact(session)
    said = await _compact(session)
    assert "Everything is archived already" in said and "including your own messages, which are not shortened" in said


async def test_where_a_summary_would_be_as_long(session: Session, server: Loopback) -> None:
    server.answers_all(lambda _: chat("It is in the cellar, beside the meter. " * 7))
    await turn(session, "Where?")
    said = await _compact(session)
    assert "the turn takes" in said and "its summary would take as many" in said


async def test_while_an_answer_is_written(session: Session, server: Loopback) -> None:
    server.answers_all(lambda _: chat(varied("In the cellar. ", 300)))
    await turn(session, "Where is it?")
    events = session.send("And now?")
    assert isinstance(await anext(events), UserStored)
    assert "while an answer is being written" in await _compact(session)
    await events.aclose()
