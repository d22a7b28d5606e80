"""The caps of a day: background calls stop, the rest asks, and what is lifted stays so."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.events import AnswerStored, SpendingLimitReached, Stopped
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.spending.budget import RunLimits, SpendingBudget
from foundation.paths import Workspace
from memory.records import SpendingRow
from models.chat.port import Profile
from models.messages import Usage
from models.prices import ModelPrice
from models.settings import ModelSettings
from tests.agent.headless.tool_answers import ChatServer
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import chat

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
REMOTE = Profile(spec="openai:m", name="m", remote=True)


class FakeClock:
    def now(self) -> datetime:
        return NOON

    def monotonic(self) -> float:
        return 0.0


class FakeSpending:
    """Rows that were stored today; those before `since` are left out, as a store does."""

    def __init__(self, *rows: SpendingRow) -> None:
        self.rows = list(rows)

    def spent_since(self, since: datetime) -> list[SpendingRow]:
        return [row for row in self.rows if row.time >= since]


def spent(tokens: int, cost: Any = None, *, model: str = "m", time: datetime = NOON) -> SpendingRow:
    return SpendingRow(
        time=time,
        conversation="c_1",
        purpose="chat",
        model=model,
        prompt_tokens=tokens,
        completion_tokens=0,
        cached_tokens=0,
        cost=cost,
    )


def budget(store: FakeSpending, **settings: Any) -> SpendingBudget:
    return SpendingBudget(ModelSettings(**settings), store, FakeClock())


def test_the_tokens_of_today_are_capped_and_those_of_yesterday_are_not() -> None:
    store = FakeSpending(spent(900, time=NOON - timedelta(days=2)), spent(400))
    capped = budget(store, daily_tokens=500)
    assert capped.reached(REMOTE, 50) is None
    assert not capped.background_refusal()
    store.rows.append(spent(100))
    limit = capped.reached(REMOTE, 50)
    assert limit
    assert limit.name == "daily_tokens"
    assert "the limit is 500 (models.daily_tokens)" in capped.background_refusal()


def test_the_request_about_to_be_sent_counts_for_the_day() -> None:
    store = FakeSpending(spent(400, {"amount": 0.4, "currency": "USD"}))
    capped = budget(store, daily_tokens=500)
    assert capped.reached(REMOTE, 100) is None
    limit = capped.reached(REMOTE, 101)
    assert limit
    assert limit.sentence == "the limit is Today's tokens are 501 with the next request, and 500 (models.daily_tokens)."
    by_cost = budget(store, daily_cost=0.5, prices={"m": ModelPrice(input=1_000, output=1_000)})  # 0.001 a token
    assert by_cost.reached(REMOTE, 90) is None
    limit = by_cost.reached(REMOTE, 110)
    assert limit
    assert limit.name == "daily_cost"
    assert "0.51" in limit.sentence
    unspent = budget(FakeSpending(), daily_cost=0.05, prices={"m": ModelPrice(input=1_000, output=1_000)})
    assert unspent.reached(REMOTE, 110)


def test_a_lifted_cap_asks_no_more_and_still_stops_the_background() -> None:
    capped = budget(FakeSpending(spent(900)), daily_tokens=500)
    limit = capped.reached(REMOTE, 50)
    assert limit
    capped.lift(limit)
    assert capped.reached(REMOTE, 50) is None
    assert capped.background_refusal()


def test_money_is_capped_by_currency() -> None:
    store = FakeSpending(*(spent(1, {"amount": 0.6, "currency": currency}) for currency in ("USD", "EUR")))
    assert budget(store, daily_cost=1.0).reached(REMOTE, 1) is None
    store.rows.append(spent(1, {"amount": 0.6, "currency": "EUR"}))
    limit = budget(store, daily_cost=1.0).reached(REMOTE, 1)
    assert limit
    assert limit.sentence == "the limit is 1.20 EUR were spent today, and 1.00 EUR (models.daily_cost)."


def test_offline_is_no_model() -> None:
    capped = budget(FakeSpending(spent(900, model="offline")), daily_tokens=500)
    assert capped.reached(REMOTE, 50) is None
    used_up = budget(FakeSpending(spent(900)), daily_tokens=500)
    assert used_up.reached(Profile(spec="offline", name="offline"), 50) is None


def test_a_run_is_limited_by_what_it_used() -> None:
    limited = budget(FakeSpending(), prices={"m": ModelPrice(input=1_000, output=1_000)})
    limited.run = RunLimits(tokens=1_000, cost=0.5)
    assert limited.reached(REMOTE, 400) is None
    limited.take(REMOTE, Usage(300, 100))
    by_cost = limited.reached(REMOTE, 200)
    assert by_cost
    assert by_cost.name == "cost"
    by_tokens = limited.reached(REMOTE, 700)
    assert by_tokens
    assert by_tokens.name == "tokens"


@pytest.fixture
async def capped(workspace: Workspace, tmp_path: Path) -> AsyncIterator[tuple[Session, ChatServer]]:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(workspace, environment)
    with ChatServer() as server:
        server.plays(chat("One.", prompt_tokens=60_000), chat("Two."), chat("Three."))
        models = ModelSettings(window=64_000, retries=0, daily_tokens=50_000)
        session = Session.open(workspace, Config(model=server.spec, environment=environment, models=models))
        yield session, server
        await session.close()


async def test_a_turn_asks_at_the_cap_and_goes_on_or_stops(capped: tuple[Session, ChatServer]) -> None:
    session, server = capped
    answers = {"first": None, "second": False, "third": True, "fourth": None}
    for text, goes_on in answers.items():
        seen = list[Any]()
        async for event in session.send(text):
            seen.append(event)
            if isinstance(event, SpendingLimitReached):
                event.answer.set_result(PermissionAnswer(bool(goes_on)))
        assert_in_order(seen)
        asked = any(isinstance(event, SpendingLimitReached) for event in seen)
        assert asked is (goes_on is not None)
        assert isinstance(seen[-1], Stopped if goes_on is False else AnswerStored)
    assert len(server.chats) == 3


async def test_a_stop_answers_the_question(capped: tuple[Session, ChatServer]) -> None:
    session, _ = capped
    async for _event in session.send("first"):
        pass
    async for event in session.send("second"):
        if isinstance(event, SpendingLimitReached):
            session.stop()
        last = event
    assert isinstance(last, Stopped)
