"""Answers that break off within a call, and answers that break off elsewhere."""

import pytest

from tests.models.chat.text_tools.test_reader import TOOLS, read, rows

FORMS = {row["form"]: row["text"] for row in rows("seen_positive")}


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_the_answer_breaks_off_in_is_neither_shown_nor_run(form: str) -> None:
    text, lead = FORMS[form], read([FORMS[form]])[0]
    begin = max(text.find(name) + len(name) for name in TOOLS if name in text) + 1
    for end in range(begin, len(text)):
        shown, calls = read([text[:end]], is_cut=True)
        assert shown == lead, text[:end]
        whole = read([text])[1]
        assert calls == whole[: len(calls)], text[:end]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ('{"name": "Rex", "age": 3, "friends": [{"na', "my dog"),
        ('{"name": "read_fi', "Show me a tool call as JSON"),
        ('A call looks like this:\n\n<tool_call>\n{"name": "read_fi', "?"),
        ('> {"name": "read_fi', "?"),
        ("re", "?"),
        ("<ul>\n<li>a</li>\n<l", "a list"),
        ("Action: the board decides.\nAct", "?"),
        ('```python\nprint({"name": "read_fi', "code"),
    ],
)
def test_an_answer_that_breaks_off_outside_a_call_is_shown(text: str, question: str) -> None:
    assert read([text], question=question, is_cut=True) == (text, [])
    assert read(text, question=question, is_cut=True) == (text, [])
