"""Without a model, a file that goes with a message is quoted, and a picture is said to be one."""

import pytest

from foundation.trust import Citation, Trust
from models.chat.offline.provider import answer
from models.excerpts import Excerpt
from models.messages import Image, MessagePart, RecalledSpan, Text, user
from tests.models.chat.events import request

EVENT = Text(
    "ev.json\nEvent: Lisbon flight\nWhen: 2026-03-14 09:40 to 2026-03-14 12:10\nWhere: Gate B22", injected="attachment"
)
LIST = Text("b.txt\nShopping\nmilk\nbread\neggs\nrice\nsalt\nThe door code is 4711.\nBye.", injected="attachment")
PICTURE = "pic.png: a picture of 64×40 pixels. This model cannot see it, and no OCR engine is installed."


def ask(question: str, *parts: MessagePart) -> str:
    return answer(request(user(*parts, Text(question))))


def quoted(text: str) -> list[str]:
    return [line.removeprefix("> ").rstrip() for line in text.splitlines() if line.startswith("> ")]


def test_an_event_is_quoted_with_its_title_start_and_end() -> None:
    said = ask("what is @ev.json about?", EVENT)
    assert "**ev.json** (a calendar)" in said
    assert quoted(said)[:2] == ["Event: Lisbon flight", "When: 2026-03-14 09:40 to 2026-03-14 12:10"]
    assert "nothing" not in said


def test_a_text_begins_and_the_line_that_answers_follows() -> None:
    said = ask("which door code is in @b.txt?", LIST)
    assert "8 lines" in said
    assert quoted(said) == ["Shopping", "milk", "bread", "eggs", "rice", "The door code is 4711."]


def test_a_file_sent_with_no_question_is_quoted_too() -> None:
    assert quoted(ask("look @ev.json", EVENT))[0] == "Event: Lisbon flight"


def test_a_picture_that_nobody_reads_gets_a_sentence() -> None:
    for part in (Text(PICTURE, injected="attachment"), Image(b"", "image/png", 64, 40, "pic.png")):
        said = ask("see @pic.png please", part)
        assert "**pic.png** is an image of 64×40 pixels" in said
        assert "needs a vision model" in said
        assert "OCR" in said
        assert "/model" in said
    assert "图片" in ask("这张图片里有什么？", Text(PICTURE, injected="attachment"))


def test_a_picture_that_ocr_read_is_quoted() -> None:
    read = Text("s.png (a picture of 64×40 pixels; its words, as read by OCR)\nPlatform 9", injected="attachment")
    said = ask("what does @s.png say?", read)
    assert quoted(said) == ["Platform 9"]
    assert "OCR" in said


def test_a_file_from_an_earlier_message_is_not_quoted_for_this_one() -> None:
    said = answer(request(user(EVENT, Text("look")), user("Where is the lighthouse?")))
    assert not quoted(said)


def test_a_files_name_is_no_word_of_the_question() -> None:
    before = (user("look at ev.json again, ev.json it is"), user("The plan is in ev.json."))
    said = answer(request(*before, user(EVENT, Text("and @ev.json?"))))
    assert "From memory" not in said


def test_a_files_lines_stay_together() -> None:
    assert ">\n" not in ask("what is in @b.txt", LIST)


def test_the_lines_of_a_file_are_counted_as_an_editor_counts_them() -> None:
    text = Text("n.md\n# Notes\n\none\n\ntwo\n\nthree\nfour\nfive\nsix\n", injected="attachment")
    assert "(Markdown, 10 lines)" in ask("look @n.md", text)


def test_an_excerpt_has_the_lines_of_the_whole_and_its_archive_answers_for_the_rest() -> None:
    note = Excerpt(6, 5000, ref="#1").note
    part = Text(f"b.txt\nShopping\nmilk\nbread\neggs\nrice\nsalt\n{note}", injected="attachment")
    citation = Citation(kind="page", ref="pg_1", title="b.txt")
    recalled = RecalledSpan("The door code is 4711.", citation, Trust.EXACT)
    said = ask("which door code is in @b.txt?", recalled, part)
    assert "(a text, 5,000 lines)" in said
    assert quoted(said)[-1] == "The door code is 4711." and said.count("4711") == 1
    assert f"— {citation} · exact" in said
    assert "not in this request" not in said


LONG = (
    "Minutes of the harbour board\n\nPresent were all.\n\nThe harbour ferry to Skarven gets a new engine in October.\n"
    "\nThe weather was fair.\n\nThe new ferry engine of the harbour costs 40,000 crowns,\nwhich the board of "
    "the harbour pays.\n\nSomebody asked for tea.\n"
)


@pytest.mark.parametrize(
    "question", ["Summarise @m.txt", "please sum up @m.txt", "tl;dr @m.txt", "Summarize this: @m.txt"]
)
def test_a_summary_is_refused_and_the_telling_sentences_shown_with_their_lines(question: str) -> None:
    said = ask(question, Text(f"m.txt\n{LONG}", injected="attachment"))
    assert said.startswith("No language model is connected, so I cannot write a summary")
    assert "The harbour ferry to Skarven gets a new engine in October." in quoted(said)
    assert "— m.txt, line 5" in said and "— m.txt, line 9" in said
    assert "tea" not in said
    assert "12 of 12 lines" in said


def test_a_summary_of_the_beginning_says_how_much_of_the_file_was_read() -> None:
    excerpt = f"{LONG}{Excerpt(12, 900, ref='#3').note}"
    assert "first 12 of 900 lines" in ask("Summarise @m.txt", Text(f"m.txt\n{excerpt}", injected="attachment"))


def test_a_summary_of_piped_input_is_of_the_text_below_the_request() -> None:
    said = ask(f"Summarise this\n\n{LONG}")
    assert said.startswith("No language model is connected, so I cannot write a summary")
    assert "— your text, line 5" in said


def test_a_summary_asked_for_in_chinese() -> None:
    text = "会议记录\n\n大家都到了。\n\n港口渡轮十月更换新发动机。\n\n天气很好。\n\n港口渡轮的新发动机很贵。\n"
    for question in ("总结 @m.txt", "请总结一下这个文件 @m.txt", "帮我概括 @m.txt"):
        said = ask(question, Text(f"m.txt\n{text}", injected="attachment"))
        assert said.startswith("没有语言模型，我不能写摘要")
        assert "港口渡轮十月更换新发动机。" in quoted(said)
        assert "— m.txt，第 5 行" in said


def test_a_question_that_has_the_word_summary_is_answered_as_any_other() -> None:
    assert "cannot write" not in ask("What does the summary in @b.txt say of the door code?", LIST)
