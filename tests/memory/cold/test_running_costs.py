"""Running costs are what a sum of all requests is, whoever writes and whatever goes, and read each answer once."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agent.spending.report import Spent, total_spent
from foundation.privacy import Cleared, cleared_fields
from memory.cold import ColdStore
from memory.cold.answers import AnswerWriter
from memory.cold.costs import spending
from memory.cold.running_costs import RunningCosts
from memory.cold.sql import run
from memory.model_requests import OBSERVE, ModelRequests, TokenReserve
from models.messages import Usage
from models.prices import ModelPrice
from models.settings import ModelSettings
from tests.fakes import FakeClock
from tests.memory.cold.drafts import answered, open_store

SETTINGS = ModelSettings(prices={"priced": ModelPrice(input=3, cached_input=0.3, output=15, currency="EUR")})
COSTS: tuple[dict[str, Any], ...] = (
    {},
    {"cost": {"local": True}},
    {"cost": {"amount": 0.1, "currency": "USD"}},
    {"cost": {"amount": 0.25, "currency": "EUR"}},
    {"cost": "damaged"},
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def stores(tmp_path: Path, clock: FakeClock) -> Iterator[tuple[ColdStore, ColdStore]]:
    """One database, opened twice, as by two processes."""
    opened = [open_store(tmp_path / "cold.db", clock) for _ in range(2)]
    yield opened[0], opened[1]
    for cold in opened:
        cold.close()


def begin(cold: ColdStore, conversation: int) -> AnswerWriter:
    return cold.begin_answer(answered(conversation, ""))


def settle(answer: AnswerWriter, usage: Usage, model: str = "m", meta: dict[str, Any] | None = None) -> None:
    answer.finish(Cleared("x"), meta=cleared_fields(meta or COSTS[2]), usage=usage, model=Cleared(model), ms=1)


def add(cold: ColdStore, conversation: int, usage: Usage, model: str = "m", meta: dict[str, Any] | None = None) -> None:
    settle(begin(cold, conversation), usage, model, meta)


def running(costs: RunningCosts, cold: ColdStore, since: datetime) -> Spent:
    return total_spent("", cold.read(lambda db: costs.read(db, since)), SETTINGS)


def whole(cold: ColdStore, since: datetime) -> Spent:
    return total_spent("", cold.read(lambda db: spending(db, since)), SETTINGS)


def same(one: Spent, other: Spent) -> None:
    assert structs.replace(one, money={}) == structs.replace(other, money={})
    assert {name: pytest.approx(amount) for name, amount in one.money.items() if amount} == {
        name: amount for name, amount in other.money.items() if amount
    }


@pytest.mark.parametrize("seed", range(4))
def test_two_processes_know_the_same_sum_through_any_course(
    stores: tuple[ColdStore, ColdStore], clock: FakeClock, seed: int
) -> None:
    chance = random.Random(seed)
    totals = [(cold, RunningCosts()) for cold in stores]
    conversations = [stores[0].new_conversation().seq for _ in range(3)]
    open_answers, reserves = list[AnswerWriter](), list[int]()
    since = clock.now() - timedelta(hours=1)
    ledgers = [ModelRequests(cold, clock) for cold in stores]

    def usage() -> Usage:
        return Usage(chance.randrange(900), chance.randrange(90), chance.choice([None, 0, 30]))

    for _ in range(120):
        cold = chance.choice(stores)
        clock.advance(chance.choice([0, 1, 600]))
        match chance.randrange(9):
            case 0 | 1 if conversations:
                open_answers.append(begin(cold, chance.choice(conversations)))
            case 2 | 3 if open_answers:
                answer = open_answers.pop(chance.randrange(len(open_answers)))
                settle(answer, usage(), chance.choice(["m", "priced", "offline"]), chance.choice(COSTS))
            case 4 if not open_answers and len(conversations) > 1:
                cold.delete_conversation(conversations.pop())
            case 5:
                reserve = TokenReserve(
                    purpose=OBSERVE, model=Cleared("o"), conversation=1, prompt_tokens=9, answer_tokens=3
                )
                reserves.append(chance.choice(ledgers).reserve(reserve, since, 10**9))
            case 6 if reserves:
                ledger = chance.choice(ledgers)
                ledger.settle(reserves.pop(), usage(), 1, {"amount": 0.5, "currency": "USD"})
            case 7 if chance.random() < 0.2:
                since = clock.now()
            case _:
                pass
        for store, costs in totals if chance.random() < 0.7 else totals[:1]:
            same(running(costs, store, since), whole(store, since))


def test_an_answer_that_ends_after_a_later_one_is_counted(stores: tuple[ColdStore, ColdStore]) -> None:
    here, other = stores
    since, costs = here.clock.now() - timedelta(hours=1), RunningCosts()
    conversation = here.new_conversation().seq
    slow = begin(other, conversation)
    add(here, conversation, Usage(100, 1))
    assert running(costs, here, since).tokens == 101
    settle(slow, Usage(1_000, 10))
    assert running(costs, here, since).tokens == 1_111


def test_a_new_day_begins_at_nothing(stores: tuple[ColdStore, ColdStore], clock: FakeClock) -> None:
    cold, costs = stores[0], RunningCosts()
    conversation = cold.new_conversation().seq
    midnight = clock.now() - timedelta(hours=1)
    across = begin(cold, conversation)  # begins before midnight: of the day on which it was sent
    add(cold, conversation, Usage(100, 1))
    assert running(costs, cold, midnight).tokens == 101
    clock.advance(1)
    midnight = clock.now()
    assert running(costs, cold, midnight).tokens == 0
    settle(across, Usage(1_000, 1))
    add(cold, conversation, Usage(7, 0))
    assert running(costs, cold, midnight).tokens == 7


def test_ten_dimes_are_a_dollar(stores: tuple[ColdStore, ColdStore], clock: FakeClock) -> None:
    """A cap of 1.00 is reached by them: they are not added up one after the other."""
    cold, costs = stores[0], RunningCosts()
    conversation, since = cold.new_conversation().seq, clock.now()
    for _ in range(10):
        add(cold, conversation, Usage(1, 1))
        total = running(costs, cold, since)
    assert total.money == {"USD": 1.0}


def test_what_was_counted_is_not_read_again(stores: tuple[ColdStore, ColdStore], clock: FakeClock) -> None:
    cold, costs = stores[0], RunningCosts()
    conversation, since = cold.new_conversation().seq, clock.now()
    for _ in range(50):
        add(cold, conversation, Usage(1, 1))
    running(costs, cold, since)
    add(cold, conversation, Usage(1, 1))
    # a change that no journal tells: only a second reading of an answer would see it
    cold.write(lambda db: run(db, "UPDATE usage SET prompt_tokens = 1000 WHERE entry % 2"))
    assert running(costs, cold, since).tokens <= 102 + 1_000
    assert running(RunningCosts(), cold, since).tokens > 20_000


def test_a_store_that_was_put_back_is_counted_anew(stores: tuple[ColdStore, ColdStore], clock: FakeClock) -> None:
    cold, costs = stores[0], RunningCosts()
    conversation, since = cold.new_conversation().seq, clock.now()
    for _ in range(3):
        add(cold, conversation, Usage(10, 0))
    assert running(costs, cold, since).tokens == 30
    cold.write(lambda db: run(db, "DELETE FROM usage WHERE entry > 1"))
    cold.write(lambda db: run(db, "DELETE FROM changes WHERE seq > 2"))
    assert running(costs, cold, since).tokens == 10
