"""Questions about the program, asked of the facts that it really hands over."""

import pytest

from agent.cli.facts import facts
from models.chat.offline.facts import window
from models.chat.offline.phrases import CHINESE, ENGLISH
from models.chat.offline.provider import answer
from models.messages import user
from tests.models.chat.events import request


def ask(question: str) -> str:
    return answer(request(user(question), facts=facts()), (window(8192, 1024),))


@pytest.mark.parametrize(
    "question",
    ["how do you remember things?", "How does your memory work?", "你怎么记住东西？", "what do you remember?"],
)
def test_it_says_how_it_remembers(question: str) -> None:
    said = ask(question)
    assert "is saved in .palimpsest/" in said
    assert "relevant passages" in said
    assert "page images" in said
    assert "/remember TEXT" not in said


@pytest.mark.parametrize("question", ["who are you", "你是谁", "你好，你是谁？", "hello, who are you?"])
def test_it_says_who_it_is(question: str) -> None:
    assert "terminal chat and agent that remembers" in ask(question)


@pytest.mark.parametrize("question", ["what can you do", "what can you do?", "你能做什么？"])
def test_it_says_what_it_can_do(question: str) -> None:
    assert "/archive" in ask(question)
    assert "@FILE" in ask(question)


@pytest.mark.parametrize(
    "question", ["what is your context window", "how big is your context window?", "上下文窗口多大？"]
)
def test_it_knows_its_window(question: str) -> None:
    assert "8,192 tokens" in ask(question)


@pytest.mark.parametrize("question", ["how do I remember something?", "what does /remember do?", "how do i search"])
def test_a_command_is_told_in_one_line(question: str) -> None:
    lines = [line for line in ask(question).splitlines() if line.startswith("`/") or line.startswith("`palimpsest")]
    assert len(lines) == 1


@pytest.mark.parametrize("said", ["hello model", "hello again", "hi there Palimpsest!", "Good morning, dear whale."])
def test_a_greeting_with_a_word_more_is_returned(said: str) -> None:
    assert ask(said).startswith(ENGLISH.greeting)


def test_a_greeting_before_something_to_keep_does_not_hide_it() -> None:
    assert ask("Hello, my sister is called Anna").startswith("Saved")
    assert ask("你好！").startswith(CHINESE.greeting)


@pytest.mark.parametrize(
    "question", ["Who is Anna's dentist?", "What did Bob do with the window?", "Where is the data of the trip?"]
)
def test_a_question_about_life_is_none_about_the_program(question: str) -> None:
    assert ENGLISH.fact_note not in ask(question)


def test_a_word_that_is_a_command_too_is_asked_of_memory_where_memory_answers() -> None:
    said = "The key is in the blue tin."
    asked = request(user(said), user("Where is the key?"), facts=facts())
    assert said in answer(asked)
    assert ENGLISH.fact_note not in answer(asked)
    assert ENGLISH.fact_note in ask("what does /keys do?")
