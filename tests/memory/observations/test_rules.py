"""What the rules say of real kinds of output, and where they say nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observations.observation import MAX_TOKENS, Importance, Observation, unsupported
from memory.observations.original import Known, Original
from memory.observations.rules import RulesMaker, observe
from memory.records import EntryKind
from models.messages import Role

FAILED = """[exit 1 after 0.4 s]
test_0 (test_http.TestHttp.test_0) ... ok
test_2 (test_http.TestHttp.test_2) ... FAIL

======================================================================
FAIL: test_2 (test_http.TestHttp.test_2)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/test_http.py", line 10, in test_2
    self.assertEqual(retry_after("120"), 121)
AssertionError: 120 != 121

----------------------------------------------------------------------
Ran 13 tests in 0.001s

FAILED (failures=1)
"""
PASSED = "[exit 0 after 0.4 s]\ntest_0 (test_http.TestHttp.test_0) ... ok\n\nRan 13 tests in 0.002s\n\nOK\n"
SOURCE = '''"""Headers of an HTTP message."""

import re


class Headers(dict):
    def retry_after(self) -> int:
        return 1
'''
TEST = {"command": "python3 -m unittest test_http"}


def result(tool: str, text: str, arguments: dict[str, Any], question: str = "Fix the bug.", **more: Any) -> Original:
    fields: dict[str, Any] = {"seq": 7, "ref": "e_result", "call_ref": "e_call", "question_ref": "e_question"} | more
    return Original(
        conversation=1,
        kind=EntryKind.TOOL_RESULT,
        role=Role.TOOL,
        time=datetime(2026, 11, 23, tzinfo=UTC),
        text=text,
        tool=tool,
        arguments=arguments,
        question=question,
        **fields,
    )


def message(text: str, role: Role = Role.USER) -> Original:
    return Original(
        seq=3,
        ref="e_message",
        conversation=1,
        kind=EntryKind.MESSAGE,
        role=role,
        time=datetime(2026, 11, 23, tzinfo=UTC),
        text=text,
    )


def made_of(original: Original, *before: Observation) -> Observation:
    made = observe(original, Known(before))
    assert made is not None
    assert not unsupported(made, original.whole)
    return made


def test_a_failed_test_run_is_critical_with_its_errors_and_totals() -> None:
    made = made_of(result("run_command", FAILED, TEST))
    assert made.importance is Importance.CRITICAL
    assert made.title == "python3 -m unittest test_http: FAIL: test_2 (test_http.TestHttp.test_2)"
    assert set(made.facts) == {
        "exit 1",
        "FAIL: test_2 (test_http.TestHttp.test_2)",
        "AssertionError: 120 != 121",
        "FAILED (failures=1)",
        "Ran 13 tests in 0.001s",
    }
    assert made.sources == ("e_result", "e_call", "e_question")
    assert made.narrative == "Fix the bug."


def test_the_same_failure_again_says_nothing() -> None:
    run = result("run_command", FAILED, TEST)
    assert observe(run, Known([made_of(run)])) is None


def test_a_command_that_passes_after_it_failed_is_a_bugfix_that_names_the_failure() -> None:
    failure = made_of(result("run_command", FAILED, TEST, ref="e_failed"))
    made = made_of(result("run_command", PASSED, TEST), failure)
    assert (made.type, made.concepts) == ("bugfix", ("problem-solution",))
    assert made.title == "python3 -m unittest test_http: passes now, OK"
    assert "e_failed" in made.sources


def test_a_program_is_named_without_its_folder() -> None:
    assert (
        made_of(result("run_command", PASSED, {"command": "/opt/py/bin/python3 -m unittest"})).title
        == "python3 -m unittest: OK"
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("[exit 0 after 0.1 s]\nREADME.md\nsrc\n", "ls"),
        ('[exit 0 after 0.1 s]\n{"error_count": 0, "name": "x"}\n', "cat a.json"),
        ("[exit 0 after 0.1 s]\nCompiling 'a.py'...\n", "python3 -m compileall a.py"),
        ("[exit 1 after 0.1 s]\n", "grep -r TODO src"),
        ("[exit 0 after 0.1 s]\n", "mkdir x"),
        ("[started in the background as c1]\n", "make serve"),
    ],
)
def test_a_listing_and_a_command_that_says_nothing_give_nothing(text: str, command: str) -> None:
    assert observe(result("run_command", text, {"command": command}), Known()) is None


@pytest.mark.parametrize(
    ("line", "is_fact"),
    [
        ("src/a.c:12:5: error: 'x' undeclared", True),
        ("error TS2304: Cannot find name 'foo'.", True),
        ("ModuleNotFoundError: No module named 'msgspec'", True),
        ("fatal: not a git repository", True),
        ("E       assert 1 == 2", True),
        ("bash: foo: command not found", True),
        ("test_error_handling ... ok", False),
        ("0 errors", False),
        ("  'errors': [],", False),
    ],
)
def test_lines_of_errors_are_facts(line: str, is_fact: bool) -> None:
    made = observe(result("run_command", f"[exit 2 after 1 s]\nsome output\n{line}\n", {"command": "make"}), Known())
    assert made is not None
    assert (line.strip() in made.facts or " ".join(line.split()) in made.facts) == is_fact


def test_a_file_that_is_read_gives_what_it_defines_once() -> None:
    read = result("read_file", SOURCE * 3, {"path": "src/http.py"})
    made = made_of(read)
    assert made.title == "src/http.py defines Headers, retry_after"
    assert made.facts == ("defines Headers, retry_after", "Headers of an HTTP message")
    assert made.read == ("src/http.py",)
    assert observe(read, Known([made])) is None
    more = result("read_file", SOURCE * 3 + "\ndef parse_header(line):\n    return line\n", {"path": "src/http.py"})
    assert made_of(more, made).title == "src/http.py defines parse_header"


def test_prose_defines_nothing() -> None:
    text = "The manual\n\ntype of engine\nclass of goods\n" * 20
    assert observe(result("read_file", text, {"path": "manual.txt"}), Known()) is None


@pytest.mark.parametrize(
    ("question", "type_"),
    [
        ("Fix the crash in src/http.py", "bugfix"),
        ("Refactor src/http.py", "refactor"),
        ("Add a header parser", "feature"),
        ("Make it shorter", "change"),
        ("修复 src/http.py", "bugfix"),
    ],
)
def test_a_change_is_of_the_kind_of_work_that_was_asked_for(question: str, type_: str) -> None:
    arguments = {"path": "src/http.py", "content": SOURCE}
    made = made_of(result("write_file", "src/http.py: 90 bytes written.", arguments, question))
    assert (made.type, made.changed) == (type_, ("src/http.py",))
    assert made.title == "src/http.py changed: Headers of an HTTP message"


def test_an_edit_of_a_line_says_what_it_was_and_is() -> None:
    arguments = {"path": "a.py", "old": "LIMIT = 5", "new": "LIMIT = 7"}
    made = made_of(result("edit_file", "a.py: 1 replacement at line 3.", arguments))
    assert made.facts == ("LIMIT = 5 → LIMIT = 7",)


def test_a_patch_names_each_of_its_files() -> None:
    patch = """*** Begin Patch
*** Update File: a.py
@@
-x = 1
+def added():
+    pass
*** Add File: b/c.py
+y = 2
*** End Patch
"""
    made = made_of(result("apply_patch", "2 files changed.", {"patch": patch}))
    assert made.changed == ("a.py", "b/c.py")
    assert made.title == "a.py, b/c.py changed: added"


def test_a_failed_edit_gives_nothing() -> None:
    arguments = {"path": "a.py", "old": "x", "new": "y"}
    assert observe(result("edit_file", "Not found: “old” is not in a.py.", arguments, failed=True), Known()) is None


def test_a_search_that_leads_to_a_few_files_names_them() -> None:
    text = (
        "3 matching lines in 2 files\nsrc/a.py\n12: retry_after = 1\nsrc/b.py\n7: retry_after()\n9: retry_after()\n"
        + "9: x\n" * 60
    )
    made = made_of(result("search_files", text, {"pattern": "retry_after"}))
    assert made.title == "“retry_after” is in src/a.py, src/b.py"
    many = "9 matching lines in 9 files\n" + "".join(f"f{n}.py\n1: x\n" for n in range(9))
    assert observe(result("search_files", many, {"pattern": "x"}), Known()) is None


def test_what_the_person_chose_is_a_decision() -> None:
    made = made_of(result("ask_user", "9090", {"question": "Which port?", "options": ["8080", "9090"]}))
    assert (made.importance, made.title) == (Importance.DECISION, "Which port? 9090")


@pytest.mark.parametrize(
    "text",
    [
        "We decided to keep SQLite for the queue.",
        "Let's use port 9090 for staging.",
        "From now on write tests first.",
        "Don't forget the changelog entry for 0.4.",
        "Never touch src/legacy.py.",
        "Please always sign the tags.",
        "Use pnpm instead of npm.",
        "以后就用 pnpm。",
    ],
)
def test_decisions_and_standing_wishes_of_the_person_are_kept_as_they_said_them(text: str) -> None:
    made = made_of(message(f"Hello there! {text} Thank you."))
    assert (made.importance, made.type, made.title) == (Importance.DECISION, "decision", text)


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Thanks, that is great.",
        "Should we use port 9090?",
        "What does src/http.py do?",
        "Explain how the parser works.",
        "```\nwe decided nothing\n```",
        "> We decided to keep SQLite.",
        "I have been reading a little about it on the train, and took notes instead of photos.",
        "She took notes to keep the thread.",
        "I have never been there.",
        "I want a window seat.",
    ],
)
def test_chatter_questions_and_quotations_give_nothing(text: str) -> None:
    assert observe(message(text), Known()) is None


def test_what_an_answer_says_was_done_is_kept_where_it_names_something() -> None:
    made = made_of(message("All good. I fixed `retry_after` in src/http.py because it read minutes.", Role.ASSISTANT))
    assert made.type == "bugfix"
    assert made.concepts == ("why-it-exists", "problem-solution")
    for text in ("Let me fix src/http.py.", "I fixed it.", "I would have added x_y.", "I'll add src/a.py now."):
        assert observe(message(text, Role.ASSISTANT), Known()) is None


@pytest.mark.parametrize(
    "text",
    [
        "Set a Fixed Sleep Duration of 8 h, see sleep_log.",
        "Fixed Sleep Duration: 8 h, see sleep_log.",
        "Fixed-width columns suit print_table.",
        "With an added margin use wide_table.",
        "The updated list is in notes.md.",
    ],
)
def test_an_adjective_in_an_answer_names_no_work(text: str) -> None:
    assert observe(message(text, Role.ASSISTANT), Known()) is None


TOOLS = ("run_command", "read_file", "search_files", "write_file", "edit_file", "apply_patch", "ask_user", "other")
FIELDS = ("command", "path", "pattern", "old", "new", "content", "patch", "question")
PIECES = st.sampled_from(
    [
        "[exit 1 after 1 s]\n",
        "[exit 0 after 1 s]\n",
        "Error: no such port 80\n",
        "Ran 3 tests in 1s\n",
        "def f_1():\n",
        "OK\n",
        "a.py\n",
        "1: x\n",
    ]
)
OUTPUTS = st.lists(PIECES | st.text(max_size=80), max_size=30).map("".join)


@given(
    st.sampled_from(TOOLS),
    OUTPUTS,
    st.dictionaries(st.sampled_from(FIELDS), OUTPUTS | st.text(min_size=1, max_size=60)),
    OUTPUTS,
)
def test_of_any_result_an_observation_fits_and_names_only_what_is_there_and_is_said_once(
    tool: str, text: str, arguments: dict[str, Any], question: str
) -> None:
    original = result(tool, text, arguments, question)
    known = Known()
    made = RulesMaker().make([original], {1: known})
    for observation in made.values():
        assert observation.tokens <= MAX_TOKENS
        assert observation.type in {"decision", "bugfix", "feature", "refactor", "discovery", "change"}
        assert not unsupported(observation, original.whole)
        if observation.importance is not Importance.CRITICAL:
            assert observe(original, Known([observation])) is None


@given(st.sampled_from([Role.USER, Role.ASSISTANT]), st.text(max_size=500) | OUTPUTS)
def test_of_any_message_an_observation_fits_and_names_only_what_is_there(role: Role, text: str) -> None:
    made = observe(message(text, role), Known())
    if made is not None:
        assert made.tokens <= MAX_TOKENS
        assert not unsupported(made, text)


RECORD = """# Building images

Status: accepted

## Context

Images take long.

## Decision

We use Buildah 8.17. Docker was considered.

## Consequences

Less to install.
"""


def test_a_decision_record_that_is_read_gives_its_decision_once() -> None:
    known, record = Known(), RECORD + "\n\nIt builds without a daemon." * 5
    made = observe(result("read_file", record, {"path": "docs/adr_3.md"}), known)
    assert made is not None
    assert (made.type, made.importance) == ("decision", Importance.DECISION)
    assert made.title == "docs/adr_3.md: Building images: We use Buildah 8.17. Docker was considered."
    known.add(made)
    assert observe(result("read_file", record, {"path": "docs/adr_3.md"}), known) is None


@pytest.mark.parametrize(
    "text",
    [RECORD.replace("## Decision", "## Discussion"), RECORD.replace("## Decision", "The Decision"), "def f(): 1"],
)
def test_what_stands_under_another_heading_is_no_decision(text: str) -> None:
    made = observe(result("read_file", text, {"path": "docs/adr_3.md"}), Known())
    assert made is None or made.type != "decision"
    assert observe(result("read_file", RECORD, {"path": "docs/adr_3.py"}), Known()) is None


def test_a_new_file_is_known_by_what_it_says_that_it_is() -> None:
    content = '"""The menu bar, kept apart from the rest."""\n\n\ndef step_0(value):\n    return value\n'
    made = observe(result("write_file", "Wrote it.", {"path": "src/ribbon.py", "content": content}), Known())
    assert made is not None
    assert made.title == "src/ribbon.py changed: The menu bar, kept apart from the rest"


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("我们决定数据库用PostgreSQL,不用MySQL。", True),
        ("最后定了:结局用开放式。", True),
        ("还是用方案二吧,便宜。", True),
        ("以后都用简体中文回答我。", True),
        ("他决定离开京城。", False),
        ("陆青禾决定独自上山。", False),
        ("他必须在天亮前离开京城。", False),
        ("请列出小说的人物表，并决定结局怎么写。", False),
        ("我还没决定要不要去那个地方", False),
        ("要不要决定一下这个问题", False),
    ],
)
def test_a_decision_in_chinese_is_of_the_person_alone(text: str, decides: bool) -> None:
    assert bool(observe(message(text), Known())) is decides
