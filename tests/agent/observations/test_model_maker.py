"""Observations by a model: batched, once, its cost counted, and only of what it may read."""

from pathlib import Path

import pytest

from agent.background import model_observation_job
from agent.commands import registry
from agent.commands.results import OpenNamedScreen, TextResult
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.origin import DERIVED_FROM, UNTRUSTED
from memory.records import EntryKind
from memory.settings import ObserveSettings
from models.messages import Role
from tests.agent.observations.model_observer import LONG, MODELS, NOTE, Open, asked, made, notes, say
from tests.agent.sessions import calls, open_session, turn
from tests.loopback import Loopback, chat
from tests.memory.observations.test_store import put
from tests.servers import Scripted, scripted_llama  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("hurried")


async def test_a_turn_is_observed_by_the_model_and_its_cost_is_counted(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(notes(NOTE))
    await say(session, server, f"<private>door code 7788</private> {LONG}")
    assert made(session) == {NOTE["title"]: f"openai:noter@{observer.address}/v1"}
    (stored,) = session.memory.observations.newest(9)
    assert stored.observation.read == ("net/http.py",)
    (sent,) = asked(observer)
    body = sent.body.decode()
    assert "waits 250 ms" in body and "7788" not in body  # private text goes to no second model
    assert "<palimpsest-entries-" in body
    (row,) = [row for row in session.memory.spending() if row.purpose == "observe"]
    assert (row.model, row.prompt_tokens, row.completion_tokens, row.cost) == ("noter", 900, 1, {"local": True})
    costs = {usage.model: usage.prompt_tokens for usage in session.memory.statistics().models}
    assert costs["noter"] == 900
    outcome = await registry.run(session, "/status")
    assert isinstance(outcome, TextResult) and "901 of 200,000 tokens today" in outcome.markdown
    opened_stats = await registry.run(session, "/stats")
    assert isinstance(opened_stats, OpenNamedScreen)
    outcome = await opened_stats.printed()
    assert isinstance(outcome, TextResult) and "| observe | 1 | 900 |" in outcome.markdown


async def test_several_results_are_one_request_and_nothing_is_observed_twice(
    opened: Open, server: Loopback, observer: Loopback, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    monkeypatch.setattr(model_observation_job, "ENOUGH", 9)
    session = opened()
    for number in range(3):
        (workspace.root / f"part{number}.txt").write_text(f"Part {number}. {LONG}")
    server.plays(*[calls("read_file", path=f"part{number}.txt") for number in range(3)], chat("Good."))
    observer.plays(notes(), notes())
    await turn(session, LONG, permit=True)
    await session.background.idle()
    assert not asked(observer)  # eight entries are not enough for a request
    await say(session, server)
    (sent,) = asked(observer)
    assert all(f"Entry {number}: " in sent.body.decode() for number in (1, 2, 3, 4))
    await say(session, server, "Thanks!")
    await session.close()
    again = opened()
    again.begin_background()
    await again.background.idle()
    assert len(asked(observer)) == 1


async def test_what_was_said_before_the_model_was_chosen_is_not_sent(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    before = opened(model="")
    await say(before, server, f"Before. {LONG}")
    await before.close()
    assert not observer.requests
    session = opened()
    observer.plays(notes(NOTE))
    session.begin_background()
    await session.background.idle()
    assert not asked(observer)
    await say(session, server, f"After. {LONG}")
    (sent,) = asked(observer)
    assert "After." in sent.body.decode() and "Before." not in sent.body.decode()


async def test_of_a_long_queue_only_the_newest_entries_are_sent(
    opened: Open, server: Loopback, observer: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_observation_job, "ENOUGH", 9)
    monkeypatch.setattr(model_observation_job, "MOST_WAITING", 2)
    session = opened()
    observer.plays(notes())
    for number in range(4):
        await say(session, server, f"Number {number}. {LONG}")
    assert not asked(observer)
    monkeypatch.setattr(model_observation_job, "ENOUGH", 1)
    await say(session, server, f"Number 5. {LONG}")
    (sent,) = asked(observer)
    assert "Number 5." in sent.body.decode() and "Number 3." not in sent.body.decode()


async def test_untrusted_derived_and_imported_text_is_not_sent(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    memory = session.memory
    observer.plays(*[notes()] * 4)
    await say(session, server)
    assert session.conversation is not None
    result = {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT}
    put(memory, session.conversation, f"Fetched. {LONG}", speaker="fetch_url", **result)
    put(memory, session.conversation, f"Marked. {LONG}", speaker="run_command", **{UNTRUSTED: "a page"}, **result)
    put(memory, session.conversation, f"Repeated. {LONG}", role=Role.ASSISTANT, **{DERIVED_FROM: ["e_1"]})
    put(memory, memory.cold.new_conversation(source=clear("chatgpt"), id=clear("x")), f"Imported. {LONG}")
    server.plays(calls("memory_search", query="retry loop"), chat("Good."))
    await turn(session, f"Last. {LONG}", permit=True)
    await session.background.idle()
    sent = "".join(received.body.decode() for received in asked(observer))
    assert "Last." in sent and "result of " not in sent
    assert not any(word in sent for word in ("Fetched.", "Marked.", "Repeated.", "Imported."))


@pytest.mark.slow
async def test_a_real_server_makes_one_too(
    server: Loopback,
    workspace: Workspace,
    tmp_path: Path,
    scripted_llama: Scripted,  # noqa: F811
) -> None:
    reply = (
        '{"observations": [{"entry": 1, "type": "discovery", "importance": "decision", "title": "HTTP_BACKOFF set",'
        ' "facts":[], "narrative":"", "concepts":[], "read":[], "changed":[]}]}'
    )
    real = scripted_llama(reply, context=8_192)
    settings = ObserveSettings(model=f"openai:noter@{real.address}/v1")
    session = open_session(workspace, tmp_path, server, models=MODELS, observe=settings)
    await say(session, server)
    assert list(made(session)) == ["HTTP_BACKOFF set"]
    (row,) = [row for row in session.memory.spending() if row.purpose == "observe"]
    assert row.prompt_tokens > 500 and row.completion_tokens > 10  # as the server counts them
    await session.close()
