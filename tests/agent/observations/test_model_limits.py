"""Observations by a model: checked, capped by the day, and never in a turn's way."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.background import model_observation_job
from agent.background.jobs import SessionJobs
from agent.commands import registry
from agent.commands.results import TextResult
from agent.config.settings import all_settings
from agent.events import AnswerStored, Notice
from agent.session import Session
from agent.spending.budget import SpendingBudget
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.model_requests import OBSERVE, TokenReserve
from memory.observations.store import MODEL_CURSOR
from memory.settings import ObserveSettings
from models.settings import ModelSettings
from tests.agent.observations.model_observer import LONG, MODELS, NOTE, Open, asked, made, notes, say
from tests.agent.sessions import calls, open_session, turn
from tests.fakes import FakeClock
from tests.loopback import Cut, Loopback, Pause, Stall, chat, chat_bytes, json_reply, stream
from tests.servers import Scripted, scripted_llama  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("hurried")


# ── what holds of an answer ──


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": "The gateway answers 429 after 50 requests a minute"},
        {"facts": ["net/https.py waits 250 ms"]},
        {"facts": ["the flag HTTP_BACKOFF2 switches it off"]},
        {"facts": ["it says “the gateway is broken”"]},
        {"narrative": "The commit is 9fceb02b."},
        {"read": ["Makefile"]},
        {"type": "idea"},
        {"importance": "high"},
        {"title": ""},
        {"facts": "not a list"},
        {"entry": 7},
        {"facts": [LONG] * 8},
    ],
)
async def test_an_observation_that_its_original_does_not_bear_out_is_thrown_away(
    opened: Open, server: Loopback, observer: Loopback, wrong: dict[str, Any]
) -> None:
    session = opened()
    observer.plays(notes({**NOTE, **wrong}))
    seen = await say(session, server)
    assert not any(maker.startswith("openai") for maker in made(session).values())
    seen = await say(session, server, "Thanks!")
    (warning,) = [event.text for event in seen if isinstance(event, Notice)]
    assert "none of the 1 observations of its answer holds" in warning
    assert len(asked(observer)) == 1  # what was paid for is not asked for again


async def test_the_sound_ones_of_an_answer_are_kept_and_the_others_counted(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(notes(NOTE, {**NOTE, "entry": 2, "title": "It costs €999"}))
    await say(session, server, LONG, LONG.replace("gateway", "proxy"))
    assert list(made(session)) == [NOTE["title"]]
    outcome = await registry.run(session, "/status")
    assert isinstance(outcome, TextResult) and "1 discarded" in outcome.markdown


@pytest.mark.parametrize("answer", ["Sure! Here are some notes.", "[1, 2]", '{"observations": 3}', "{" * 2_000, ""])
async def test_the_rules_observation_stays_where_an_answer_is_useless(
    opened: Open, server: Loopback, observer: Loopback, answer: str
) -> None:
    session = opened()
    observer.plays(chat(answer))
    await say(session, server, f"We decided to keep SQLite. {LONG}")
    assert list(made(session).values()) == ["rules"]
    assert session.memory.observations.waiting(MODEL_CURSOR, 9)[0] == 0


async def test_the_models_observation_takes_the_place_of_the_rules(
    opened: Open, server: Loopback, observer: Loopback, workspace: Workspace
) -> None:
    (workspace.root / "net.py").write_text("class Retry:\n    pass\n\n" + "# 40 requests a minute\n" * 40)
    session = opened()
    note = {**NOTE, "title": "Retry is bound to 40 requests a minute", "facts": [], "read": []}
    observer.plays(notes(note))
    server.plays(calls("read_file", path="net.py"), chat("Good."))
    await turn(session, "Look", permit=True)
    await session.background.idle()
    assert list(made(session)) == ["Retry is bound to 40 requests a minute"]
    (stored,) = session.memory.observations.newest(9)
    assert stored.observation.read == ("net.py",) and stored.observation.subject == "net.py"


async def test_a_deleted_or_corrected_observation_is_not_made_again(
    opened: Open, server: Loopback, observer: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_observation_job, "ENOUGH", 9)
    session = opened()
    await say(session, server, f"We decided to keep SQLite. {LONG}")
    (stored,) = session.memory.observations.newest(9)
    session.memory.observations.delete(stored.id)
    monkeypatch.setattr(model_observation_job, "ENOUGH", 1)
    observer.plays(notes(NOTE))
    await say(session, server, "Thanks!")
    assert len(asked(observer)) == 1 and made(session) == {}


# ── what it may not do ──


async def test_at_the_cap_the_rules_alone_observe_and_the_person_is_told_once(
    opened: Open, server: Loopback, observer: Loopback, workspace: Workspace, tmp_path: Path
) -> None:
    session = opened(tokens_a_day=5_000)
    observer.plays(notes(NOTE, prompt_tokens=4_000), notes(NOTE))
    await say(session, server)
    await say(session, server, f"Again. {LONG}")
    seen = await say(session, server, f"We decided to keep SQLite. {LONG}")
    (warning,) = [event.text for event in seen if isinstance(event, Notice)]
    assert "4,001 of 5,000 tokens used today (observe.tokens_a_day)" in warning
    assert len(asked(observer)) == 1
    assert not [event for event in await say(session, server, "Thanks!") if isinstance(event, Notice)]
    assert "rules" in made(session).values()
    await session.close()
    again = opened(tokens_a_day=5_000)  # the cap holds across processes and restarts
    await say(again, server, f"Once more. {LONG}")
    assert len(asked(observer)) == 1


async def test_a_server_that_reports_next_to_nothing_does_not_pass_the_cap(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(notes(NOTE, prompt_tokens=1))
    await say(session, server)
    (row,) = [row for row in session.memory.spending() if row.purpose == "observe"]
    assert row.prompt_tokens > 300  # by the estimate


async def test_the_cap_is_of_a_local_day(
    workspace: Workspace, tmp_path: Path, observer: Loopback, server: Loopback
) -> None:
    clock = FakeClock()
    session = open_session(workspace, tmp_path, server, models=MODELS)
    session.memory.cold.clock = clock
    ledger = session.memory.model_requests
    spec = f"openai:noter@{observer.address}/v1"
    settings = session.config.__class__(
        observe=ObserveSettings(model=spec, tokens_a_day=5_000), environment=session.config.environment
    )
    jobs = SessionJobs(
        session.memory, settings, SpendingBudget(MODELS, session.memory, clock), clock, session.context.state
    )
    reserve = TokenReserve(purpose=OBSERVE, model=clear("m"), conversation=1, prompt_tokens=3_000, answer_tokens=1_000)
    midnight = clock.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    assert ledger.reserve(reserve, midnight, 5_000)
    assert not ledger.reserve(reserve, midnight, 5_000)
    today = jobs.model_observing.today()
    assert today is not None and today[1] == 4_000
    clock.advance(timedelta(days=1).total_seconds())
    today = jobs.model_observing.today()
    assert today is not None and today[1] == 0
    jobs.model_observing.release()
    await session.close()


async def test_a_model_that_is_gone_leaves_the_rules_and_costs_nothing(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(json_reply({"error": {"message": "no such model"}}, status=404), notes(NOTE))
    await say(session, server, f"We decided to keep SQLite. {LONG}")
    seen = await say(session, server, "Thanks!")
    assert [event.text for event in seen if isinstance(event, Notice) and "Only the rules" in event.text]
    assert list(made(session).values()) == ["rules"]
    assert not [row for row in session.memory.spending() if row.purpose == "observe"]
    assert len(asked(observer)) == 1  # it is asked again after some minutes, not after each turn
    assert session.memory.observations.waiting(MODEL_CURSOR, 9)[0]  # and then of the same entries


async def _status(session: Session) -> str:
    outcome = await registry.run(session, "/status")
    assert isinstance(outcome, TextResult)
    (line,) = [line for line in outcome.markdown.splitlines() if line.startswith("- observing: ")]
    return line


async def test_status_tells_since_when_and_why_a_model_makes_no_observations_until_it_does_again(
    opened: Open, server: Loopback, observer: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened()
    observer.plays(json_reply({"error": {"message": "no such model"}}, status=404))
    await say(session, server, f"We decided to keep SQLite. {LONG}")
    line = await _status(session)
    assert f"noter@{observer.address}/v1` stopped making observations 20" in line and "no such model" in line
    assert "Next attempt in five minutes" in line and "config set observe.model SPEC" in line
    monkeypatch.setattr(session.jobs.model_observing, "_retry_at", 0.0)
    observer.plays(notes(NOTE))
    await say(session, server, "Thanks!")
    assert "makes no observations" not in await _status(session)


async def test_status_tells_of_a_useless_model_and_of_a_cap(opened: Open, server: Loopback, observer: Loopback) -> None:
    session = opened(tokens_a_day=5_000)
    observer.plays(notes({**NOTE, "title": "It costs €999"}, prompt_tokens=4_000))
    await say(session, server)
    line = await _status(session)
    assert "none of the 1 observations of its answer holds" in line and "Try another model" in line
    await say(session, server, f"Again. {LONG}")
    line = await _status(session)
    assert "observe.tokens_a_day" in line and "It continues at midnight," in line


async def test_a_cut_off_answer_counts_and_is_not_asked_for_again(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(stream(b'data: {"choices": [{"index": 0, "delta": {"content": "{\\"obs"}}]}\n\n', Cut()))
    await say(session, server)
    (row,) = [row for row in session.memory.spending() if row.purpose == "observe"]
    assert row.prompt_tokens > 300 and row.completion_tokens > 0
    await say(session, server, "Thanks!")
    assert len(asked(observer)) == 1


async def test_a_turn_waits_for_no_observation_and_ends_a_local_models(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(stream(Stall()), notes(NOTE))
    server.plays(chat("Good."), stream(Pause(0.5), chat_bytes("Welcome.")))
    await turn(session, LONG)
    async with asyncio.timeout(5):
        while not asked(observer):
            await asyncio.sleep(0.01)
        seen = await turn(session, "Thanks!")
    assert isinstance(seen[-1], AnswerStored)
    assert await asyncio.to_thread(observer.client_left.wait, 5)
    await session.background.idle()
    assert list(made(session)) == [NOTE["title"]]  # it was observed after the turn


async def test_closing_ends_the_request_and_the_next_session_makes_up_for_it(
    opened: Open, server: Loopback, observer: Loopback
) -> None:
    session = opened()
    observer.plays(stream(Stall()), notes(NOTE))
    server.plays(chat("Good."))
    await turn(session, LONG)
    while not asked(observer):
        await asyncio.sleep(0.01)
    async with asyncio.timeout(4):
        await session.close()
    again = opened()
    again.begin_background()
    await again.background.idle()
    assert list(made(again)) == [NOTE["title"]]


async def test_the_days_cap_of_all_models_holds_too(
    server: Loopback, observer: Loopback, workspace: Workspace, tmp_path: Path
) -> None:
    models = ModelSettings(tools=True, window=32_000, retries=0, daily_tokens=10)
    settings = ObserveSettings(model=f"openai:noter@{observer.address}/v1")
    session = open_session(workspace, tmp_path, server, models=models, observe=settings)
    limit = session.budget.reached(session.profile, 900_000)
    assert limit is not None
    session.budget.lift(limit)
    await say(session, server)
    assert not asked(observer)
    await session.close()


def test_only_a_trusted_workspace_names_the_model_and_its_cap() -> None:
    assert all_settings()["observe.model"].guarded and all_settings()["observe.tokens_a_day"].guarded
    assert all_settings()["observe.model"].default == ""


def test_a_wrong_spec_is_refused_at_once(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(Misuse):
        open_session(workspace, tmp_path, observe=ObserveSettings(model="nobody:nothing"))
