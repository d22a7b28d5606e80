"""What models cost: prices by pattern, and sums by day, conversation and purpose."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.spending.report import caps_sentence, spending_report, spending_tables
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.memory import Memory
from memory.records import EntryCost, EntryDraft, EntryKind, SpendingRow
from models.messages import Role, Usage
from models.prices import ModelPrice, PriceList
from models.settings import ModelSettings
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer
from tests.loopback import chat

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
PRICES = {
    "anthropic:claude-*": ModelPrice(input=3, cached_input=0.3, output=15),
    "gpt-*": ModelPrice(input=2, output=8, currency="EUR"),
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    workspace.root.mkdir(parents=True, exist_ok=True)
    opened = Memory.open(workspace)
    yield opened
    opened.close()


def row(**fields: Any) -> SpendingRow:
    given: dict[str, Any] = {
        "time": NOON,
        "conversation": "c_1",
        "purpose": "chat",
        "model": "m",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "cached_tokens": 0,
    }
    return SpendingRow(**given | fields)


def test_a_conversation_is_named_by_its_title_and_found_by_its_id() -> None:
    rows = [row(title="Ferry 渡轮 " * 9), row(conversation="c_2", prompt_tokens=1)]
    report = spending_report(rows, ModelSettings(), NOON)
    assert [spent.key for spent in report.conversations] == ["c_1", "c_2"]
    _, (_, cells), _ = spending_tables(report)
    assert [line[0] for line in cells] == [("Ferry 渡轮 " * 9)[:27] + "…", "c_2"]


def test_a_price_is_found_by_spec_or_name_and_cached_tokens_cost_less() -> None:
    prices = PriceList(PRICES)
    usage = Usage(1_000_000, 100_000, 400_000)
    cost = prices.cost(usage, "anthropic:claude-x", "claude-x", remote=True)
    assert cost
    assert cost.amount == pytest.approx(0.6 * 3 + 0.4 * 0.3 + 0.1 * 15)
    assert str(cost) == "3.42 USD"
    other = prices.cost(usage, "openai:gpt-5", "gpt-5", remote=True)
    assert other
    assert (other.amount, other.currency) == (pytest.approx(2.8), "EUR")


def test_a_model_on_this_machine_is_local_and_an_unknown_one_has_no_cost() -> None:
    prices = PriceList(PRICES)
    assert str(prices.cost(Usage(5, 5), "ollama:x", "x", remote=False)) == "local"
    assert prices.cost(Usage(5, 5), "openai:x", "x", remote=True) is None


def test_what_is_unknown_is_said_and_not_counted_as_nothing() -> None:
    rows = [row(), row(cost={"amount": 0.5, "currency": "USD"}), row(cost={"local": True})]
    report = spending_report(rows, ModelSettings(), NOON)
    (day,) = report.days
    assert day.cost == "0.5000 USD, 1 of unknown price"
    assert (day.requests, day.local, day.unpriced) == (3, 1, 1)
    assert spending_report([row()], ModelSettings(), NOON).today.cost == "price unknown"


def test_older_rows_are_priced_by_the_name_of_their_model() -> None:
    settings = ModelSettings(prices=PRICES)
    report = spending_report([row(model="gpt-5", prompt_tokens=1_000_000)], settings, NOON)
    assert report.today.money == {"EUR": pytest.approx(2.00008)}


def test_a_cap_is_shown_beside_what_was_used() -> None:
    settings = ModelSettings(daily_tokens=500, daily_cost=2.0)
    report = spending_report([row(cost={"amount": 1.5, "currency": "USD"})], settings, NOON)
    assert caps_sentence(report) == "Today: 110 of 500 tokens, 1.50 USD of 2.00 USD."
    assert caps_sentence(spending_report([], ModelSettings(), NOON)) == ""


rows = st.builds(
    row,
    purpose=st.sampled_from(["chat", "summary", "delegate"]),
    conversation=st.sampled_from(["c_1", "c_2"]),
    time=st.datetimes(datetime(2026, 3, 1), datetime(2026, 3, 20), timezones=st.just(UTC)),
    prompt_tokens=st.integers(0, 10**6),
    cost=st.sampled_from([None, {"local": True}, {"amount": 0.25, "currency": "USD"}, {"amount": "x"}, 7]),
)


@given(st.lists(rows, max_size=20))
def test_each_way_of_adding_up_gives_the_same_sum(listed: list[SpendingRow]) -> None:
    report = spending_report(listed, ModelSettings(), NOON)
    for group in (report.days, report.conversations, report.purposes):
        assert sum(spent.tokens for spent in group) == sum(r.prompt_tokens + r.completion_tokens for r in listed)
        assert sum(spent.money.get("USD", 0) for spent in group) == pytest.approx(
            0.25 * sum(r.cost == {"amount": 0.25, "currency": "USD"} for r in listed)
        )
        assert sum(spent.requests for spent in group) == len(listed)


@pytest.mark.timeout(60)
def test_stats_show_what_answers_cost(run: Run, server: ChatServer, root: Path) -> None:
    prices = "models:\n  prices:\n    'openai:m@*': {input: 1000, output: 0, currency: EUR}\n"
    (root / ".palimpsest" / "config.yaml").write_text(prices)
    server.plays(chat("Yes.", prompt_tokens=1_200))
    told = run("--trust", "--model", server.spec, "-p", "one", "--json").json
    assert told["run"]["cost"] == [{"amount": pytest.approx(1.2), "currency": "EUR"}]
    spending = run("stats", "--json").json["spending"]
    assert [spent["title"] for spent in spending["conversations"]] == ["one"]
    assert spending["today"]["money"] == {"EUR": pytest.approx(1.2)}
    assert [spent["key"] for spent in spending["conversations"]] == [told["conversation"]]
    assert [spent["key"] for spent in spending["purposes"]] == ["chat"]
    shown = run("stats").out
    assert "1.20 EUR" in shown
    assert "PURPOSE" in shown
    assert "1.20 EUR" in run("-p", "/stats").out
    free = run("-p", "hello", "--model", "offline", "--json").json
    assert free["run"]["priced"]
    assert free["run"]["cost"] == []


def test_requests_are_told_apart_by_purpose_and_damaged_meta_has_no_cost(memory: Memory) -> None:
    chat, delegated = memory.conversations.new(), memory.conversations.new(kind="delegate")
    for conversation, kind in ((chat, EntryKind.MESSAGE), (chat, EntryKind.SUMMARY), (delegated, EntryKind.MESSAGE)):
        fields = cleared_fields({"cost": {"amount": 0.5, "currency": "USD"}})
        draft = EntryDraft(
            conversation=conversation.seq, parent=None, kind=kind, role=Role.ASSISTANT, text=clear("x"), meta=fields
        )
        memory.archive_and_append((), draft, label="", cost=EntryCost(Usage(10, 5), clear("m"), 1))
    listed = memory.spending()
    assert [row.purpose for row in listed] == ["chat", "summary", "delegate"]
    assert [row.cost["amount"] for row in listed] == [0.5, 0.5, 0.5]
    assert memory.spending(datetime(2100, 1, 1, tzinfo=UTC)) == []
    memory.cold.write(lambda db: db.execute("UPDATE entries SET meta = x'ff00'").fetchall())
    assert [row.cost for row in memory.spending()] == [None, None, None]
