"""`-p` with a mode and rules: what is permitted, what is denied, and how the run ends."""

from collections.abc import Iterator

import pytest

from agent.cli.headless_flags import prompt_words
from agent.cli.root import palimpsest
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, lines, of_type, tool_call
from tests.loopback import chat

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def test_what_nobody_can_permit_is_denied_and_the_flag_for_it_is_said(run: Run, server: ChatServer) -> None:
    server.plays(tool_call("remember", note="tea"), chat("I could not."))
    said = run("--model", server.spec, "-p", "note tea", "--output-format", "stream-json")
    assert said.status == 3
    told = lines(said.out)
    (outcome,) = of_type(told, "permission")
    assert outcome["by"] == "nobody"
    assert not outcome["granted"]
    result = told[-1]
    assert result["status"] == "denied"
    assert result["text"] == "I could not."
    assert [denial["tool"] for denial in result["denied"]] == ["remember"]
    assert "1 action was not permitted" in said.err
    assert "confirmation by the program using --input-format" in said.err


def test_a_rule_denies_and_is_named(run: Run, server: ChatServer) -> None:
    server.plays(tool_call("read_file", path="notes.txt"), chat("No."))
    said = run("--model", server.spec, "--deny", "read_file(*.txt)", "-p", "read it", "--output-format", "stream-json")
    assert said.status == 3
    told = lines(said.out)
    (outcome,) = of_type(told, "permission")
    assert (outcome["by"], outcome["rule"]) == ("rule", "deny read_file(*.txt)")
    (call,) = of_type(told, "tool_call")
    assert call["access"] == "read"
    assert call["subject"] == "notes.txt"
    assert call["decision"]["verdict"] == "deny"
    assert call["decision"]["rule_of"] == "session"
    assert "without the rule 'deny read_file(*.txt)'" in said.err


def test_the_mode_read_only_denies_notes(run: Run, server: ChatServer) -> None:
    server.plays(tool_call("remember", note="tea"), chat("No."))
    said = run("--model", server.spec, "-p", "--mode", "read-only", "note tea", "--output-format", "stream-json")
    (outcome,) = of_type(lines(said.out), "permission")
    assert outcome["by"] == "mode"
    assert said.status == 3
    assert "with another --mode" in said.err


def test_an_answer_without_denials_is_0(run: Run, server: ChatServer) -> None:
    server.plays(tool_call("search_memory", query="tea"), chat("Nothing."))
    said = run("--model", server.spec, "-p", "tea?", "--json")
    assert said.status == 0
    assert said.json["status"] == "answered"
    assert said.json["denied"] == []
    assert said.json["run"]["calls"] == 1
    assert "not permitted" not in said.err


@pytest.mark.parametrize("flags", [("--allow", "run command"), ("--deny", "()"), ("--mode", "bold")])
def test_what_is_no_rule_is_a_misuse(run: Run, flags: tuple[str, str]) -> None:
    assert run(*flags, "-p", "x").status == 2


def test_help_stands_between_p_and_its_text(run: Run) -> None:
    for words in (("-p", "--help"), ("-p", "-h"), ("-p", "--mode", "edit", "--help")):
        said = run(*words)
        assert said.status == 0
        assert "--max-calls" in said.out
        assert "4 a limit was reached" in said.out
    assert run("-p", "--hlep").status == 2


def test_a_text_like_an_option_is_sent_after_two_dashes(run: Run) -> None:
    said = run("--json", "-p", "--", "--help")
    assert said.json["type"] == "result"
    shown = run("conversations", "show", said.json["conversation"], "--json").json["entries"]
    assert shown[0]["text"] == "--help"


def test_p_without_a_text_reads_standard_input(run: Run) -> None:
    said = run("-p", "--json", stdin=b"from a pipe")
    shown = run("conversations", "show", said.json["conversation"], "--json").json["entries"]
    assert shown[0]["text"] == "from a pipe"


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        (["-p", "hello"], ["--print=hello"]),
        (["-p", "--knowledge", "--json", "hi"], ["--knowledge", "--json", "--print=hi"]),
        (["-p", "--mode", "edit", "--allow=x", "hi", "-c"], ["--mode", "edit", "--allow=x", "--print=hi", "-c"]),
        (["-p", "- one item"], ["--print=- one item"]),
        (["-p", "--dashes are text"], ["--print=--dashes are text"]),
        (["-p"], ["--print="]),
        (["search", "--", "-p"], ["search", "--", "-p"]),
    ],
)
def test_p_is_moved_to_its_text(words: list[str], moved: list[str]) -> None:
    assert prompt_words(words, palimpsest.params) == moved


def test_flags_of_p_without_p_are_a_misuse(run: Run) -> None:
    for flags in (("--max-calls", "3"), ("--input-format", "stream-json"), ("--over-cap",)):
        said = run(*flags)
        assert said.status == 2
        assert flags[0] in said.err
