"""Answers without a model, in Chinese; answers to questions that were asked before; piped text."""

import re

import pytest
from msgspec.structs import replace

from foundation.trust import Trust
from models.chat.offline.phrases import CHINESE, ENGLISH, asks
from models.chat.offline.provider import answer
from models.messages import Fact, RecalledSpan, Text, system, user
from tests.models.chat.events import request
from tests.models.chat.offline.test_offline import ask, quoted, recalled

NO_FACTS: tuple[Fact, ...] = ()


def said(text: str, ref: str, *, superseded: str = "") -> RecalledSpan:
    return replace(recalled(text, ref, speaker="user"), superseded=superseded)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("我妹在哪个医院工作？", "我妹在协和医院当护士。"),
        ("藏书楼什么时候烧的？", "第六章：子时三刻，藏书楼起了火，烧了整整一夜。"),
        ("我的猫叫什么名字？", "我的猫叫豆包，橘色的。"),
        ("我叫什么名字？", "我叫林晚秋，写小说也写代码。"),
        ("新银行卡的尾号", "新银行卡尾号是8821。"),
        ("我害怕什么？", "我最怕蜘蛛，连照片都不敢看。"),
        ("8000块是什么钱？", "年终奖发了八千块，存起来了。"),
        ("李晓梅是做什么的？", "李曉梅是小學老師。"),
    ],
)
def test_a_chinese_question_is_answered(question: str, text: str) -> None:
    answered = ask(question, said(text, "e_1"), facts=NO_FACTS)
    assert answered.startswith(CHINESE.quoting)
    assert quoted(answered) == [text]


def test_another_attribute_is_only_the_nearest() -> None:
    assert ask("王老师的微信号是多少？", said("王老师的电话是13812345678。", "e_1"), facts=NO_FACTS).startswith(
        CHINESE.nearest
    )


def test_a_chinese_answer_holds_no_english_words() -> None:
    old, new = said("我住在北京。", "1", superseded="2026-05-01"), said("我搬家了，现在住在上海。", "2")
    doubtful = replace(said("住在海边的是阿姨。", "3"), trust=Trust.APPROXIMATE)
    answered = ask("我住在哪里？", new, old, doubtful, facts=NO_FACTS)
    assert "2026-05-01 起已更新" in answered and "用户" in answered
    assert not re.search("[a-z]{2,}", answered.replace("Trip", ""))


def test_what_answered_the_same_question_before_is_quoted() -> None:
    part = recalled("At nine from the old harbour.", "e_2")
    question = "When does the ferry leave?"
    made = request(system("Be kind."), user(part, Text(question)))
    assert answer(made).startswith(ENGLISH.nothing)
    assert quoted(answer(replace(made, whole=(replace(part, asked=question),)))) == [part.text]


@pytest.mark.parametrize(
    "text", ["请记住它不要忘记", "记住：钥匙在花盆下面", "Remember that the key is red.", "Please note: no milk"]
)
def test_what_is_to_be_remembered_is_kept(text: str) -> None:
    assert not asks(text)
    assert ask(text, said("记住钥匙在花盆下面 remember that the key is red", "e_1"), facts=NO_FACTS) in {
        CHINESE.kept,
        ENGLISH.kept,
    }


@pytest.mark.parametrize(
    ("question", "piped"),
    [("What is the boat called?", "The boat is called Mirabel."), ("船叫什么名字？", "船名叫海燕号，去年下水。")],
)
def test_piped_text_is_answered_from(question: str, piped: str) -> None:
    answered = ask(f"{question}\n\n{piped}\n", facts=NO_FACTS)
    assert quoted(answered) == [piped]
