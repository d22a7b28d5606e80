"""Hard-wrapped documents: whole sentences, with what they need to be understood, and the beginning of a section."""

from datetime import UTC, datetime

from foundation.trust import Citation, Trust
from models.chat.offline.phrases import CHINESE, ENGLISH
from models.chat.offline.provider import answer
from models.messages import MessagePart, RecalledSpan, Request, Text, assistant, user
from tests.models.chat.events import request

MARCH = datetime(2026, 3, 14, tzinfo=UTC)
LICENSE = """
                            Preamble

  The licence is a free one, for software and for other kinds of works
that somebody may want to share.  It was written in 2007 by a foundation
that cares for its readers.

  6. Conveying

  "Installation Information" for a User Product means any methods,
procedures, authorization keys, or other information required to install
and execute modified versions of a covered work in that User Product.

  The requirement to provide Installation Information does not include a
requirement to continue to provide support service for a work that has
been modified or installed by the recipient.

  A harbour master keeps the key of the northern lock in his own office.
He hands it out only to the pilots who are on duty, and he writes down
the name of each of them.

  The pump starts if the level is above nine metres.  Otherwise, the gate
of the basin stays shut for the whole of the night.
"""
HANDBOOK = """
第一章　总则

1.1　本手册由轮渡服务处编写，适用于海湾内的全部公共轮渡航线。旅游
包船、货运驳船和私人游艇不在本手册的范围之内，乘客应当另行咨询港
务局。

1.2　月票每张一百二十元，只限本人使用。它不得借给他人，借给他人使用
的，服务处收回该票，并且在六个月内不再向其出售任何种类的船票或者乘
船券。
"""


def page(text: str, ref: str = "pg_1") -> RecalledSpan:
    return RecalledSpan(text, Citation(kind="page", ref=ref, title="gpl-3"), Trust.EXACT, 1.0, MARCH)


def ask(question: str, *parts: MessagePart) -> str:
    return answer(request(user(*parts, Text(question))))


def first_quote(text: str) -> str:
    return next(line.removeprefix("> ") for line in text.splitlines() if line.startswith("> "))


def test_a_definition_over_several_lines_is_quoted_whole() -> None:
    assert first_quote(ask("What is Installation Information?", page(LICENSE))) == (
        '"Installation Information" for a User Product means any methods, procedures, authorization keys, or other '
        "information required to install and execute modified versions of a covered work in that User Product."
    )


def test_a_sentence_that_begins_with_a_pronoun_comes_with_the_one_before() -> None:
    said = first_quote(ask("To whom is it handed out, to pilots on duty?", page(LICENSE)))
    assert said.startswith("A harbour master keeps the key of the northern lock in his own office. He hands it out")


def test_a_condition_comes_with_its_other_half() -> None:
    said = first_quote(ask("When does the pump start, above which level?", page(LICENSE)))
    assert said.endswith("Otherwise, the gate of the basin stays shut for the whole of the night.")


def test_wrapped_chinese_is_joined_with_nothing_between() -> None:
    said = first_quote(ask("月票借给他人会怎样？", page(HANDBOOK)))
    assert (
        "它不得借给他人，借给他人使用的，服务处收回该票，并且在六个月内不再向其出售任何种类的船票或者乘船券。" in said
    )


def test_whole_passages_are_read_where_only_a_part_was_recalled() -> None:
    part = page("The requirement to provide Installation Information does not include a")
    asked = request(user(part, Text("What is Installation Information?")), whole=(page(LICENSE),))
    assert "means any methods, procedures, authorization keys" in first_quote(answer(asked))


def test_a_request_for_a_summary_gets_the_beginning_of_the_section_that_it_names() -> None:
    said = ask("summarise the preamble of the GPL", page(LICENSE))
    assert said.startswith(ENGLISH.section)
    assert first_quote(said).startswith("The licence is a free one, for software and for other kinds of works that")
    assert ask("总结第一章", page(HANDBOOK)).startswith(CHINESE.section)


def test_a_request_for_a_summary_of_something_else_says_where_it_stands() -> None:
    said = ask("summarise the treaty of Utrecht", page(LICENSE))
    assert said.startswith(ENGLISH.no_summary)
    assert "[gpl-3 · 2026-03-14 · pg_1]" in said.replace("pg_1 · 2026-03-14", "2026-03-14 · pg_1")
    assert "\n>" not in said


def test_a_skill_is_not_answered_with_quotes() -> None:
    body = Text("code-review\nReview the code that follows.", injected="skill")
    said = ask("review my code about the User Product, please", page(LICENSE), body)
    assert said == ENGLISH.skill.format(name="code-review")


def test_what_was_said_in_this_conversation_is_cited_by_its_day_and_its_id() -> None:
    cited = Citation(kind="entry", ref="e_7", title="this conversation", speaker="user", time=MARCH)
    messages = (user("The shed key hangs behind the clock."), assistant("Kept."), user("Where does the shed key hang?"))
    said = answer(Request(model="offline", messages=messages, cited=(cited, None, None)))
    assert "— [this conversation · user · 2026-03-14 · e_7]" in said


def test_in_speech_too_a_pronoun_brings_the_sentence_before_and_nothing_else() -> None:
    text = "I like rain. My uncle keeps the key of the lock. He hands it out on Mondays, to pilots only. We had soup."
    said = RecalledSpan(text, Citation(kind="entry", ref="e_1", speaker="Ann"), Trust.EXACT, 1.0, MARCH)
    quote = "My uncle keeps the key of the lock. He hands it out on Mondays, to pilots only."
    assert first_quote(ask("On which day is it handed to pilots, Mondays?", said)) == quote
