"""Compactions after which the request is no smaller: MEMORY.md grows meanwhile by more than each of them frees."""

from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, Compacted, TurnFailed
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, only, open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
SETTINGS = ContextSettings(recall=False, working_tokens=0, low_water=0.98, project_share=0.6, conversation_share=0.3)


def let_notes_grow(session: Session, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Writes notes before each of the first compactions, as another program may."""
    compactions = 0

    def write(_kind: str) -> None:
        nonlocal compactions
        compactions += 1
        if compactions <= most:
            notes = "".join(f"- Note {n} of {compactions}: pump {n} runs at noon.\n" for n in range(60 * compactions))
            with (session.workspace.root / "MEMORY.md").open("a") as file:
                file.write(notes)
            session.context.reload()

    monkeypatch.setattr(session.hooks, "before_compaction", write)


async def filled(session: Session, server: Loopback, most: int = 30) -> list[Any]:
    """Turns until one compacts; its events."""
    for number in range(most):
        server.answers_all(lambda _, n=number: chat(f"Answer {n}: " + varied("the boiler is in the cellar. ", 60)))
        seen = await turn(session, f"Question {number}")
        if any(isinstance(event, Compacted) for event in seen):
            return seen
    raise AssertionError("nothing was archived")


@pytest.mark.parametrize("grows", [0, 1, 2])
async def test_two_in_a_row_that_do_not_help_end_the_turn_with_a_sentence(
    workspace: Workspace, server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grows: int
) -> None:
    models = ModelSettings(window=8_000, tools=False, retries=0)
    session = open_session(workspace, tmp_path, server, models=models, context=SETTINGS)
    let_notes_grow(session, monkeypatch, grows)
    seen = await filled(session, server)
    receipts = [event.receipt for event in seen if isinstance(event, Compacted)]
    if grows == 2:
        failed = only(seen, TurnFailed)
        assert len(receipts) == 2 and failed.title == "Archiving does not help"
        assert "archived 2 times in a row, but the request did not shrink" in failed.message
        assert f"tokens after {receipts[-1].tokens_before:,}." in failed.message and "/context" in failed.hint
    else:
        assert only(seen, AnswerStored) and len(receipts) == grows + 1
        assert "Question" in asked(server)[-1].json["messages"][-1]["content"]
    await session.close()
