"""Answers without a model, end to end: what held before, who said it, and where a note is."""

import json
from pathlib import Path

import pytest

from tests.agent.conftest import Run


def quotes(answer: str) -> list[str]:
    return [line.removeprefix("> ") for line in answer.splitlines() if line.startswith("> ")]


def in_one_conversation(run: Run, *messages: str) -> str:
    """The answer to the last message."""
    answer = run("-p", messages[0]).out
    for message in messages[1:]:
        answer = run("-c", "-p", message).out
    return answer


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("My favourite colour is blue.", "My favourite colour changed: it is green", "What is my favourite colour?"),
        ("我最喜欢的颜色是蓝色。", "我最喜欢的颜色变了，现在是绿色。", "我最喜欢的颜色是什么？"),
        ("Our meeting is on Tuesday at 10", "The meeting has been moved to Thursday at 11", "When is the meeting?"),
    ],
)
def test_of_two_statements_in_one_conversation_the_newer_is_quoted(run: Run, old: str, new: str, question: str) -> None:
    assert quotes(in_one_conversation(run, old, new)) == []  # what it replaces is no answer to it
    assert quotes(run("-c", "-p", question).out) == [new]


def test_a_recalled_statement_is_superseded_by_one_in_view(run: Run) -> None:
    run("-p", "I live in Porto.")
    new = "I moved to Lisbon last week, so I now live in Lisbon."
    assert quotes(in_one_conversation(run, new, "Where do I live?")) == [new]


def test_what_no_longer_holds_is_cited_with_the_day_of_the_change(run: Run) -> None:
    in_one_conversation(run, "My favourite colour is blue.", "My favourite colour changed: it is green")
    answer = run("-p", "What is my favourite colour?").out
    assert quotes(answer) == ["My favourite colour changed: it is green"]
    old = next(line for line in answer.splitlines() if "superseded on" in line)
    assert old.startswith("- “My favourite colour is blue.” — [My favourite colour is blue.")


def test_a_repeated_question_is_answered_each_time(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    lines = [
        ("ferry", "user", "When does the ferry leave?"),
        ("ferry", "assistant", "At nine from the old harbour."),
        ("seat", "user", "Which seat did we book on CA1234?"),
        ("seat", "assistant", "32A, by the window."),
    ]
    talk.write_text(
        "".join(json.dumps({"conversation": talk, "role": role, "text": text}) + "\n" for talk, role, text in lines),
        encoding="utf-8",
    )
    run("import", str(talk))
    for _ in range(3):
        assert quotes(run("-p", "When does the ferry leave?").out) == ["At nine from the old harbour."]
        assert quotes(run("-p", "Which seat did we book on CA1234?").out) == ["32A, by the window."]
        run("-p", "When does the ferry go?")


def test_two_statements_of_one_kind_may_both_hold(run: Run) -> None:
    first, second = "My sister plays the cello.", "My brother plays the piano."
    in_one_conversation(run, first, second)
    assert quotes(run("-c", "-p", "What does my sister play?").out)[0] == first


def test_a_note_in_the_head_is_cited_by_its_line_and_its_day(run: Run, root: Path) -> None:
    file = root / "MEMORY.md"
    file.write_text(
        "# Memory\n\n- My locker code is 4411\n- The heron gate opens at 06:15\n\n"
        "<!-- 2026-03-14T10:00:00Z -->\n## Boats\n- The red boat is Marta's\n",
        encoding="utf-8",
    )
    for question, line, cited in (
        ("When does the heron gate open?", "The heron gate opens at 06:15", "[Memory · MEMORY.md:4]"),
        ("Whose is the red boat?", "The red boat is Marta's", "[Boats · 2026-03-14 · MEMORY.md:8]"),
    ):
        answer = run("-p", question).out
        assert quotes(answer) == [line]
        assert f"— {cited}" in answer
        assert line in run("recall", cited).out  # the citation as it stands is a reference
    assert "The heron gate opens at 06:15" in run("recall", "[MEMORY.md:4]").out


def test_a_note_that_moved_in_its_file_is_cited_where_it_is_now(run: Run, root: Path) -> None:
    file = root / "MEMORY.md"
    file.write_text("# Memory\n\n## Boats\n- The red boat is Marta's\n", encoding="utf-8")
    run("-p", "Good morning")
    file.write_text("# Memory\n\n## Keys\n- On the hook\n\n## Boats\n- The red boat is Marta's\n", encoding="utf-8")
    answer = run("-c", "-p", "Whose is the red boat?").out
    assert quotes(answer) == ["The red boat is Marta's"]
    assert "— [Boats · MEMORY.md:7]" in answer
