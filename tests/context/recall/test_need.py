"""Whether a message needs memory: its wording, and what the search found for it."""

import pytest

from context.recall.need import message_features, recall_likelihood
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
