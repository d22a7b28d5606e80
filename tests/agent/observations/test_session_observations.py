"""A session makes observations after a turn, and another one after a crash."""

import json
from pathlib import Path
from typing import Any

from agent.events import Compacted, EpochChanged, PermissionRequested, ResultsReduced
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.settings import ObserveSettings
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, open_session, turn
from tests.loopback import Loopback, chat, varied

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
        server.plays(chat(varied(f"Queue {number} is slow and wide. ", 50)))
        events = await turn(session, f"We decided to give queue {number} the port {4000 + number}.")
        await session.background.idle()
        if any(isinstance(event, Compacted) for event in events):
            ends.append(asked(server)[-1].json["messages"])
        if len(ends) == 2:
            break
    first, second = ends
    assert "decision" in first[1]["content"]  # the index of observations, made when the first turns left
    assert second[0] == first[0]
    summary = first[1]["content"]
    assert "palimpsest-summary" in summary
    assert second[1]["content"].startswith(summary)
    await session.close()


async def test_what_leaves_within_a_turn_is_observed_before_it_does(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    for number in range(40):
        names = "".join(f"class Part{number}Shape{n}:\n    size = {n}\n\n" for n in range(40))
        (workspace.root / f"part{number}.py").write_text(names)
    session = open_session(workspace, tmp_path, server, models=MODELS)
    server.plays(*[calls("read_file", path=f"part{number}.py") for number in range(40)], chat("Done."))
    observed: list[int] = []
    async for event in session.send("Look at every part."):
        if isinstance(event, PermissionRequested):
            event.answer.set_result(PermissionAnswer(True))
        if isinstance(event, EpochChanged | Compacted | ResultsReduced):
            observed.append(len(titles(session)))
    assert observed and observed[0] >= 2  # within the turn
    sent = "".join(json.dumps(received.json) for received in server.posts)
    assert "It showed: part0.py defines Part0Shape0" in sent
    await session.background.idle()
    assert len(titles(session)) == len({*titles(session)}) == 40  # and nothing twice
    await session.close()


async def test_nothing_is_observed_by_a_look_at_the_request(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    off = ObserveSettings(rules=False)
    session = open_session(workspace, tmp_path, server, models=MODELS, observe=off)
    server.plays(*[chat(varied("And more of it was said here. ", 200))] * 9)
    for number in range(9):
        await turn(session, f"{DECISION} Number {number}.")
    await session.close()
    context = ContextSettings(working_tokens=2_000)
    again = open_session(workspace, tmp_path, server, models=MODELS, context=context)
    await again.resume_latest()
    report = await again.context_report("What now?")
    assert report.total_tokens < 8_000 and titles(again) == []
    server.plays(chat("Good."))
    at_compaction = [titles(again) async for event in again.send("What now?") if isinstance(event, Compacted)]
    assert at_compaction and at_compaction[0]  # the flush made them before
    await again.close()
