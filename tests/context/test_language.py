"""A small model is told to answer a Chinese message in Chinese; nothing is added to others."""

import pytest
from msgspec.structs import replace

from models.prompts import prompt
from tests.context.conversation import Talk, texts

LINE = prompt("language", "chinese")


@pytest.mark.parametrize("text", ["谢谢你", "notes.txt里有什么？", "运行 git status 看看。", "12乘以15等于多少？"])
@pytest.mark.parametrize(("parameters_b", "is_told"), [(1.5, True), (70.0, False)])
def test_a_small_model_is_told_to_answer_in_chinese(talk: Talk, text: str, parameters_b: float, is_told: bool) -> None:
    talk.profile = replace(talk.profile, parameters_b=parameters_b)
    last = texts(talk.send(text))[-1]
    assert (LINE in last) is is_told
    assert last.endswith(f"{LINE}\n\n{text}" if is_told else text)


@pytest.mark.parametrize(
    "text", ["hello", "What does 你好 mean?", "“谢谢”用英语怎么说？", "把这句话翻译成法文：早上好", "東京はどこですか"]
)
def test_other_messages_have_no_line(talk: Talk, text: str) -> None:
    talk.profile = replace(talk.profile, parameters_b=1.5)
    assert LINE not in texts(talk.send(text))[-1]
