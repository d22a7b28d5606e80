"""No model: it quotes to the letter, best first, says what it is, and knows the program."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.trust import Citation, Trust
from models.chat.offline.phrases import CHINESE, ENGLISH, asks, phrases_for
from models.chat.offline.provider import answer
from models.chat.offline.quotes import quotable_sentences
from models.chat.open import open_model
from models.chat.port import AnswerEnd, StopReason, TextChunk
from models.messages import Fact, Message, MessagePart, RecalledSpan, Request, Text, Usage, assistant, system, user
from models.settings import ModelSettings
from tests.models.chat.events import all_events, request, words

MARCH = datetime(2026, 3, 14, tzinfo=UTC)


def recalled(text: str, ref: str, *, speaker: str = "Ann", trust: Trust = Trust.EXACT) -> RecalledSpan:
    return RecalledSpan(
        text, Citation(kind="entry", ref=ref, title="Trip", speaker=speaker, time=MARCH), trust, 1.0, MARCH
    )


TRIP = recalled(
    "Did you book it? When does the flight leave?\nThe flight leaves at 09:40 from gate B22. Bring a scarf.", "e_1"
)
LEMONS = recalled("Bob bought three lemons for 4.50 euros.", "e_2", speaker="Bob", trust=Trust.APPROXIMATE)
CAT = recalled("我们的猫叫小白，今年三岁。它喜欢睡在窗台上。", "e_3")
FACTS = (
    Fact("/archive", "`/archive FILE` turns a text into page images.", ("archive", "pages", "归档")),
    Fact("recall", "Recall brings a passage back, with its citation.", ("remember", "bring back")),
    Fact("models", "`/model` connects another model.", ("connect", "model", "模型")),
)


def ask(question: str, *parts: MessagePart, before: tuple[Message, ...] = (), facts: tuple[Fact, ...] = FACTS) -> str:
    return answer(request(system("Be kind."), *before, user(*parts, Text(question)), facts=facts))


def quoted(text: str) -> list[str]:
    return [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]


def test_it_quotes_what_answers_first_with_citation_date_and_trust() -> None:
    said = ask("When does my flight leave?", LEMONS, TRIP)
    assert quoted(said)[0] == "The flight leaves at 09:40 from gate B22."
    assert "[Trip · Ann · 2026-03-14 · e_1] · exact" in said
    assert "no language model is connected" in said
    assert "e_2" not in said, "lemons say nothing of a flight"


def test_what_else_says_something_of_it_is_listed_with_a_line_of_its_text() -> None:
    gate = recalled("Gate B22 is where the flight to Rome leaves, says the board.", "e_4", trust=Trust.APPROXIMATE)
    many = [
        recalled(f"Flight number {number} leaves from gate {number} at {number} o'clock.", f"e_1{number}")
        for number in range(4)
    ]
    said = ask("From which gate does my flight leave?", TRIP, LEMONS, gate, *many)
    _, _, listed = said.partition(ENGLISH.more)
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    assert lines
    for line in lines:
        assert line.startswith("- “") and "flight" in line.lower(), line
    assert "lemons" not in said


def test_what_another_reader_doubts_is_said() -> None:
    said = ask("How many lemons did Bob buy?", TRIP, LEMONS)
    assert quoted(said)[0] == "Bob bought three lemons for 4.50 euros."
    assert "e_2] · approximate" in said


@pytest.mark.parametrize(
    ("question", "chinese"),
    [("Hello, what can you do? 你好 🐋", False), ("我的 password 放在哪里?", True), ("¿dónde está 北京?", False)],
)
def test_it_answers_in_the_language_that_most_of_the_question_is_in(question: str, chinese: bool) -> None:
    assert (phrases_for(question) is CHINESE) is chinese


def test_it_answers_chinese_in_chinese() -> None:
    said = ask("我们的猫叫什么名字？", TRIP, CAT)
    assert quoted(said)[0] == "我们的猫叫小白，今年三岁。"
    assert "不是语言模型" in said


def test_the_same_passage_is_quoted_once() -> None:
    again = recalled("The flight leaves at 09:40, from gate B22.", "e_9")
    assert sum("09:40" in line for line in quoted(ask("When does the flight leave?", TRIP, again))) == 1


def test_the_question_itself_is_no_answer() -> None:
    asked_before = recalled("When does the flight leave?", "e_8")
    assert quoted(ask("When does the flight leave?", asked_before)) == []
    assert "When does the flight leave?" not in quoted(ask("When does the flight leave?", asked_before, TRIP))


def test_nothing_recalled_is_said_with_what_one_can_do() -> None:
    said = ask("Where is the lighthouse?")
    assert "Nothing in memory matches" in said
    assert "/search" in said
    assert "/model" in said
    assert "记忆里没有" in ask("灯塔在哪里？")


def test_a_very_long_sentence_is_cut_to_what_was_asked_for() -> None:
    long = recalled("and so on " * 100 + "the anchor weighs ninety pounds " + "and so on " * 100, "e_7")
    (line,) = quoted(ask("What does the anchor weigh?", long))
    assert "anchor weighs ninety pounds" in line
    assert line in long.text
    assert len(line) < 400


def test_what_only_comes_near_is_called_so() -> None:
    said = ask("How many lemons and oranges and melons did Bob buy in Zanzibar?", LEMONS)
    assert "closest" in said
    assert quoted(said) == ["Bob bought three lemons for 4.50 euros."]


def test_it_says_nothing_rather_than_a_weak_quote() -> None:
    assert "Nothing in memory matches" in ask("Which colour has Zanzibar's flag?", LEMONS)
    assert not quoted(ask("Which colour has Zanzibar's flag?", LEMONS))
    assert not quoted(ask("Who owns a submarine?", recalled("I hope for my own path, Ann.", "e_4")))
    gpl = recalled("You may convey a work based on the Program, under these terms.", "e_5")
    assert not quoted(ask("How does parity work?", gpl))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I archive a file?", "turns a text into page images"),
        ("what does /archive do?", "turns a text into page images"),
        ("What is recall?", "Recall brings a passage back"),
        ("How can I connect a model?", "connects another model"),
        ("如何归档？", "turns a text into page images"),
    ],
)
def test_it_knows_the_program(question: str, expected: str) -> None:
    assert expected in ask(question, LEMONS)


def test_a_question_about_life_is_not_taken_for_one_about_the_program() -> None:
    said = ask("What is the model of Bob's car?", recalled("Bob drives a Saab, the 900 model.", "e_5"), facts=FACTS[:2])
    assert quoted(said) == ["Bob drives a Saab, the 900 model."]


@pytest.mark.parametrize(
    "question",
    [
        "What is my new address?",
        "How do I get to Ann's new house?",
        "What is the key to the shed?",
        "Where are the tax pages?",
    ],
)
def test_a_word_of_the_program_in_a_question_about_life_is_no_question_about_the_program(question: str) -> None:
    facts = (Fact("/new", "Begins.", ("new",)), Fact("keys", "Esc stops.", ("key",)), *FACTS)
    assert "notes about Palimpsest" not in ask(question, facts=facts)


@pytest.mark.parametrize("question", ["Who are you?", "What is Palimpsest?", "你是谁？", "what can you do?"])
def test_it_says_what_it_is(question: str) -> None:
    about = Fact("what this is", "A terminal chat that remembers.", ("palimpsest", "who are you", "你是谁"))
    assert "A terminal chat that remembers." in ask(
        question, facts=(*FACTS, about) if "Who" in question else (about, *FACTS)
    )


def test_a_statement_is_kept_and_a_greeting_returned() -> None:
    assert ask("My sister's birthday is on the 4th of May.").startswith("Saved")
    assert ask("Hello!").startswith("Hello")
    assert ask("你好").startswith("你好")


def test_it_quotes_what_is_in_view_though_memory_does_not_recall_it() -> None:
    before = (user("The key lies under the blue pot."), assistant("Kept."))
    said = ask("Where does the key lie?", before=before)
    assert quoted(said) == ["The key lies under the blue pot."]
    notes = system(Text("<!-- 2026-03-14 -->\n## Home\n- The boiler is serviced in October.", injected="memory"))
    said = ask("When is the boiler serviced?", before=(notes,))
    assert quoted(said) == ["The boiler is serviced in October."]
    assert "MEMORY.md" in said


def test_instructions_are_not_quoted() -> None:
    said = ask(
        "What colour is the secret door?", before=(system(Text("The secret door is green.", injected="instructions")),)
    )
    assert not quoted(said)


async def test_it_streams_and_counts_like_the_others() -> None:
    model = open_model("offline", settings=ModelSettings(), env={})
    asked = request(user(TRIP, Text("When does the flight leave?")))
    events = await all_events(model, asked)
    assert words(events) == answer(asked)
    assert sum(isinstance(event, TextChunk) for event in events) > 10
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.estimated
    assert usage.prompt_tokens > 20
    assert events[-1] == AnswerEnd(StopReason.STOP)
    assert await model.prepare() == model.profile


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.lists(
    st.sampled_from(["Ann said. ", "When? ", "白色的船。", "e.g. ", "3.5 ", "Dr. Who! ", "\n", "> ", "- ", "flight "]),
    max_size=20,
).map("".join)


def bare(text: str) -> str:
    """Without white space: a quote is verbatim but for line breaks."""
    return "".join(text.split())


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_each_quote_is_verbatim(question: str, texts: list[str]) -> None:
    parts = tuple(recalled(text, f"e_{n}") for n, text in enumerate(texts))
    for line in answer(Request(model="offline", messages=(user(*parts, Text(question)),))).split("\n"):
        if line.startswith("> "):
            assert any(bare(line.removeprefix("> ")) in bare(text) for text in texts), line


@given(TEXTS)
def test_each_sentence_is_a_piece_of_its_text_in_its_order(text: str) -> None:
    at = 0
    for sentence in quotable_sentences(text):
        assert bare(sentence.text) in bare(text[sentence.start : sentence.end])
        assert sentence.start >= at
        at = sentence.start


def test_abbreviations_and_figures_do_not_end_a_sentence() -> None:
    assert [
        sentence.text for sentence in quotable_sentences("Dr. Who paid 3.5 euros. Then he left! 他走了。天黑了。")
    ] == [
        "Dr. Who paid 3.5 euros.",
        "Then he left!",
        "他走了。",
        "天黑了。",
    ]


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("锅炉多大年纪了", True),
        ("到车站有多远", True),
        ("锅炉已经二十年了", False),
        ("那里有很多大楼", False),
        ("房间里有好多重东西", False),
    ],
)
def test_a_chinese_question_needs_no_mark(text: str, is_question: bool) -> None:
    assert asks(text) is is_question
