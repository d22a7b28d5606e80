"""Questions that ask for records, and structured queries: words that ask select nothing, filters decide, and how likely
an answer is does not depend on how much else is stored."""

from collections.abc import Iterator

import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.model_functions import call
from memory.search.query.query import SearchResults
from models.messages import Role
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk

pytestmark = pytest.mark.timeout(60)  # 5,000 entries are stored

FLIGHTS = (
    ("2024-03-15", "我订了CA1234航班，从北京到里斯本。"),
    ("2024-03-20", "Flight BA504 to London leaves at nine."),
    ("2024-05-02", "My flight TP1361 is on time."),
)
OTHERS = (
    "Today I learned that transformers use attention instead of recurrence.",
    "身份验证我们用的是 OAuth，令牌一小时后过期。",
    "Ann likes tea at four.",
)
SIZES = (0, 45, 495, 4_995)
ANSWERED = {
    "flight records": "light ",
    "what did I learn about transformers?": "attention",
    "我们是如何实现身份验证的？": "OAuth",
    "What time is tea?": "four",
}


def other_entries(count: int) -> Iterator[str]:
    """Entries of the two languages about other things."""
    who, done, what = (
        ("Ben", "Clara", "老李"),
        ("painted", "sold", "washed", "moved"),
        ("fence", "oven", "kite", "violin"),
    )
    for n in range(count):
        if n % 4 == 3:
            yield f"{what[n % 3]}昨天修好了，第{n}个孩子很开心。"
        else:
            yield f"{who[n % 3]} {done[n % 4]} the {what[n // 4 % 4]} number {n} of the old house."


@pytest.fixture(scope="module", params=SIZES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """One for all tests that only ask it."""
    memory = Memory.open(Workspace(tmp_path_factory.mktemp("workspace")), FakeClock())
    talk = Talk(memory)
    for day, text in FLIGHTS:
        talk.say(text, day=day)
    for text in OTHERS:
        talk.say(text, to="b", day="2024-03-10")
    entries = enumerate(other_entries(request.param))
    talk.memory.cold.append_many([talk.draft(text, to=f"c{n % 40}", day="2024-03-12") for n, text in entries])
    yield talk
    memory.close()


def texts(results: SearchResults | dict[str, object]) -> list[str]:
    assert isinstance(results, SearchResults)
    return [hit.snippet for hit in results.hits]


def test_words_that_ask_for_records_select_nothing(store: Talk) -> None:
    found = store.ask("flight records")
    assert found.found
    assert {hit.snippet for hit in found.hits} >= {text for _, text in FLIGHTS[1:]}
    assert texts(store.ask("records")) == []


def test_where_a_filter_decides_the_text_only_ranks(store: Talk) -> None:
    filters = {"date_range": ["2024-03-01", "2024-03-31"], "entity_type": "flight"}
    found = call(store.memory.search, "exact", {"query": "查找2024年3月的航班记录", "filters": filters})
    assert texts(found) == [FLIGHTS[0][1], FLIGHTS[1][1]]
    nothing = call(store.memory.search, "exact", {"query": "查找航班", "filters": {**filters, "entity_type": "money"}})
    assert texts(nothing) == []


def test_without_filters_every_term_must_stand(store: Talk) -> None:
    assert texts(call(store.memory.search, "exact", {"query": "flight time"})) == [FLIGHTS[2][1]]


def test_who_is_not_there_is_not_found(store: Talk) -> None:
    assert not store.ask("who owns a submarine?").found


@pytest.mark.parametrize("question", ANSWERED)
def test_what_is_there_is_found(store: Talk, question: str) -> None:
    assert ANSWERED[question] in store.ask(question).hits[0].snippet


@pytest.mark.parametrize("question", ["Where is the greenhouse key?", *ANSWERED])
def test_likelihood_does_not_depend_on_how_much_else_is_stored(talk: Talk, question: str) -> None:
    talk.say("The greenhouse key is in the blue tin.", to="g")
    for text in (*OTHERS, *(text for _, text in FLIGHTS)):
        talk.say(text, to="b", day="2024-03-10")
    alone = talk.ask(question).likelihood
    talk.memory.cold.append_many([talk.draft(text, to="c") for text in other_entries(1_500)])
    assert alone > 0.5
    assert talk.ask(question).likelihood == pytest.approx(alone, abs=0.1)


def test_a_chinese_question_of_function_words_is_about_its_pairs(talk: Talk) -> None:
    talk.say("我住在杭州。")
    assert [hit.snippet for hit in talk.ask("我住在哪里？").hits] == ["我住在杭州。"]


def test_an_answer_that_only_called_a_tool_is_no_hit(talk: Talk) -> None:
    talk.say("The locker at the pool is number 417.")
    talk.say("", role=Role.ASSISTANT, speaker="m")
    talk.say("It opens at nine.")
    assert all(hit.snippet for hit in talk.ask("locker at the pool").hits)
