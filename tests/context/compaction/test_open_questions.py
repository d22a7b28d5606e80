"""Questions that nothing answers are known, in English and Chinese; answered ones and courtesies are not."""

import pytest

from context.compaction.open_questions import Discussion, Said

USER, MODEL = "user", "model"
WHICH = "Should the queue use SQLite or Postgres?"
TARGET = "Which database should the importer write to?"
BESIDES = (
    "By the way, the header of the page on billing is too large and its colour is wrong: please make it smaller, and "
    "blue like the footer."
)
ZH = "导入器应该写到哪个数据库?"
BESIDES_ZH = "顺便说一下,账单页面的标题太大了,而且颜色不对,请把它改小一点,并且换成蓝色,另外页脚也要和标题保持一致。"


def opened(*messages: tuple[str, str]) -> list[str]:
    talk = [Said(number, who == USER, text) for number, (who, text) in enumerate(messages)]
    return [question.text for question in Discussion(talk).open_questions()]


@pytest.mark.parametrize(
    "messages",
    [
        [(USER, WHICH)],
        [(USER, WHICH), (MODEL, "I don't know yet; I'll check the load first.")],
        [(USER, WHICH), (MODEL, "That is still open.")],
        [(USER, WHICH), (MODEL, "Do you mean the one for mail?"), (USER, BESIDES), (MODEL, "The header is smaller.")],
        [(USER, f"What port does the gateway have? {WHICH}"), (MODEL, "The gateway has port 8417.")],
    ],
)
def test_a_question_of_the_person_stays_open(messages: list[tuple[str, str]]) -> None:
    assert WHICH in opened(*messages)


@pytest.mark.parametrize(
    "messages",
    [
        [(USER, WHICH), (MODEL, "SQLite is fine.")],
        [(USER, WHICH), (MODEL, "I don't know yet."), (USER, "Look."), (MODEL, "The queue should use Postgres now.")],
        [(USER, f"What port does the gateway have? {WHICH}"), (MODEL, "8417. And the first.")],
        [(USER, f"```\n{WHICH}\n```\nPlease run this."), (MODEL, "I don't know how.")],
        [(USER, "Why?"), (MODEL, "I'm not sure.")],
    ],
)
def test_a_question_of_the_person_is_answered(messages: list[tuple[str, str]]) -> None:
    assert opened(*messages) == []


def test_a_question_of_the_model_stays_open_until_the_person_takes_it_up() -> None:
    asked = (USER, "Fix it."), (MODEL, f"Done. {TARGET}")
    assert opened(*asked) == [TARGET]
    assert opened(*asked, (USER, BESIDES), (MODEL, "It is smaller.")) == [TARGET]
    assert opened(*asked, (USER, "Postgres.")) == []
    assert (
        opened(*asked, (USER, BESIDES), (MODEL, "It is."), (USER, f"{BESIDES} The importer writes to Postgres.")) == []
    )
    assert opened((USER, "Fix it."), (MODEL, "Done. Anything else?")) == []
    assert (
        opened((USER, "Fix it."), (MODEL, "Why is it so? Because of the cache. It is cold. It is slow. It is.")) == []
    )


def test_chinese_questions_too() -> None:
    assert opened((USER, ZH), (MODEL, "还不确定,稍后再看。")) == [ZH]
    assert opened((USER, ZH), (MODEL, "写到SQLite。")) == []
    asked = (USER, "你好"), (MODEL, f"完成了。{ZH}")
    assert opened(*asked, (USER, BESIDES_ZH)) == [ZH]
    assert opened(*asked, (USER, "写到Postgres")) == []
    assert opened((USER, "你好"), (MODEL, "完成了。还有什么需要我做的吗?")) == []


def test_the_newest_are_kept() -> None:
    many = [(USER, f"Which owner has the certificate number {number} of the gateway?") for number in range(20)]
    assert len(opened(*many)) == 8 and "number 19" in opened(*many)[-1]
