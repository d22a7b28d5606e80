"""Questions are answered by a number or a word, and by nothing with the answer that changes nothing."""

import pytest

from agent.permissions.action import Access, Action, Scope
from agent.services.opening_questions import link_question, trust_question
from agent.services.permission_question import PermissionQuestion
from tui.screen_reader.questions import opening_question, permission_question

ACTION = Action(
    tool="run_command", access=Access.RUN, summary="run git log", subject="git log", detail="git log\x1b[2J"
)
ASKED = PermissionQuestion.of(ACTION, "No rule decides.", once_only=False, offers=("run_command(git log)",))


def test_a_permission_is_read_in_lines() -> None:
    question, answers = permission_question(ASKED, [ASKED.detail])
    assert question.shown == [
        "Permission: The model wants to use run_command.",
        "run git log",
        "git log␛[2J",
        "No rule decides.",
        "1: Once",
        "2: For this session: run_command(git log)",
        "3: Always in this project: run_command(git log)",
        "4: No",
        "5: No, for a reason",
    ]
    assert question.prompt == "Answer, 1 to 5; Enter alone is 4, no: "
    assert [answer.granted for answer in answers] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("typed", "index"),
    [("", 3), ("1", 0), ("once", 0), ("no", 3), ("ALWAYS", 2), ("6", None), ("0", None), ("yes", None)],
)
def test_numbers_and_words_answer(typed: str, index: int | None) -> None:
    question, answers = permission_question(ASKED, ["git log"])
    assert question.index_of(typed) == index
    if index == 2:
        assert answers[index].scope is Scope.PROJECT


def test_what_is_entered_by_mistake_trusts_nothing() -> None:
    question, values = opening_question(trust_question(["2 conversations"]))
    assert values == [True, False]
    assert question.default == 1
    question, values = opening_question(link_question("MEMORY.md", "/etc/passwd", "It is read."))
    assert (question.answers, values) == (("follow it", "never", "not now"), [True, False, None])
    assert question.index_of("") == 2
