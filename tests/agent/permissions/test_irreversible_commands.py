"""Commands that remove what no checkpoint has: they ask in the mode auto, however they are written."""

import pytest
from msgspec import structs

from agent.permissions.action import Access, Action
from agent.permissions.irreversible_commands import is_irreversible
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from tests.agent.permissions.evaded_denials import SLIPPING_PAST_A_DENIAL

IRREVERSIBLE = (
    "git stash drop",
    "git stash clear",
    "git branch -D topic",
    "git -C sub branch -D topic",
    "git branch -f main HEAD~3",
    "git checkout -B main",
    "git switch -C main",
    "git gc --prune=now",
    "git reflog expire --all",
    "git clean -fdx",
    "git clean -x",
    "git clean -X -f",
    "git push -f",
    "git push origin +main",
    "git push origin :topic",
    "git push --force-with-lease",
    "git tag -d v1",
    "git update-ref -d refs/heads/x",
    "git filter-branch x",
    "git worktree remove w",
    "rm -rf .git",
    "rm -rf sub/.git",
    "mv .git /tmp/",
    "sudo rm -rf .git/objects",
    "bash -c 'rm -rf .git'",
    "echo 'rm -rf .git' | sh",
    "python3 -c 'import shutil; shutil.rmtree(\".git\")'",
    "psql -c 'DROP TABLE x'",
    "mysql -e 'delete from t'",
    "dropdb x",
    "redis-cli FLUSHALL",
    "hg strip tip",
    "xargs git branch -D",
    "find .git -delete",
    "x=git; $x stash drop",
    "cd .git && rm -rf objects",
    "tar x --remove-files .git/x",
)
COVERED = (
    "rm -rf build",
    "git reset --hard",
    "git clean -fd",
    "git checkout -- .",
    "git stash",
    "git branch topic",
    "git push",
    "git commit -m 'rm .git'",
    "git log",
    "git status",
    "find . -delete",
    "cp a b",
    "make",
    "pytest",
    "cat .gitignore",
    "echo x > .gitignore",
    "psql -c 'select 1'",
    "git tag v1",
    "git checkout -b x",
    "git branch -d x",
)


@pytest.mark.parametrize("line", IRREVERSIBLE)
def test_a_command_that_removes_what_no_checkpoint_has_is_known(line: str) -> None:
    assert is_irreversible(line)


@pytest.mark.parametrize("line", COVERED)
def test_other_commands_are_not_taken_for_one(line: str) -> None:
    assert not is_irreversible(line)


@pytest.mark.parametrize("line", SLIPPING_PAST_A_DENIAL["git push *"])
def test_what_cannot_slip_past_a_denial_cannot_here(line: str) -> None:
    line = line.replace("git push", "dropdb x")
    assert "dropdb x" not in line or "=.dropdb" in line or is_irreversible(line)


def test_it_asks_in_auto_unless_a_rule_allows_it() -> None:
    line = "git stash drop"
    action = Action(tool="run_command", access=Access.RUN, summary=f"run {line}", subject=line, destroys=True)
    auto = Policy(RuleSet(), PermissionMode.AUTO, sandboxed=True)
    decision = auto.decide(action)
    assert decision.verdict is Verdict.ASK and "/undo cannot restore" in decision.reason
    assert not decision.asks_always
    assert auto.decide(structs.replace(action, destroys=False)).verdict is Verdict.ALLOW
    auto.rules.add(parse_rule(Verdict.ALLOW, "run_command(git stash drop)"))
    assert auto.decide(action).verdict is Verdict.ALLOW


@pytest.mark.parametrize("mode", [PermissionMode.ASK, PermissionMode.EDIT, PermissionMode.AUTO])
def test_each_question_says_what_cannot_be_undone(mode: PermissionMode) -> None:
    line = "git branch -D topic"
    action = Action(tool="run_command", access=Access.RUN, summary=f"run {line}", subject=line, destroys=True)
    rules = RuleSet((parse_rule(Verdict.ASK, "run_command(git *)"),))
    for policy in (Policy(RuleSet(), mode, sandboxed=True), Policy(rules, mode, sandboxed=True)):
        for tainted in ("", "https://example.org/"):
            decision = policy.decide(action, tainted=tainted)
            assert decision.verdict is Verdict.ASK
            assert decision.reason.endswith("/undo cannot restore what it may remove.")
    kept = Policy(RuleSet(), PermissionMode.ASK).decide(structs.replace(action, destroys=False))
    assert "/undo" not in kept.reason
