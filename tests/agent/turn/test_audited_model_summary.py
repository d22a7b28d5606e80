"""A model's summary is audited as the rules' is: what it leaves out is found, carried over, or stays in view."""

from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, Compacted, Notice
from agent.session import Session
from context.compaction import projection
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.search import Query
from models.settings import ModelSettings
from tests.agent.sessions import asked, only, open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
MODELS = ModelSettings(window=8_000, tools=False, retries=0)
BUILD = "7f3a9c21"


async def until_it_compacts(session: Session, server: Loopback) -> list[Any]:
    """The model says the build's id once; the model that summarises leaves it out."""
    for number in range(20):
        said = f"The id of the build is {BUILD}. " if number == 1 else ""
        server.answers_all(lambda _, said=said: chat(said + varied("The boiler's valve is by the window. ", 40)))
        seen = await turn(session, f"Message {number} on the boiler")
        if any(isinstance(event, Compacted | Notice) for event in seen):
            return seen
    raise AssertionError("nothing was archived")


@pytest.fixture
def writer(second_server: Loopback) -> Loopback:
    second_server.answers_all(lambda _: chat("The boiler's valve is by the window."))
    return second_server


def opened(workspace: Workspace, tmp_path: Path, server: Loopback, writer: Loopback) -> Session:
    context = ContextSettings(summary_model=f"openai:writer@{writer.address}/v1")
    return open_session(workspace, tmp_path, server, models=MODELS, context=context)


def forget_the_index(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the index of these entries is lost: no search has their terms."""
    monkeypatch.setattr(session.context.state.conversations, "recallable", lambda _seqs: frozenset[int]())


async def test_what_the_model_left_out_is_found_by_one_search(
    workspace: Workspace, server: Loopback, writer: Loopback, tmp_path: Path
) -> None:
    session = opened(workspace, tmp_path, server, writer)
    receipt = only(await until_it_compacts(session, server), Compacted).receipt
    assert "Summary written by openai:writer" in receipt.text and receipt.audited > 0 and receipt.carried == 0
    assert BUILD not in session.memory.passage(session.memory.cold.entry(receipt.summary_seq)).text
    assert any(BUILD in hit.snippet for hit in session.memory.search.query(Query(text=BUILD)).hits)
    await session.close()


async def test_what_no_search_has_is_carried_word_for_word(
    workspace: Workspace, server: Loopback, writer: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(workspace, tmp_path, server, writer)
    forget_the_index(session, monkeypatch)
    receipt = only(await until_it_compacts(session, server), Compacted).receipt
    assert "Summary written by openai:writer" in receipt.text and receipt.carried >= 1
    (summary,) = [m["content"] for m in asked(server)[-1].json["messages"] if "palimpsest-summary" in m["content"]]
    assert f"{projection.KEPT_HEADING}\n" in summary and BUILD in summary
    await session.close()


async def test_what_cannot_be_carried_cancels_the_compaction_and_says_so(
    workspace: Workspace, server: Loopback, writer: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(workspace, tmp_path, server, writer)
    forget_the_index(session, monkeypatch)
    monkeypatch.setattr(projection, "CARRY_SHARE", 0)
    seen = await until_it_compacts(session, server)
    notice = only(seen, Notice)
    assert notice.text.startswith("Nothing was archived: ") and "would be lost" in notice.text
    assert not any(isinstance(event, Compacted) for event in seen) and session.memory.vault.archives() == []
    if any(isinstance(event, AnswerStored) for event in seen):  # it fitted the window
        assert BUILD in str(asked(server)[-1].json["messages"])
    await session.close()
