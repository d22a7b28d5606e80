"""Which actions run, ask and are denied: modes, rules, and what always asks."""

from collections.abc import Callable

import pytest
from msgspec import structs

from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from foundation.errors import Misuse

READ = Action(tool="read_file", access=Access.READ, summary="read a.py", subject="src/a.py")
EDIT = Action(tool="edit_file", access=Access.EDIT, summary="edit a.py", subject="src/a.py")
RUN = Action(tool="run_command", access=Access.RUN, summary="run git status", subject="git status")
NOTE = Action(tool="remember", access=Access.NOTE, summary="add a note", subject="MEMORY.md")
FETCH = Action(tool="fetch_url", access=Access.NETWORK, summary="fetch", subject="https://a.example/")
GIT = Action(
    tool="edit_file",
    access=Access.EDIT,
    summary="edit",
    subject=".git/config",
    concern="It can run commands.",
)


def policy(*rules: str, mode: PermissionMode = PermissionMode.ASK, sandboxed: bool = False) -> Policy:
    parsed = [parse_rule(Verdict(verdict), text) for verdict, _, text in (rule.partition(" ") for rule in rules)]
    return Policy(RuleSet(parsed), mode, sandboxed=sandboxed)


@pytest.mark.parametrize(
    ("mode", "read", "edit", "run", "fetch"),
    [
        (PermissionMode.ASK, "allow", "ask", "ask", "ask"),
        (PermissionMode.READ_ONLY, "allow", "deny", "deny", "deny"),
        (PermissionMode.EDIT, "allow", "allow", "ask", "ask"),
        (PermissionMode.AUTO, "allow", "allow", "allow", "ask"),
    ],
)
def test_what_each_mode_does(mode: PermissionMode, read: str, edit: str, run: str, fetch: str) -> None:
    verdicts = [policy(mode=mode, sandboxed=True).decide(action).verdict for action in (READ, EDIT, RUN, FETCH)]
    assert verdicts == [read, edit, run, fetch]


def test_the_answer_all_edits_sets_the_mode_edit_and_what_always_asks_still_does() -> None:
    asking = policy()
    assert asking.remember(EDIT, PermissionAnswer(False, all_edits=True)) is None
    assert asking.mode is PermissionMode.ASK
    assert asking.remember(EDIT, PermissionAnswer(True, all_edits=True)) is None
    assert asking.decide(structs.replace(EDIT, subject="other.py")).verdict is Verdict.ALLOW
    assert asking.decide(GIT).verdict is Verdict.ASK and asking.decide(RUN).verdict is Verdict.ASK
    auto = policy(mode=PermissionMode.AUTO)
    auto.remember(EDIT, PermissionAnswer(True, all_edits=True))
    assert auto.mode is PermissionMode.AUTO


@pytest.mark.parametrize("sandboxed", [False, lambda: False])
def test_commands_ask_in_auto_where_there_is_no_sandbox(sandboxed: bool | Callable[[], bool]) -> None:
    auto = Policy(RuleSet(), PermissionMode.AUTO, sandboxed=sandboxed)
    assert auto.decide(RUN).verdict is Verdict.ASK
    assert "no sandbox here" in auto.set_mode(PermissionMode.AUTO)


@pytest.mark.parametrize("mode", [PermissionMode.ASK, PermissionMode.EDIT, PermissionMode.AUTO])
def test_a_note_and_a_concern_ask_whatever_is_allowed(mode: PermissionMode) -> None:
    free = policy("allow *", mode=mode, sandboxed=True)
    assert free.decide(NOTE).verdict is Verdict.ASK
    assert free.decide(GIT).verdict is Verdict.ASK
    assert free.decide(GIT).reason == GIT.concern
    assert free.decide(GIT).asks_always and free.decide(NOTE).asks_always


def test_denying_comes_before_allowing_and_says_which_rule() -> None:
    decision = policy("allow edit_file", "deny edit_file(src/**)", mode=PermissionMode.AUTO).decide(EDIT)
    assert decision.verdict is Verdict.DENY
    assert decision.reason == "A rule of this session denies it: deny edit_file(src/**)."


def test_a_rule_to_ask_comes_before_one_that_allows() -> None:
    assert policy("allow *", "ask run_command(git *)").decide(RUN).verdict is Verdict.ASK
    assert policy("ask read_file(src/**)").decide(READ).verdict is Verdict.ASK


def test_a_tainted_turn_asks_before_it_acts_outside() -> None:
    free = policy("allow *", mode=PermissionMode.AUTO, sandboxed=True)
    assert free.decide(RUN).verdict is Verdict.ALLOW
    assert free.decide(RUN, tainted="fetch a page").verdict is Verdict.ASK
    assert free.decide(READ, tainted="fetch a page").verdict is Verdict.ALLOW


def test_a_permission_for_the_session_holds_for_the_same_command_alone() -> None:
    session = policy()
    session.remember(RUN, PermissionAnswer(True, Scope.SESSION))
    assert session.decide(RUN).verdict is Verdict.ALLOW
    other = Action(tool="run_command", access=Access.RUN, summary="", subject="git status && git push")
    assert session.decide(other).verdict is Verdict.ASK


@pytest.mark.parametrize("allowed", ["allow *", "allow run_command(python3 *)"])
def test_a_command_that_cannot_be_read_asks_while_a_rule_denies_commands(allowed: str) -> None:
    code = Action(tool="run_command", access=Access.RUN, summary="", subject="python3 -c 'x'")
    assert policy("allow run_command(python3 *)").decide(code).verdict is Verdict.ALLOW
    strict = policy(allowed, "deny run_command(git push *)", mode=PermissionMode.AUTO, sandboxed=True)
    decision = strict.decide(code)
    assert decision.verdict is Verdict.ASK
    assert decision.reason == (
        "Part of this command cannot be parsed, and a rule of this session applies: deny run_command(git push *)."
    )
    strict.remember(code, PermissionAnswer(True, Scope.SESSION))
    assert strict.decide(code).verdict is Verdict.ALLOW  # this very line was read by a person
    assert strict.decide(RUN).verdict is (Verdict.ALLOW)


def test_a_rule_that_asks_is_not_ended_by_an_answer() -> None:
    asking = policy("ask run_command(git *)")
    asking.remember(RUN, PermissionAnswer(True, Scope.SESSION))
    decision = asking.decide(RUN)
    assert decision.verdict is Verdict.ASK and decision.asks_always


@pytest.mark.parametrize("subject", ["a.py", "src/a.py", "a*.py", "[x].py", "!a", "#a", "b\\c", "/other/a.py"])
def test_a_permission_for_a_file_is_for_that_file(subject: str) -> None:
    action = Action(tool="edit_file", access=Access.EDIT, summary="", subject=subject)
    session = policy()
    session.remember(action, PermissionAnswer(True, Scope.SESSION))
    assert session.decide(action).verdict is Verdict.ALLOW
    for other in (
        f"deep/{subject}",
        f"{subject}x",
        "abc.py",
        subject.lstrip("/") if subject[0] == "/" else f"/{subject}",
    ):
        assert session.decide(structs.replace(action, subject=other)).verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("rule", "address", "matches"),
    [
        ("docs.python.org", "https://docs.python.org/3/", True),
        ("docs.python.org", "https://docs.python.org.evil.example/", False),
        ("docs.python.org", "https://docs.python.org:8443/", False),
        ("docs.python.org", "https://docs.python.org@evil.example/", False),
        ("docs.python.org", "https://evil.example/docs.python.org", False),
        ("*.python.org", "https://docs.python.org/", True),
        ("*.python.org", "https://python.org/", False),
        ("*.python.org", "https://evilpython.org/", False),
        ("https://a.example/3/*", "https://a.example/3/x?y", True),
        ("https://a.example/3/*", "http://a.example/3/x", False),
        ("https://a.example/3/*", "https://a.example/3/../x", False),
        ("https://a.example/3/*", "https://a.example/3/%2e%2e/x", False),
        ("https://a.example/3/*", "https://a.example/30", False),
        ("https://a.example/*", "https://A.example:443/x", True),
        ("a.example", "ftp://a.example/", False),
    ],
)
def test_an_address_pattern(rule: str, address: str, matches: bool) -> None:
    action = Action(tool="fetch_url", access=Access.NETWORK, summary="", subject=address)
    assert parse_rule(Verdict.ALLOW, f"fetch_url({rule})").matches(action) is matches


@pytest.mark.parametrize(
    ("rule", "path", "denied"),
    [
        ("edit_file(secrets/**)", "Secrets/a", True),
        ("edit_file(secrets/**)", "/added/secrets/a", True),
        ("edit_file(//srv/**)", "/srv/a", True),
        ("edit_file(//srv/**)", "srv/a", False),
        ("edit_file(caf\u00e9.txt)", "cafe\u0301.txt", True),
        ("edit_*(*.pem)", "/other/x.PEM", True),
    ],
)
def test_a_rule_that_denies_a_path_is_generous(rule: str, path: str, denied: bool) -> None:
    action = Action(tool="edit_file", access=Access.EDIT, summary="", subject=path)
    assert parse_rule(Verdict.DENY, rule).matches(action) is denied


@pytest.mark.parametrize("answer", [PermissionAnswer(True), PermissionAnswer(False, Scope.SESSION)])
def test_a_permission_for_once_and_one_that_is_declined_leave_no_rule(answer: PermissionAnswer) -> None:
    session = policy()
    assert session.remember(RUN, answer) is None
    assert session.decide(RUN).verdict is Verdict.ASK


@pytest.mark.parametrize(
    ("rule", "is_withheld"),
    [
        ("deny read_file(src/**)", True),
        ("ask search_files(src/**)", True),
        ("allow read_file(src/**)", False),
        ("allow search_files(src/**)", False),
        ("deny edit_file(src/**)", False),
        ("ask search_files", False),
        ("ask search_files(/docs)", False),
    ],
)
def test_a_search_leaves_out_the_files_that_rules_keep_from_it(rule: str, is_withheld: bool) -> None:
    search = Action(tool="search_files", access=Access.READ, summary="search", subject="docs")
    assert policy(rule).withheld(search)("src/a.py") is is_withheld


PATCH = Action(tool="apply_patch", access=Access.EDIT, summary="patch", subject="b.py", also=("src/a.py",))


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "apply_patch"])
@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.ASK])
def test_a_rule_against_editing_a_path_is_for_every_tool_that_edits(tool: str, verdict: Verdict) -> None:
    chosen = policy(f"{verdict} {tool}(src/**)", "allow *", mode=PermissionMode.EDIT)
    for other in ("write_file", "edit_file", "apply_patch"):
        assert chosen.decide(structs.replace(EDIT, tool=other)).verdict is verdict
    assert chosen.decide(PATCH).verdict is verdict
    assert chosen.decide(READ).verdict is Verdict.ALLOW


def test_a_rule_against_reading_a_path_is_for_every_tool_that_reads_files() -> None:
    chosen = policy("deny read_file(src/**)")
    for tool in ("read_file", "find_files", "search_files"):
        assert chosen.decide(structs.replace(READ, tool=tool)).verdict is Verdict.DENY
    assert chosen.decide(EDIT).verdict is Verdict.ASK


@pytest.mark.parametrize("rule", ["allow edit_file(src/**)", "deny edit_file", "allow edit_file"])
def test_a_rule_that_allows_or_names_no_path_is_for_its_tool_alone(rule: str) -> None:
    assert policy(rule).decide(structs.replace(EDIT, tool="write_file")).verdict is Verdict.ASK


def test_a_permission_for_several_paths_is_not_remembered() -> None:
    chosen = policy()
    assert chosen.offers(PATCH) == ()
    assert chosen.remember(PATCH, PermissionAnswer(True, Scope.SESSION)) is None
    assert chosen.decide(structs.replace(PATCH, also=())).verdict is Verdict.ASK


@pytest.mark.parametrize("text", ["", "edit_file(", "edit_file()", "a b", "(x)"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(Misuse):
        parse_rule(Verdict.ALLOW, text)


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("edit_file(src/**)", "src/deep/a.py", True),
        ("edit_file(*.py)", "src/a.py", True),
        ("edit_file(/a.py)", "src/a.py", False),
        ("edit_file(src/**)", "other/src.py", False),
        ("read_file(src/**)", "src/a.py", False),
        ("*", "anything", True),
    ],
)
def test_a_path_pattern(rule: str, path: str, matches: bool) -> None:
    action = Action(tool="edit_file", access=Access.EDIT, summary="", subject=path)
    assert parse_rule(Verdict.ALLOW, rule).matches(action) is matches
