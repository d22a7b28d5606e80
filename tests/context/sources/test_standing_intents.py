"""Standing intents: which lines of the memory are some, what fires them, and what the person and the model see."""

import pytest

from context.sources.standing_intents import MOST_FIRED, StandingIntent, standing_intents
from memory.hot import Note
from tests.context.conversation import Talk, texts


def intents(text: str) -> list[StandingIntent]:
    last = 4 + len(text.split("\n"))
    note = Note(id="m_1", path="MEMORY.md", line_first=4, line_last=last, words_first=5, words_last=last, text=text)
    return list(standing_intents([note]))


@pytest.mark.parametrize(
    ("line", "topics", "reminder"),
    [
        ("- When we talk about the boiler, remind me of its warranty.", ("boiler",), "its warranty."),
        ("Whenever I mention Rome or “the trip”, please remind me to book", ("Rome", "trip"), "to book"),
        ("- 谈到锅炉时，提醒我续保。", ("锅炉",), "续保。"),
        ("当我们聊到装修、搬家的时候，请提醒我联系王师傅", ("装修", "搬家"), "联系王师傅"),
    ],
)
def test_a_line_is_an_intent(line: str, topics: tuple[str, ...], reminder: str) -> None:
    (intent,) = intents(f"- Ann lives in Oslo\n{line}")
    assert (intent.topics, intent.reminder, intent.line) == (topics, reminder, 6)


@pytest.mark.parametrize(
    "line",
    [
        "- I reminded Ann of the boiler when we talked about it",
        "- When we talk about the boiler, be brief",
        "When we talk about " + "x" * 600 + ", remind me of y",
        "提醒我续保",
    ],
)
def test_other_lines_are_none(line: str) -> None:
    assert intents(line) == []


def test_an_intent_fires_on_its_topic_as_a_word() -> None:
    (boiler,) = intents("When we talk about the boiler or hot water, remind me of the warranty.")
    assert boiler.fires("The BOILER is loud") and boiler.fires("two boilers") and boiler.fires("no hot water")
    assert not boiler.fires("a boilerplate") and not boiler.fires("water is hot")


MEMORY = (
    "# Memory\n\n<!-- 2026-03-01T10:00:00Z -->\n## Home\n- When we talk about the boiler, remind me of its warranty.\n"
)


def test_a_fired_intent_goes_with_the_message_and_is_shown_once_while_in_view(talk: Talk) -> None:
    talk.write("MEMORY.md", MEMORY)
    assert talk.send("What is for dinner?").notices == ()
    assembled = talk.send("The boiler is loud.")
    assert (
        "The user wants to be reminded where “boiler” comes up (MEMORY.md, line 5): its warranty."
        in texts(assembled)[-1]
    )
    assert [str(notice) for notice in assembled.notices] == ["MEMORY.md:5: reminder: its warranty."]
    assert talk.send("The boiler again.").notices == ()


def test_a_message_fires_few_intents(talk: Talk) -> None:
    lines = (f"- When we talk about the boiler, remind me of point {number}.\n" for number in range(MOST_FIRED + 2))
    talk.write("MEMORY.md", MEMORY.partition("- When")[0] + "".join(lines))
    assert len(talk.send("The boiler is loud.").notices) == MOST_FIRED
    assert len(talk.send("The boiler again.").notices) == 2


def test_an_edited_line_holds_from_the_next_message(talk: Talk) -> None:
    talk.write("MEMORY.md", MEMORY)
    talk.send("The boiler is loud.")
    talk.write("MEMORY.md", MEMORY.replace("its warranty", "the plumber"))
    assert "line 5): the plumber." in texts(talk.send("The boiler again."))[-1]
