"""Compactions that another program overtakes: it archives or changes the same entries while they are summarised."""

from pathlib import Path

import pytest

from agent.events import AnswerStored, Compacted, Notice, TurnFailed
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.mark.parametrize(("overtaken", "is_told"), [(1, False), (30, True)])
async def test_the_turn_plans_again_and_then_goes_on_without(
    workspace: Workspace,
    server: Loopback,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    overtaken: int,
    is_told: bool,
) -> None:
    models = ModelSettings(window=20_000, tools=False, retries=0)
    settings = ContextSettings(recall=False, working_tokens=4_000)
    session = open_session(workspace, tmp_path, server, models=models, context=settings)
    other = open_session(workspace, tmp_path, server, models=models, context=settings)
    times = 0

    def archive_the_oldest(_kind: str) -> None:
        """As another program's compaction does, between the plan and the transaction of this one."""
        nonlocal times
        if (times := times + 1) > overtaken or session.conversation is None:
            return
        stored = other.memory.conversations
        path = [entry for entry in stored.path(stored.at(session.conversation.seq).leaf or 0) if entry.text is not None]
        other.memory.vault.archive_entries(path[-1:], label="other")

    monkeypatch.setattr(session.hooks, "before_compaction", archive_the_oldest)
    told, receipts = await talk(session, server)
    assert times >= min(overtaken, 3) and not any(isinstance(event, TurnFailed) for event in told)
    notices = [event for event in told if isinstance(event, Notice) and "The conversation changed" in event.text]
    assert bool(notices) is is_told
    assert receipts or is_told
    await other.close()
    await session.close()


async def talk(session: Session, server: Loopback) -> tuple[list[object], int]:
    """Turns until one compacts, or says why not; their events, and how many compactions there were."""
    seen: list[object] = []
    for number in range(20):
        server.answers_all(lambda _, n=number: chat(f"Answer {n}: " + varied("the boiler is in the cellar. ", 60)))
        events = await turn(session, f"Question {number}")
        assert any(isinstance(event, AnswerStored) for event in events), events[-1]
        seen += events
        if any(isinstance(event, Compacted | Notice) for event in events):
            break
    return seen, sum(isinstance(event, Compacted) for event in seen)
