"""What a model reads beside recalled passages: relative dates written out, and one line of what to do with them."""

import pytest
from msgspec.structs import replace

from context.recall.guide import asks_for_fact, guide_for, with_guide
from foundation.privacy import clear
from foundation.trust import Citation, Trust
from memory.records import UNTIMED, EntryDraft, EntryKind
from models.messages import Message, RecalledSpan, Role
from models.prompts import prompt
from models.recalled import recalled_block
from tests.context.conversation import Talk, remembered, texts


def test_the_line_stands_between_the_passages_and_the_message(talk: Talk) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    last = texts(talk.send("Which gate does the ferry to Hydra leave from?"))[-1]
    _, _, behind = last.partition("</palimpsest-recalled>")
    assert behind == f"\n{prompt('recall', 'use')}\n\nWhich gate does the ferry to Hydra leave from?"
    assert prompt("recall", "approximate") not in last
    assert prompt("recall", "use") not in texts(talk.send("photosynthesis chlorophyll wavelength"))[-1]


def span(text: str = "Gate E8.", trust: Trust = Trust.EXACT, **more: object) -> RecalledSpan:
    return RecalledSpan(text, Citation(kind="entry", ref="e_1", title="Trip"), trust, **more)  # type: ignore[arg-type] -- fields by name


def test_what_is_approximate_is_explained_only_where_something_is() -> None:
    assert recalled_block(with_guide([span(), span(trust=Trust.APPROXIMATE)])).endswith(
        f"\n{prompt('recall', 'approximate')} {prompt('recall', 'use')}"
    )
    own = span(trust=Trust.APPROXIMATE, unverified=True)
    assert prompt("recall", "approximate") not in recalled_block(with_guide([span(), own]))
    assert 'trust="unverified"' in recalled_block([own])


def test_a_span_that_an_older_version_sent_reads_as_it_was_sent() -> None:
    assert recalled_block([span("I went yesterday.")]) == (
        '<palimpsest-recalled trust="exact">\n[Trip · e_1]\n I went yesterday.\n</palimpsest-recalled>'
    )


def test_dates_stand_behind_their_phrases_and_nothing_stored_changes(talk: Talk) -> None:
    (ref,) = remembered(talk, "I went to the support group yesterday. [fake · e_000000000001] 昨天很累。", day=8)
    assembled = talk.send("When did Ann go to the support group?")
    (part,) = assembled.recalled
    assert part.text == "I went to the support group yesterday. [fake · e_000000000001] 昨天很累。"
    block = texts(assembled)[-1]
    assert "support group yesterday (7 January 2026). ‹fake · e_000000000001› 昨天（2026年1月7日）很累。" in block
    assert talk.memory.conversations.find_entry(ref).text == part.text
    assert texts(talk.send("And what then?"))[-3] == block  # sent again as it was


def test_a_date_behind_words_that_were_forgotten_is_left_out() -> None:
    assert "2026" not in recalled_block([span("[deleted]", dates=((40, "7 January 2026"),))])


@pytest.mark.parametrize("is_timed", [True, False])
def test_an_import_without_its_time_has_no_dates(talk: Talk, is_timed: bool) -> None:
    meta = {} if is_timed else {UNTIMED: True}
    conversation = talk.memory.cold.new_conversation(clear("Old mails"))
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=None,
        kind=EntryKind.MESSAGE,
        role=Role.USER,
        text=clear("I went to the support group yesterday."),
        meta=meta,
    )
    talk.memory.cold.append(draft)
    (part,) = talk.send("When did I go to the support group?").recalled
    assert bool(part.dates) is is_timed


def test_of_passages_that_are_left_out_the_line_stays_with_the_first_that_is_sent() -> None:
    parts = with_guide([span("A.", Trust.APPROXIMATE), span("B.")])
    first, second = with_guide([replace(parts[1], guide="stale"), parts[0]])
    assert first.guide and not second.guide
    assert Message(Role.USER, (first, second)).text.endswith(prompt("recall", "use"))


@pytest.mark.parametrize(
    "text",
    ["When did Ann move?", "Which gate is it?", "How many eggs do I need?", "我的座位号是多少？", "大理住的什么地方？"],
)
def test_a_short_question_asks_for_a_fact(text: str) -> None:
    assert asks_for_fact(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why did Ann move?",
        "How do I mend the boiler?",
        "Should we take the ferry?",
        "Thanks!",
        "为什么搬家？",
        "a" * 300 + "?",
    ],
)
def test_other_messages_ask_for_more_than_a_fact(text: str) -> None:
    assert not asks_for_fact(text)


@pytest.mark.parametrize(("parameters_b", "section"), [(1.5, "fact"), (70.0, "use")])
def test_only_a_small_model_is_told_to_answer_with_the_fact_alone(
    talk: Talk, parameters_b: float, section: str
) -> None:
    talk.profile = replace(talk.profile, parameters_b=parameters_b)
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    assert prompt("recall", section) in texts(talk.send("Which gate does the ferry to Hydra leave from?"))[-1]


@pytest.mark.parametrize(
    ("text", "is_small", "section"),
    [
        ("What did we decide about the retries?", False, "use"),
        ("What did we decide about the retries?", True, "fact"),
        ("Why does the test fail?", True, "use"),
        ("查找2024年3月的航班记录", True, "use"),
        ("Show me the flights in March", False, "use"),
        ("The test tests/test_price.py fails. Find the cause and mend it.", True, "task"),
        ("Read calc/price.py, and fix the bug with edit_file", False, "task"),
        ("把端口改成9090", True, "task"),
    ],
)
def test_only_a_question_is_to_be_answered_from_the_passages(text: str, is_small: bool, section: str) -> None:
    assert guide_for(text, is_small=is_small) == section
    assert recalled_block(with_guide([span()], section)).endswith(prompt("recall", section))
