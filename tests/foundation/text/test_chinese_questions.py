"""Chinese questions: what they ask about, other spellings of numbers, phrases that ask."""

import pytest

from foundation.text.chinese_questions import chinese_terms, is_noun_phrase, number_forms, plain_question


@pytest.mark.parametrize(
    ("text", "further", "asking"),
    [
        ("我妹在哪个医院工作？", {"妹", "我妹"}, {"哪个", "个医"}),
        ("藏书楼什么时候烧的？", {"烧"}, {"什么", "楼什"}),
        ("我住在哪里?", {"住", "我住"}, {"哪里"}),
        ("我妹在哪個醫院工作？", {"妹", "我妹"}, {"哪个", "个医"}),
        ("where is it", set[str](), set[str]()),
    ],
)
def test_words_that_only_ask_divide_a_question(text: str, further: set[str], asking: set[str]) -> None:
    terms = chinese_terms(text)
    assert set(terms.further) == further
    assert asking <= terms.asking


@pytest.mark.parametrize("text", ["我叫什么名字？", "我是谁？", "我的名字", "你知道我的名字吗？", "我叫什么"])
def test_ones_own_name_is_asked_for_in_the_words_of_its_answer(text: str) -> None:
    assert plain_question(text).startswith("我叫")


def test_the_name_of_something_else_stays() -> None:
    assert plain_question("我的猫叫什么名字？") == "我的猫叫什么名字？"


@pytest.mark.parametrize(
    ("text", "term", "form"),
    [
        ("八千块", "八千", "8000"),
        ("8000", "8000", "八千"),
        ("四千二", "千二", "4200"),
        ("一万二", "万二", "12000"),
        ("138 1234 5678", "1234", "13812345678"),
        ("13812345678", "13812345678", "5678"),
    ],
)
def test_numbers_have_other_spellings(text: str, term: str, form: str) -> None:
    assert form in number_forms(text)[term]


@pytest.mark.parametrize("text", ["三八二一", "二〇二四", "百", "一", ""])
def test_digits_that_are_no_number_have_none(text: str) -> None:
    assert number_forms(text) == {}


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("新银行卡的尾号", True),
        ("无线网络的名字", True),
        ("wifi名称", True),
        ("我今天去了北京的故宫", False),
        ("我的猫很可爱", False),
        ("请记住它不要忘记", False),
        ("the name", False),
    ],
)
def test_a_short_phrase_for_a_thing_asks_for_it(text: str, asks: bool) -> None:
    assert is_noun_phrase(text) is asks
