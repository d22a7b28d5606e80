"""A session makes observations after a turn, and another one after a crash."""

from pathlib import Path
from typing import Any

from agent.events import Compacted
from agent.session import Session
from context import ContextSettings
from foundation.paths import Workspace
from memory.settings import ObserveSettings
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, open_session, turn
from tests.loopback import Loopback, chat

DECISION = "We decided to keep SQLite for the queue of jobs."
SOURCE = (
    '"""Headers of an HTTP message."""\n\n\nclass Headers(dict):\n    def retry_after(self) -> int:\n        return 1\n'
    * 9
)
MODELS = ModelSettings(tools=True, window=32_000, retries=0)


def titles(session: Session) -> list[str]:
    return [item.observation.title for item in reversed(session.memory.observations.newest(99))]


async def test_a_turn_is_observed_once_it_is_over(workspace: Workspace, server: Loopback, tmp_path: Path) -> None:
    (workspace.root / "http.py").write_text(SOURCE)
    session = open_session(workspace, tmp_path, server, models=MODELS)
    server.plays(calls("read_file", path="http.py"), chat("I fixed http.py because it was slow."))
    await turn(session, DECISION, permit=True)
    await session.background.idle()
    assert titles(session) == [DECISION, "http.py defines Headers, retry_after", "I fixed http.py because it was slow."]
    assert session.working == ""
    server.plays(calls("read_file", path="http.py"), chat("Hello!"))
    await turn(session, "Hello!", permit=True)
    await session.background.idle()
    assert len(titles(session)) == 3
    await session.close()


async def test_what_was_not_observed_before_the_end_is_observed_before_the_store_is_closed(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=MODELS)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.close()
    again = open_session(workspace, tmp_path, server, models=MODELS)
    assert titles(again) == [DECISION]
    await again.close()


async def test_a_session_observes_what_a_killed_one_left(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    off = ObserveSettings(rules=False)
    session = open_session(workspace, tmp_path, server, models=MODELS, observe=off)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.close()
    again = open_session(workspace, tmp_path, server, models=MODELS)
    assert titles(again) == []
    again.begin_background()
    await again.background.idle()
    assert titles(again) == [DECISION]
    await again.close()


async def test_a_compaction_that_joins_no_summaries_leaves_index_and_summaries_as_they_were(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    models, context = ModelSettings(window=16_384, retries=0), ContextSettings(summaries_share=0.5)
    session = open_session(workspace, tmp_path, server, models=models, context=context)
    ends: list[list[dict[str, Any]]] = []  # the messages of the first request of each epoch
    for number in range(60):
        server.plays(chat(f"Queue {number} is slow and wide. " * 50))
        events = await turn(session, f"We decided to give queue {number} the port {4000 + number}.")
        await session.background.idle()
        if any(isinstance(event, Compacted) for event in events):
            ends.append(asked(server)[-1].json["messages"])
        if len(ends) == 2:
            break
    first, second = ends
    assert "decision" in first[0]["content"]  # the index of observations, made when the first turns left
    assert second[0] == first[0]
    summary = first[1]["content"]
    assert "palimpsest-summary" in summary
    assert second[1]["content"].startswith(summary)
    await session.close()
