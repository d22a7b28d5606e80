"""The one list of slash commands: complete, documented, forgiving."""

import subprocess
import sys
from typing import Any, cast

import pytest

from agent.cli.facts import facts
from agent.commands import registry
from agent.commands.results import CommandFailed, Quit, TextResult
from tests.paths import ROOT

NOBODY = cast(Any, None)  # these commands ask nothing of a session


def test_every_command_that_is_promised_is_there() -> None:
    promised = ["help", "new", "resume", "model", "context", "remember", "recall", "archive", "search", "skill"]
    assert {*promised, "export", "exit"} <= {command.name for command in registry.all()}


def test_no_two_commands_share_a_name_or_an_alias() -> None:
    names = [name for command in registry.all() for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))


def test_each_says_what_it_does_in_one_sentence() -> None:
    for command in registry.all():
        assert command.summary.endswith(".")
        assert command.summary[0].isupper()


@pytest.mark.parametrize(
    ("typed", "first"), [("/re", "resume"), ("/ex", "export"), ("/q", "exit"), ("/rcl", "recall"), ("se", "search")]
)
def test_completion_puts_the_best_first(typed: str, first: str) -> None:
    assert registry.complete(typed)[0].name == first


def test_completion_of_nothing_is_everything_and_of_nonsense_nothing() -> None:
    assert registry.complete("/") == registry.all()
    assert registry.complete("/zzz") == ()


async def test_an_unknown_command_suggests_the_nearest() -> None:
    outcome = await registry.run(NOBODY, "/serach boiler")
    assert isinstance(outcome, CommandFailed)
    assert outcome.error.hint.startswith("Did you mean /search? ")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("cost", "stats"),
        ("usage", "stats"),
        ("config", "settings"),
        ("clear", "new"),
        ("quit", "exit"),
        ("agents", "skill"),
        ("tasks", "jobs"),
        ("sessions", "resume"),
    ],
)
def test_names_of_other_agents_are_aliases(typed: str, name: str) -> None:
    assert registry.find(typed) is registry.find(name) is not None


@pytest.mark.parametrize(
    "text", ["/help", "/HELP me", "/serach boiler", "/quit\n", "/?", "/git:pr 1", "/imagine a cat"]
)
def test_a_slash_and_a_name_is_a_command(text: str) -> None:
    assert registry.is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts what is it",
        "/pattern/ is wrong",
        "/* a comment */",
        "//server/share",
        "/README.md is missing",
        "/",
        "/ a slash",
        " /help",
        "/5 of them",
        "no /help",
        "",
    ],
)
def test_other_text_after_a_slash_is_a_message(text: str) -> None:
    assert not registry.is_command(text)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /tmp")
@pytest.mark.parametrize("text", ["/tmp does not exist here", "/usr", "/tmp\nis full"])
def test_a_path_of_this_machine_is_a_message(text: str) -> None:
    assert not registry.is_command(text)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("/nosuch", "/help lists the commands."),
        ("/hlep", "Did you mean /help?"),
        ("/exprot", "Did you mean /export?"),
        ("/compac", "Did you mean /compact?"),
    ],
)
async def test_only_a_near_name_is_suggested(typed: str, hint: str) -> None:
    outcome = await registry.run(NOBODY, typed)
    assert isinstance(outcome, CommandFailed)
    assert outcome.error.hint.startswith(hint)


async def test_help_lists_all_and_explains_one() -> None:
    everything = await registry.run(NOBODY, "/help")
    assert isinstance(everything, TextResult)
    for command in registry.all():
        shown = command.signature.replace("|", "\\|")  # a bare one would begin another cell
        long = f"/{command.name} […]"  # whole in `/help NAME`, so that at 80 columns the summaries have their room
        assert f"| `{shown}` |" in everything.markdown or f"| `{long}` |" in everything.markdown
    one = await registry.run(NOBODY, "/help recall")
    assert isinstance(one, TextResult)
    assert "/recall" in one.markdown


async def test_a_command_without_its_words_says_what_it_needs() -> None:
    for name in ("remember", "rename"):
        outcome = await registry.run(NOBODY, f"/{name}")
        assert isinstance(outcome, CommandFailed)
        assert outcome.error.hint


async def test_aliases_run_the_same() -> None:
    assert await registry.run(NOBODY, "/quit") == Quit()


def test_the_registry_loads_no_other_room() -> None:
    code = "import sys; from agent.commands import registry; registry.all(); print(*sys.modules)"
    root = ROOT
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=root, check=True, text=True).stdout
    assert not {"memory", "context", "apsw", "numpy", "agent.session"} & set(loaded.split())


def test_the_program_knows_each_of_its_commands() -> None:
    topics = {fact.topic for fact in facts()}
    assert {f"/{command.name}" for command in registry.all()} <= topics
    told = " ".join(fact.text for fact in facts())
    assert "palimpsest search" in told and "palimpsest archive" in told


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("／help", "/help"),
        ("／ｈｅｌｐ me", "/help me"),
        ("／搜索 老王", "/搜索 老王"),
        ("/help", "/help"),
        ("a／b", "a／b"),
    ],
)
def test_a_full_width_slash_is_a_slash(typed: str, line: str) -> None:
    assert registry.with_slash(typed) == line


@pytest.mark.parametrize(
    ("typed", "name"), [("搜索", "search"), ("／帮助", "help"), ("／ｎｅｗ", "new"), ("/退出", "exit")]
)
def test_commands_have_chinese_names(typed: str, name: str) -> None:
    command = registry.find(typed)
    assert command is not None and command.name == name
    assert registry.complete(typed)[0].name == name
