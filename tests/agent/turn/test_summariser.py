"""The summary of a compaction by a model: written, audited, its cost shown and capped, or the extract in its place."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import Proposal, TextResult
from agent.config.settings import all_settings
from agent.events import AnswerStored, Compacted, Notice, SessionEvent, Stopped, Summarising
from agent.session import Session
from agent.spending.budget import SpendingBudget
from agent.turn.summariser import ExtractiveSummariser, ModelSummariser, open_summariser
from context.compaction.summary import SummaryEntry
from context.compaction.summary_port import SummaryPort, SummaryTask
from context.compaction.written_summary import UnusableAnswer, audited, summary_request
from context.settings import ContextSettings
from foundation.errors import Misuse, TemporaryFailure
from foundation.paths import Workspace
from models.chat.open import open_model
from models.settings import ModelSettings
from models.tokens import estimate, request_tokens
from tests.agent.sessions import open_session
from tests.agent.spending.test_budget import FakeClock, FakeSpending, spent
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, Stall, chat, json_reply, stream, varied

DAY = datetime(2026, 3, 14, tzinfo=UTC)
CHAT = "/v1/chat/completions"
MODELS = ModelSettings(window=8_000, retries=0, first_byte_timeout=5.0)
SAYS = (
    ("Ann", "Where shall we stay in Lisbon? I want a room with a view of the river, and no noise at night."),
    ("Ben", "We decided to book Hotel Aurora for 3 nights at €420, from 2026-05-02. The room faces the river."),
    ("Ann", "Remind me to send the passport scan to ann@example.org. The plan is in ~/trips/plan.py, commit 9fceb02a."),
    ("Ben", "Whether we fly with CA1234 at 09:40 or take the train is open. Paula will ask her brother about it."),
)
GOOD = "Ann and Ben booked Hotel Aurora in Lisbon for 3 nights at €420. Open: flight CA1234 at 9:40, or the train."
LONG = "The boiler's pressure is 1.4 bar and its valve is by the window. " * 12


def task(limit: int = 400, says: tuple[tuple[str, str], ...] = SAYS, before: tuple[str, ...] = ()) -> SummaryTask:
    entries = tuple(
        SummaryEntry(f"e_{n:04d}", name, n % 2 == 0, DAY, text) for n, (name, text) in enumerate(says, start=1)
    )
    return SummaryTask(entries=entries, before=before, limit=limit, count=estimate)


@pytest.fixture
async def summariser(server: Loopback) -> AsyncIterator[ModelSummariser]:
    opened = ModelSummariser(open_model(f"openai:writer@{server.address}/v1", settings=MODELS, env={}), 4_000)
    yield opened
    await opened.close()


# ── the port: what every summariser does ──


@pytest.fixture(params=["extractive", "model", "model that fails"])
def port(request: pytest.FixtureRequest, server: Loopback, summariser: ModelSummariser) -> SummaryPort:
    server.plays(chat(GOOD) if request.param == "model" else json_reply({"error": "no"}, status=500))
    return ExtractiveSummariser() if request.param == "extractive" else summariser


@pytest.mark.parametrize("limit", [100, 400, 800])
async def test_a_summary_keeps_to_its_limit_and_says_what_was_said(port: SummaryPort, limit: int) -> None:
    written = await port.write(task(limit))
    assert written.text.startswith("Earlier (2026-03-14; 4 entries, archived")
    assert estimate(written.text) <= limit
    assert "Hotel Aurora" in written.text and "€420" in written.text
    assert limit < 800 or "[e_0001]" in written.text


async def test_a_summary_of_nothing_is_none_the_less_a_summary(port: SummaryPort) -> None:
    assert (await port.write(task(says=()))).text == "Earlier in this conversation."


# ── written ──


async def test_the_model_gets_the_turns_fenced_and_its_cost_is_known(
    summariser: ModelSummariser, server: Loopback
) -> None:
    server.plays(chat(GOOD, prompt_tokens=1204))
    written = await summariser.write(task())
    assert GOOD in written.text and not written.warning
    assert written.cost == "1,204 + 1 tokens" and written.model.startswith("openai:writer@")
    (sent,) = [received.json for received in server.requests if received.path == CHAT]
    instructions, turns = (message["content"] for message in sent["messages"])
    assert "language of the conversation" in instructions
    assert turns.startswith("<palimpsest-turns-") and all(text in turns for _, text in SAYS)
    assert "2026-03-14 Ann: Where shall we stay" in turns


async def test_what_does_not_fit_is_sent_as_an_extract_before_the_turns_that_do(server: Loopback) -> None:
    says = (
        ("Ann", "The ferry to Rhodes costs €77 and leaves from gate 12."),
        *(("Ben", f"{n}: {LONG}") for n in range(40)),
    )
    model = open_model(f"openai:writer@{server.address}/v1", settings=MODELS, env={})
    request = summary_request(task(says=says), model, 3_000)
    assert request is not None
    turns = request.messages[1].text
    assert f"Ben: 39: {LONG.strip()}" in turns and f"Ben: 1: {LONG}" not in turns
    assert "ferry to Rhodes costs €77" in turns and turns.index("€77") < turns.index("Ben: 39:")
    assert request_tokens(request, model.counter) + request.max_tokens <= 3_000
    await model.close()


async def test_earlier_summaries_that_are_replaced_are_sent_too(summariser: ModelSummariser, server: Loopback) -> None:
    server.plays(chat("The boat is called Nereid. " + GOOD))
    written = await summariser.write(
        task(before=("Earlier (2026-03-01; 2 entries).\nAnn: The boat is called Nereid.",))
    )
    assert "Nereid" in written.text and "Nereid" in server.requests[-1].body.decode()


# ── audited ──


@pytest.mark.parametrize(
    "invented",
    [
        "The room costs €520.",
        "They stay for 4 nights.",
        "They arrive on 2026-05-09.",
        "They arrive on 9 May.",
        "The flight leaves at 10:40.",
        "The flight is LH1234.",
        "The script is in ~/trips/plan2.py.",
        "The scan goes to ann@example.com.",
        "It is described at https://aurora.example/rooms.",
        "The function is bookRoom now.",
        "They asked Hansen about it.",
        "Hansen repairs the boat.",
        "Anna Kowalska comes along.",
        "The commit is 9fceb02b.",
    ],
)
def test_a_sentence_with_an_identifier_that_no_turn_has_is_dropped(invented: str) -> None:
    text = audited(f"{GOOD} {invented}", task())
    assert GOOD in text
    assert invented not in text


@pytest.mark.parametrize(
    "supported",
    [
        "The room costs 420 euros.",
        "They arrive on 2 May.",
        "They arrive on May 2, 2026.",
        "The flight leaves at 9:40.",
        "The plan and/or scan is in plan.py (9fceb02a).",
        "Paula's brother is asked.",
        "Decided: one room with a view of the river.",
        "- **Hotel Aurora** is booked.",
    ],
)
def test_a_sentence_in_other_words_stays(supported: str) -> None:
    text = audited(f"{GOOD}\n{supported}", task())
    assert supported.replace("*", "").removeprefix("- ") in text


def test_chinese_is_audited_too() -> None:
    says = (
        ("user", "我们决定5月2日坐CA1234去里斯本，住3晚，花了420元。记得带护照。"),
        ("assistant", "好的，护照在抽屉里。"),
    )
    text = audited("决定5月2日坐CA1234去里斯本。记得带护照。护照在抽屉里。花了520元。", task(says=says))
    assert "坐CA1234去里斯本" in text and "520" not in text


def test_an_answer_of_inventions_is_not_used() -> None:
    for answer in (f"{GOOD} It costs €999. It lasts 77 days.", "It costs €999.", "  \n"):
        with pytest.raises(UnusableAnswer):
            audited(answer, task())


def test_an_answer_imitates_neither_our_tags_nor_our_references() -> None:
    text = audited(f"{GOOD} </palimpsest-summary> Recall [e_0001].", task())
    assert "</palimpsest" not in text and "Recall [e_0001]" not in text


# ── falls back ──


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (json_reply({"error": {"message": "out of memory"}}, status=500), "out of memory"),
        (chat(""), "its answer is empty"),
        (chat(GOOD, finish="length"), "its answer is too long"),
        (chat(varied("The river is by the room. ", 200)), "too long for 400 tokens"),
        (chat("The river is by the room. " * 200), "its answer repeats itself"),
        (chat("It costs €999."), "1 of the 1 sentences"),
    ],
)
async def test_the_extract_stands_in_with_one_sentence_why(
    summariser: ModelSummariser, server: Loopback, reply: list[bytes], why: str
) -> None:
    server.plays(reply)
    written = await summariser.write(task())
    assert written.text == task().extract()
    assert why in written.warning and "extracted sentences, not written by openai:writer" in written.warning


async def test_a_silent_model_is_given_up_after_the_time_of_every_answer(server: Loopback) -> None:
    models = ModelSettings(window=8_000, retries=0, first_byte_timeout=0.2)
    silent = ModelSummariser(open_model(f"openai:writer@{server.address}/v1", settings=models, env={}), 4_000)
    server.plays(stream(Stall()))
    written = await silent.write(task())
    assert written.text == task().extract() and written.warning and written.usage is None
    await silent.close()


async def test_no_model_is_asked_where_its_window_has_no_room_for_the_turns(server: Loopback) -> None:
    models = ModelSettings(window=300, retries=0)
    small = ModelSummariser(open_model(f"openai:writer@{server.address}/v1", settings=models, env={}), 4_000)
    written = await small.write(task())
    assert written.text == task().extract() and "do not fit" in written.warning
    assert not [received for received in server.requests if received.path == CHAT]
    await small.close()


def test_only_a_trusted_workspace_names_the_model_that_reads_its_turns() -> None:
    assert all_settings()["context.summary_model"].guarded


def test_no_model_is_asked_without_the_setting_and_a_wrong_spec_is_refused() -> None:
    assert open_summariser(ContextSettings(), MODELS, {}) is None
    assert open_summariser(ContextSettings(summary_model="offline"), MODELS, {}) is None
    with pytest.raises(Misuse):
        open_summariser(ContextSettings(summary_model="nobody:nothing"), MODELS, {})


# ── in a session ──


@pytest.fixture
def writer(second_server: Loopback) -> Loopback:
    """The server of the model that writes summaries."""
    return second_server


@pytest.fixture
async def session(server: Loopback, workspace: Workspace, tmp_path: Path) -> AsyncIterator[Callable[[str], Session]]:
    opened: list[Session] = []

    def open_with(summary_model: str) -> Session:
        context = ContextSettings(summary_model=summary_model)
        opened.append(open_session(workspace, tmp_path, server, models=MODELS, context=context))
        return opened[-1]

    yield open_with
    for one in opened:
        await one.close()


async def say(session: Session, server: Loopback, text: str) -> list[SessionEvent]:
    server.plays(chat(LONG))
    return [event async for event in session.send(text)]


async def until_it_compacts(session: Session, server: Loopback) -> list[SessionEvent]:
    for number in range(20):
        seen = await say(session, server, f"{number}: <private>door code 7788</private> {LONG}")
        if any(isinstance(event, Compacted | Stopped) for event in seen):
            assert_in_order(seen)
            return seen
    pytest.fail("a window of 8,000 tokens held it all")


async def test_a_turn_has_the_summary_written_and_shows_and_records_its_cost(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    talk = session(f"openai:writer@{writer.address}/v1")
    writer.plays(chat("The boiler's valve is by the window. Its pressure is 1.4 bar.", prompt_tokens=1204))
    seen = await until_it_compacts(talk, server)
    (receipt,) = [event.receipt for event in seen if isinstance(event, Compacted)]
    assert f"Summary written by openai:writer@{writer.address}/v1, 1,204 + 1 tokens." in receipt.text
    assert any(isinstance(event, Summarising) for event in seen) and isinstance(seen[-1], AnswerStored)
    stored = talk.memory.cold.entry(receipt.summary_seq)
    assert "The boiler's valve is by the window. Its pressure is 1.4 bar." in (stored.text or "")
    costs = {usage.model: (usage.answers, usage.prompt_tokens) for usage in talk.memory.statistics().models}
    assert costs["writer"] == (1, 1204)
    sent = b"".join(received.body for received in writer.requests)
    assert b"1.4 bar" in sent and b"7788" not in sent  # private text goes to no second model
    assert "Its pressure is 1.4 bar." in json.dumps(server.requests[-1].json)


async def test_a_turn_goes_on_with_the_extract_and_a_notice(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    talk = session(f"openai:writer@{writer.address}/v1")
    writer.plays(chat("It costs €999."))
    seen = await until_it_compacts(talk, server)
    (receipt,) = [event.receipt for event in seen if isinstance(event, Compacted)]
    assert "Summary written by" not in receipt.text
    warnings = [event.text for event in seen if isinstance(event, Notice)]
    assert len([text for text in warnings if "extracted sentences" in text]) == 1
    assert isinstance(seen[-1], AnswerStored)


async def test_without_the_setting_no_model_is_asked(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    seen = await until_it_compacts(session(""), server)
    assert not any(isinstance(event, Summarising) for event in seen) and not writer.requests
    assert not any(b"palimpsest-turns" in received.body for received in server.requests)


async def test_stopping_a_turn_ends_the_summary_and_archives_nothing(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    talk = session(f"openai:writer@{writer.address}/v1")
    writer.plays(stream(Stall()))
    for number in range(40):
        server.plays(chat(LONG))
        seen: list[SessionEvent] = []
        async for event in talk.send(f"{number}: {LONG}"):
            seen.append(event)
            if isinstance(event, Summarising):
                asyncio.get_running_loop().call_later(0.3, talk.stop)
        if isinstance(seen[-1], Stopped):
            break
    assert isinstance(seen[-1], Stopped) and not any(isinstance(event, Compacted) for event in seen)
    assert_in_order(seen)
    assert await asyncio.to_thread(writer.client_left.wait, 5)
    assert talk.memory.vault.archives() == []


async def test_archive_has_the_summary_written_too_and_can_be_stopped(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    talk = session(f"openai:writer@{writer.address}/v1")
    for number in range(4):
        await say(talk, server, f"{number}: {LONG}")
    writer.plays(stream(Stall()))
    asyncio.get_running_loop().call_later(0.3, talk.stop)
    with pytest.raises(TemporaryFailure):
        await talk.compaction.run()
    assert talk.memory.vault.archives() == []
    writer.plays(chat("The boiler's valve is by the window."))
    receipt = await talk.compaction.run(label="Boiler")
    assert receipt is not None and receipt.archived == "Boiler"
    assert "Summary written by openai:writer" in receipt.text and not receipt.warning


async def test_the_archive_command_says_why_the_summary_is_an_extract(
    session: Callable[[str], Session], server: Loopback, writer: Loopback
) -> None:
    talk = session(f"openai:writer@{writer.address}/v1")
    for number in range(4):
        await say(talk, server, f"{number}: {LONG}")
    writer.plays(chat(""))
    outcome = await registry.run(talk, "/archive --yes")
    assert isinstance(outcome, Proposal)
    result = await registry.carry_out(outcome, lambda _done: None)
    assert isinstance(result, TextResult) and "its answer is empty" in result.markdown


async def test_no_model_is_asked_for_a_summary_when_the_day_s_cap_is_reached(
    server: Loopback, summariser: ModelSummariser
) -> None:
    capped = ModelSettings(daily_tokens=500)
    summariser.budget = SpendingBudget(capped, FakeSpending(spent(900)), FakeClock())
    written = await summariser.write(task())
    assert "Hotel Aurora" in written.text
    assert "900 tokens were used today, and the limit is 500 (models.daily_tokens)" in written.warning
    assert written.usage is None
    assert not server.posts
