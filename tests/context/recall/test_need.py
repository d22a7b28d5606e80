"""Whether a message needs memory: its wording, and what the search found for it."""

import pytest

from context.recall.need import message_features, recall_likelihood, says_nothing
from context.settings import ContextSettings
from foundation.trust import Citation, Trust
from memory.search import Hit, SearchResults


def results(snippet: str, *, score: float = 0.5, likelihood: float = 0.9, speaker: str = "") -> SearchResults:
    hit = Hit(
        id="e_1",
        kind="message",
        conversation="c",
        score=score,
        snippet=snippet,
        speaker=speaker,
        citation=Citation(kind="entry", ref="e_1"),
        trust=Trust.EXACT,
    )
    return SearchResults(query="", total=20, hits=(hit,), likelihood=likelihood)


@pytest.mark.parametrize(
    "message",
    ["hello!", "Thanks, that was very helpful", "ok go on", "yes please", "谢谢", "好的，明白了", "晚上好", "你好呀"],
)
def test_courtesy_needs_nothing(message: str) -> None:
    assert message_features(message) == {}
    assert recall_likelihood(message, results(message, score=1.0, likelihood=1.0)) == 0.0


@pytest.mark.parametrize(
    ("message", "snippet"),
    [
        ("Where is the greenhouse key?", "The greenhouse key hangs behind the blue door."),
        ("what did we decide about the database?", "Let us take Postgres as the database."),
        ("my favourite colour?", "My favourite colour is green."),
        ("greenhouse key", "The greenhouse key hangs behind the blue door."),
        ("summarise what we said about the garden", "The garden gets a new fence in May."),
        ("我的航班是几点？", "我订了早上九点的航班。"),
    ],
)
def test_a_question_about_what_is_remembered_is_served(message: str, snippet: str) -> None:
    assert recall_likelihood(message, results(snippet)) > ContextSettings().recall_threshold


@pytest.mark.parametrize(
    ("message", "snippet"),
    [
        ("write a haiku about rain", "It was rain all day in Lyon."),
        ("translate to German: my sister lives in Lyon", "My sister lives in Lyon."),
        ("why does this fail?\n\nfor dog in dogs:\n    print(dog.name)", "We have a new dog, her name is Luna."),
        ("how do bees make honey", "The bees are asleep."),
        ("为什么天空是蓝色的", "今天的天空真蓝。"),
    ],
)
def test_an_instruction_or_a_general_question_is_not(message: str, snippet: str) -> None:
    assert recall_likelihood(message, results(snippet, score=0.2, likelihood=0.5)) < ContextSettings().recall_threshold


def test_a_name_within_a_word_names_nobody() -> None:
    results_of_ann, results_of_lin = results("", speaker="Ann"), results("", speaker="林晓")
    assert message_features("Where did Ann go?", results_of_ann.hits)["named"] == 1
    assert message_features("Where did the planning go?", results_of_ann.hits)["named"] == 0
    assert message_features("林晓住在哪里？", results_of_lin.hits)["named"] == 1


def test_without_hits_nothing_is_served() -> None:
    assert recall_likelihood("Where is the key?", SearchResults(query="")) == 0.0


@pytest.mark.parametrize("message", ["Please remember that tea is at four", "note: tea is at four", "请记住四点喝茶"])
def test_what_is_to_be_kept_asks_for_nothing(message: str) -> None:
    features = message_features(message)
    assert (features["instruction"], features["past"]) == (1, 0)
    assert recall_likelihood(message, results("evening slows to tea", score=0.4, likelihood=0.6)) < 0.1


def test_to_be_reminded_is_a_question() -> None:
    assert message_features("remind me, when is tea?")["past"] == 1
    assert message_features("remember what I said about tea")["past"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "Hello! How can I help?",
        "You are welcome!",
        "Let me look.",
        "One moment.",
        "Searching.",
        "Let me check my memory for that.",
        "I see. Tell me more.",
        "Noted.",
        "好的，我查找一下。",
        "让我看看。",
        "你好！有什么可以帮您？",
    ],
)
def test_a_model_that_announces_what_it_does_says_nothing(text: str) -> None:
    assert says_nothing(text, by_model=True)


@pytest.mark.parametrize("text", ["hello", "thanks!", "hi there", "谢谢！", "您好"])
def test_courtesy_says_nothing(text: str) -> None:
    assert says_nothing(text, by_model=False)


@pytest.mark.parametrize("by_model", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "No, thanks",
        "Both, please",
        "not me",
        "It was me",
        "The second one",
        "Tell Ann",
        "See you on Friday",
        "I am 42",
        "In the morning.",
        "Great",
        "I didn't see it",
        "I keep it in the garage",
        "是的",
        "不是",
        "没有",
        "好的",
        "谢谢张伟",
        "在家",
    ],
)
def test_what_may_answer_says_something(text: str, *, by_model: bool) -> None:
    assert not says_nothing(text, by_model=by_model)


def test_a_person_who_keeps_something_says_something() -> None:
    assert not says_nothing("I will keep it.", by_model=False)
