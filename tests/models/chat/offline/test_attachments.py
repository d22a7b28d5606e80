"""Without a model, a file that goes with a message is quoted, and a picture is said to be one."""

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
        assert "**pic.png** is a picture of 64×40 pixels" in said
        assert "cannot read it" in said
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
