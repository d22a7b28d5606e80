"""Rules on disk: of the user and of one project folder, edited by hand and by command; a broken file allows nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict, parse_rule
from agent.permissions.stored_rules import BadRules, StoredRules
from tests.examples import examples

RUN = Action(tool="run_command", access=Access.RUN, summary="run", subject="git status")
READ = Action(tool="read_file", access=Access.READ, summary="read", subject="src/a.py")
QUESTION = Action(tool="ask_user", access=Access.PERSON, summary="ask")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return tmp_path / "config"


def rule(text: str, verdict: Verdict = Verdict.ALLOW, source: RuleSource = RuleSource.USER) -> Rule:
    return parse_rule(verdict, text, source)


def test_rules_are_read_again_by_another_session(settings: Path, project: Path) -> None:
    first, second = StoredRules(settings, project), StoredRules(settings, project)
    first.add(rule("run_command(git status *)"))
    first.add(rule("edit_file(src/**)", Verdict.DENY, RuleSource.PROJECT))
    second.refresh()
    assert [str(own) for own in second.rules] == ["allow run_command(git status *)", "deny edit_file(src/**)"]
    assert [own.source for own in second.rules] == [RuleSource.USER, RuleSource.PROJECT]
    assert second.remove(rule("run_command(git status *)"))
    first.refresh()
    assert [str(own) for own in first.rules] == ["deny edit_file(src/**)"]
    assert not second.remove(rule("run_command(git status *)"))


def test_rules_of_a_project_are_not_in_it_and_hold_nowhere_else(settings: Path, project: Path, tmp_path: Path) -> None:
    StoredRules(settings, project).add(rule("fetch_url", source=RuleSource.PROJECT))
    (project / "permissions.yaml").write_text("allow:\n- run_command\n")
    assert [str(own) for own in StoredRules(settings, project).rules] == ["allow fetch_url"]
    assert list(StoredRules(settings, tmp_path).rules) == []


def test_another_folder_at_the_same_path_has_no_permissions(settings: Path, project: Path) -> None:
    stored = StoredRules(settings, project)
    stored.add(rule("fetch_url", source=RuleSource.PROJECT))
    stored.add(rule("run_command(rm *)", Verdict.DENY, RuleSource.PROJECT))
    project.rename(project.with_name("old"))
    project.mkdir()
    other = StoredRules(settings, project)
    assert [str(own) for own in other.rules] == ["deny run_command(rm *)"]
    assert other.project.is_of_another_folder
    other.add(rule("edit_file", source=RuleSource.PROJECT))
    assert [str(own) for own in StoredRules(settings, project).rules] == ["allow edit_file"]
    assert "fetch_url" in next((settings / "permissions" / "versions").iterdir()).read_text("utf-8")


def test_a_hand_written_file_keeps_its_comments_and_a_version(settings: Path, project: Path) -> None:
    settings.mkdir()
    file = settings / "permissions.yaml"
    written = "# mine\ndeny:\n  - run_command(rm *)  # never\n\nallow:\n  # reading\n  - 'fetch_url(docs.python.org)'\n"
    file.write_text(written)
    stored = StoredRules(settings, project)
    stored.add(rule("edit_file(src/**)"))
    stored.add(rule("run_command(git push *)", Verdict.ASK))
    text = file.read_text()
    assert "# mine" in text and "# never" in text and "  - 'edit_file(src/**)'\n" in text
    assert written in [version.read_text() for version in (settings / "versions").iterdir()]
    assert stored.remove(rule("edit_file(src/**)")) and stored.remove(rule("run_command(git push *)", Verdict.ASK))
    assert file.read_text() == written + "ask:\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("allow: [", "line 1"),
        ("- run_command\n", "it does not contain rules under deny,"),
        ("alow:\n- run_command\n", "line 1: “alow” is not deny, ask or allow"),
        ("allow:\n- run_command(\n", "line 2: “run_command(” is not a permission rule"),
        ("deny:\n- a: b\n", "line 2: a rule is one text"),
        ("deny: run_command\n", "line 1: “deny” is not"),
        ("deny:\n- run_command(a | b)\n", "line 2"),
        ("folder: /\n", "“folder” is not"),
        ("\xff", "cannot be read"),
    ],
)
def test_a_broken_file_allows_nothing_and_says_where(settings: Path, project: Path, text: str, problem: str) -> None:
    settings.mkdir()
    (settings / "permissions.yaml").write_bytes(text.encode("latin-1"))
    stored = StoredRules(settings, project)
    policy = Policy(RuleSet([parse_rule(Verdict.ALLOW, "*")], stored), PermissionMode.AUTO, sandboxed=True)
    for action in (RUN, READ):
        decision = policy.decide(action)
        assert decision.verdict is Verdict.ASK and decision.asks_always
        assert problem in decision.reason and "everything needs confirmation" in decision.reason
    assert policy.decide(QUESTION).verdict is Verdict.ALLOW, "the model may ask, and the person sees it"
    with pytest.raises(BadRules):
        stored.add(rule("fetch_url"))
    assert (settings / "permissions.yaml").read_bytes() == text.encode("latin-1")
    (settings / "permissions.yaml").write_text("allow: []\n")
    assert policy.decide(RUN).verdict is Verdict.ALLOW


def test_a_link_to_the_file_is_followed_as_that_of_the_configuration(
    settings: Path, project: Path, tmp_path: Path
) -> None:
    settings.mkdir()
    (tmp_path / "dotfiles.yaml").write_text("allow:\n- run_command\n")
    try:
        (settings / "permissions.yaml").symlink_to(tmp_path / "dotfiles.yaml")
    except OSError:
        pytest.skip("no links here")
    stored = StoredRules(settings, project)
    stored.add(rule("fetch_url"))
    assert [str(own) for own in stored.rules] == ["allow run_command", "allow fetch_url"]
    assert (settings / "permissions.yaml").is_symlink() and "fetch_url" in (tmp_path / "dotfiles.yaml").read_text()


def test_a_change_by_hand_holds_for_the_next_action(settings: Path, project: Path) -> None:
    policy = Policy(RuleSet(stored=StoredRules(settings, project)))
    assert policy.decide(RUN).verdict is Verdict.ASK
    settings.mkdir(exist_ok=True)
    (settings / "permissions.yaml").write_text("allow:\n- run_command(git status *)\n")
    decision = policy.decide(RUN)
    assert decision.verdict is Verdict.ALLOW
    assert decision.reason == "A rule of yours allows it: allow run_command(git status *)."
    (settings / "permissions.yaml").unlink()
    assert policy.decide(RUN).verdict is Verdict.ASK


def test_always_in_this_project_is_remembered_for_good(settings: Path, project: Path) -> None:
    policy = Policy(RuleSet(stored=StoredRules(settings, project)))
    offers = [own.text for own in policy.offers(RUN)]
    assert offers == ["run_command(git status)", "run_command(git status *)"]
    policy.remember(READ, PermissionAnswer(True, Scope.SESSION))
    assert not StoredRules(settings, project).rules, "a permission for the session is not kept"
    policy.remember(RUN, PermissionAnswer(True, Scope.PROJECT, rule=offers[1]))
    later = Policy(RuleSet(stored=StoredRules(settings, project)))
    assert later.decide(RUN).reason == "A rule for this project allows it: allow run_command(git status *)."


def test_what_was_not_offered_is_not_remembered(settings: Path, project: Path) -> None:
    policy = Policy(RuleSet(stored=StoredRules(settings, project)))
    remembered = policy.remember(RUN, PermissionAnswer(True, Scope.PROJECT, rule="run_command(*)"))
    assert remembered is not None and remembered.text == "run_command(git status)"


@settings_of(deadline=None, max_examples=examples(25))
@given(
    st.lists(st.sampled_from(["a", "b", "c d", "x'y", 'q"', "é 👩‍💻", "#", ": -", "two\nlines", "\u202e"]), max_size=6)
)
def test_whatever_is_added_is_read_and_can_be_removed(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        stored = StoredRules(Path(folder) / "config", Path(folder))
        rules = [rule(f"run_command({text})", source=RuleSource.PROJECT) for text in dict.fromkeys(texts)]
        for own in rules:
            stored.add(own)
        assert list(StoredRules(Path(folder) / "config", Path(folder)).rules) == rules
        for own in rules:
            assert stored.remove(own)
        assert list(stored.rules) == []


ADD = """
import sys
from pathlib import Path
from agent.permissions.rules import RuleSource, Verdict, parse_rule
from agent.permissions.stored_rules import StoredRules
stored = StoredRules(Path(sys.argv[1]), Path(sys.argv[2]))
for number in range(20):
    stored.add(parse_rule(Verdict.ALLOW, f"run_command(x{sys.argv[3]} {number})", RuleSource.PROJECT))
"""


@pytest.mark.timeout(60)
def test_two_processes_at_once_lose_no_rule(settings: Path, project: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", ADD, str(settings), str(project), str(number)]) for number in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(StoredRules(settings, project).rules) == 60
