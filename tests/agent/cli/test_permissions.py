"""`palimpsest permissions`: the rules, and which of them decides."""

from pathlib import Path

import pytest

from agent.config.config import Config
from agent.permissions.rules import Verdict
from agent.services.permission_rules import parse_tool_rule
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.conftest import Run


def test_rules_are_added_listed_and_removed(run: Run) -> None:
    assert run("permissions", "add", "deny", "run_command(git push *)").status == 0
    assert run("permissions", "add", "allow", "edit_file(src/**)", "--project").status == 0
    listed = run("permissions", "list", "--json").json
    assert listed["rules"] == [
        {"verdict": "deny", "rule": "run_command(git push *)", "source": "user"},
        {"verdict": "allow", "rule": "edit_file(src/**)", "source": "project"},
    ]
    assert "already exists" in run("permissions", "add", "deny", "run_command(git push *)").err
    assert run("permissions", "remove", "run_command(git push *)", "--project").status == 2
    assert run("permissions", "remove", "deny", "run_command(git push *)", "--json").json["rules"]
    assert [rule["source"] for rule in run("permissions", "list", "--json").json["rules"]] == ["project"]


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("git push",), 4, "A rule of yours denies it: deny run_command(git push *)."),
        (("sudo sh -c 'git push'",), 4, "A rule of yours denies it"),
        (("git", "status"), 0, "A rule for this project allows it: allow run_command(git status *)."),
        (("git status > x",), 3, "No rule matches. Mode “ask” needs your confirmation."),
        (("python3 -c 'x'",), 3, "Part of this command cannot be parsed, and a rule of yours applies"),
        (("edit_file", "src/a.py"), 3, "No rule matches"),
        (("read_file", "src/a.py"), 0, "Reading needs no permission."),
        (("remember", "MEMORY.md"), 3, "Writing memory always needs confirmation."),
        (("fetch_url", "https://docs.python.org/3/"), 0, "A rule of yours allows it"),
        (("git__log", "x"), 3, "No rule matches"),
        (("attach_file", "/etc/hosts"), 3, "Attaching a file from outside the"),
        (("attach_file", "/srv/锅炉 notes.txt"), 0, "A rule of yours allows it: allow attach_file(//srv/**)."),
        (("attach_file", "/srv/keys"), 4, "A rule of yours denies it: deny attach_file(//srv/keys)."),
        (("attach_file", "/srv/ask"), 3, "A rule of yours requires confirmation: ask attach_file(//srv/ask)."),
    ],
)
def test_which_rule_decides(run: Run, words: tuple[str, ...], status: int, reason: str) -> None:
    run("permissions", "add", "deny", "run_command(git push *)")
    run("permissions", "add", "allow", "fetch_url(docs.python.org)")
    run("permissions", "add", "allow", "run_command(git status *)", "--project")
    run("permissions", "add", "allow", "attach_file(//srv/**)")
    run("permissions", "add", "deny", "attach_file(//srv/keys)")
    run("permissions", "add", "ask", "attach_file(//srv/ask)")
    ran = run("permissions", "test", *words)
    assert ran.status == status and reason in ran.out
    assert run("permissions", "test", *words, "--json").json["reason"].startswith(reason.removesuffix("."))


@pytest.mark.parametrize(
    "words", [("allow",), ("permit", "x"), ("allow", "run_command("), ("deny", "run_command(a | b)")]
)
def test_what_is_no_rule_is_refused(run: Run, words: tuple[str, ...]) -> None:
    assert run("permissions", "add", *words).status == 2


def test_a_broken_file_is_a_sentence_and_is_left_as_it_is(run: Run) -> None:
    run("permissions", "add", "allow", "run_command(ls *)")
    file = Path(run("permissions", "list", "--json").json["files"]["user"])
    file.write_text("allow:\n- run_command(\n")
    listed = run("permissions", "list")
    assert listed.status == 1 and f"{file}, line 2" in listed.err and "everything needs confirmation" in listed.err
    assert run("permissions", "test", "ls").status == 3
    assert run("permissions", "add", "allow", "fetch_url").status == 1
    assert run("permissions", "remove", "run_command(").status == 1
    assert file.read_text() == "allow:\n- run_command(\n"


def test_a_rule_for_a_tool_that_does_not_exist_is_refused(run: Run) -> None:
    added = run("permissions", "add", "deny", "run_comand(git push *)")
    assert added.status == 2 and "Did you mean run_command?" in added.err
    assert run("-p", "hello", "--deny", "edit_fil").status == 2
    assert run("permissions", "add", "allow", "github__*").status == 0
    assert run("permissions", "add", "ask", "edit_*(*.key)").status == 0


async def test_every_tool_can_have_a_rule(workspace: Workspace) -> None:
    session = Session.open(workspace, Config(environment={}))
    names = [definition.name for definition in session.toolbox.definitions]
    assert "command_output" in names
    assert [parse_tool_rule(Verdict.ASK, name).tool for name in names] == names
    await session.close()
