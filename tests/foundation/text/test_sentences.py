"""One sentence splitter for every language the program knows: what ends a sentence, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.sentences import boundaries, is_question, only_asks, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We stayed!  Why?", ["It rained.", "We stayed!", "Why?"]),
        ("下雨了。我们留下！为什么？因为冷；就这样", ["下雨了。", "我们留下！", "为什么？", "因为冷；", "就这样"]),
        ("你好!今天去哪?好的.走吧", ["你好!", "今天去哪?", "好的.", "走吧"]),
        ("“真的吗？”她问。", ["“真的吗？”", "她问。"]),
        ("He said “go.” Then he left.", ["He said “go.”", "Then he left."]),
        ("Well… maybe. 算了……走吧", ["Well…", "maybe.", "算了……", "走吧"]),
        ("Dr. Ann and Mr. B. Jones, e.g. at St. Ives.", ["Dr. Ann and Mr. B. Jones, e.g. at St. Ives."]),
        ("See node.js 3.14 at http://example.org/?q=1!x", ["See node.js 3.14 at http://example.org/?q=1!x"]),
        ("- one\n- two\r\nthree\u2028four", ["- one", "- two", "three", "four"]),
        ("Really?! 真的？！走", ["Really?!", "真的？！", "走"]),
        ("ถึงแล้ว! 駅に着いた。次は?", ["ถึงแล้ว!", "駅に着いた。", "次は?"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_a_text_is_split_into_its_sentences(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


PIECES = st.sampled_from([*"aB我9,.!？；…”) \n\r\u2028", "Dr"])


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
def test_sentences_are_verbatim_lie_in_order_and_leave_out_white_space_alone(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
        assert len(sentence.text.splitlines()) == 1
        assert not text[last : sentence.start].strip()
        last = sentence.end
    assert not text[last:].strip()


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(0, 20), st.integers(0, 9))
def test_boundaries_ascend_within_the_range(text: str, start: int, clause: int) -> None:
    found = list(boundaries(text, start, len(text), clause=clause))
    assert found == sorted(set(found))
    assert all(start <= at <= len(text) for at in found)


def test_only_a_long_sentence_ends_at_its_commas() -> None:
    text = "one, two, three. 一，二，三。"
    assert [text[a:b] for a, b in zip([0, *boundaries(text)], boundaries(text), strict=False)] == [
        "one, two, three.",
        " 一，二，三。",
    ]
    assert list(boundaries(text, clause=6)) == [9, 16, 23]


def test_what_may_go_on_does_not_end() -> None:
    assert list(boundaries("It costs 3.")) == []
    assert list(boundaries("It costs 3. ")) == [11]
    assert list(boundaries("三块。")) == [3]


@pytest.mark.parametrize(
    ("sentence", "expected"), [("去哪？", True), ("“Where?” ", True), ("(why?)", True), ("Yes.", False), ("", False)]
)
def test_a_question_ends_with_its_mark(sentence: str, expected: bool) -> None:
    assert is_question(sentence) is expected


@pytest.mark.parametrize(
    "text",
    [
        "What is my dentist called",
        "what's my dentist's name",
        "Which hotel did we stay at in Porto",
        "Who is Ann? And what does she do?",
        "Find the notes on the boiler",
        "tell me where the key is",
        "我坐的是哪个航班",
        "你记得我住在哪里吗",
        "查找2024年3月的航班记录",
    ],
)
def test_a_text_that_only_asks(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "When I was in Rome I lost my wallet.",
        "What he said was right",
        "What a day!",
        "The boiler leaks? I am not sure.",
        "Show time is at nine.",
        "我不知道谁来了",
        "谁都喜欢她",
        "找到钥匙了",
        "几个朋友来了",
    ],
)
def test_a_text_that_tells_something(text: str) -> None:
    assert not only_asks(text)
