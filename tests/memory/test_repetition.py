"""An answer that only repeats its sources is told from one that says something new. In doubt it is new."""

from collections.abc import Iterator

import pytest

from memory.repetition import LONGEST, SourceText, is_copied, only_announces, repeated_sources

KEY = SourceText(
    "e_key", "The greenhouse key hangs behind the blue door. Ann has the spare one.", "Garden · 2025-03-14"
)
FLIGHT = SourceText("e_flight", "我订了CA1234航班，3月15日上午九点从北京出发。")


@pytest.mark.parametrize(
    ("answer", "sources"),
    [
        ("The greenhouse key hangs behind the blue door.", ("e_key",)),
        ("It hangs behind the blue door [Home · 2025-03-14 · e_key].", ("e_key",)),
        ("As you told me on 2025-03-14, the key is behind the blue door. Let me know if you need more!", ("e_key",)),
        ("According to your notes, the key to the greenhouse is hanging behind the blue door.", ("e_key",)),
        ("**Key:** behind the blue door\n\nAnn has the spare one. Anything else?", ("e_key",)),
        ("From memory:\n\n> The greenhouse key hangs behind the blue door.\n\nAnything else?", ("e_key",)),
        ("According to your message of 2025-03-14, the greenhouse key is behind the door.", ("e_key",)),
        ("您的CA1234航班3月15日上午九点从北京出发。", ("e_flight",)),
        ("The greenhouse key hangs behind the blue door.\n您订了CA1234航班。", ("e_key", "e_flight")),
    ],
)
def test_what_repeats_names_its_sources(answer: str, sources: tuple[str, ...]) -> None:
    assert repeated_sources(answer, [KEY, FLIGHT]) == sources


@pytest.mark.parametrize(
    "answer",
    [
        "The greenhouse key is under the red pot.",
        "The greenhouse key hangs behind the blue door. The lock was changed in May.",
        "The greenhouse key does not hang behind the blue door.",
        "The greenhouse key hangs behind the blue door number 7.",
        "The greenhouse key hangs behind Maria's blue door.",
        "您的CA1234航班3月16日上午九点从北京出发。",
        "我没订CA1234航班。",
        "Ok!",
        "",
        "Shall I look for the greenhouse key?",
    ],
)
def test_what_says_something_new_or_nothing_names_none(answer: str) -> None:
    assert repeated_sources(answer, [KEY, FLIGHT]) == ()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Does the ferry leave at nine?", "Yes, the ferry leaves at nine."),
        ("does the ferry leave at nine", "The ferry leaves at nine."),
        ("Maybe the ferry leaves at nine.", "The ferry leaves at nine."),
        ("渡轮是不是九点出发", "渡轮九点出发。"),
        ("渡轮九点出发吗？", "对，渡轮九点出发。"),
    ],
)
def test_an_answer_that_affirms_a_question_is_new(asked: str, answer: str) -> None:
    assert repeated_sources(answer, [SourceText("e_question", asked)]) == ()


def test_without_sources_and_without_bounds_nothing_repeats() -> None:
    assert repeated_sources(KEY.text, []) == ()
    assert repeated_sources(KEY.text + " " * LONGEST, [KEY]) == ()


def test_a_piece_of_a_result_is_copied() -> None:
    result = '[{"cite": "[Garden · e_key]", "found_by": ["key"],\n  "text": "The key hangs behind the blue door."}]'
    assert is_copied(f"```json\n{result[:70]}\n```", [result])
    assert not is_copied("The key hangs behind the blue door, and I oiled it in May.", [result])
    assert not is_copied("blue door", [result]), "anybody's words"


def test_a_sentence_of_many_framing_words_may_say_something_new() -> None:
    answer = "The greenhouse key hangs behind the blue door. I sent the store a message on the search result."
    assert repeated_sources("The greenhouse key hangs behind the blue door. I wrote the store a message.", [KEY]) == ()
    assert repeated_sources(answer, [KEY]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Let me look.",
        "Let me search my memory for the greenhouse key.",
        "I'll check what you said about the key in the greenhouse.",
        "好的，我查找一下。",
    ],
)
def test_what_a_model_says_before_it_looks_is_told(text: str) -> None:
    assert only_announces(text, ["Where is the greenhouse key?", '{"query": "greenhouse key"}'])


@pytest.mark.parametrize(
    "text",
    ["Let me look. The boiler is serviced in May.", "The greenhouse key is in the tin, let me check.", "钥匙在门后。"],
)
def test_what_it_says_besides_is_new(text: str) -> None:
    assert not only_announces(text, ["Where is the greenhouse key?", '{"query": "greenhouse key"}'])


def test_an_answer_without_words_reads_no_source() -> None:
    def unread() -> Iterator[SourceText]:
        raise AssertionError("a source was read")
        yield

    assert repeated_sources(" \n", unread()) == ()
