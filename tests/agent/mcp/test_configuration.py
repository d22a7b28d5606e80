"""`mcpServers` as other clients write it: what is read, refused, substituted and hidden."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.config.secrets import without_secrets
from agent.mcp.configuration import read_configuration, server_programs
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import InvalidServer, ServerSource, configured_server, server_spec
from agent.permissions.action import Access, Action
from agent.permissions.rules import RuleSet, Verdict, offered_rules, parse_rule


def configured(raw: Any, name: str = "one") -> Any:
    return configured_server(name, raw, ServerSource.PROJECT, "/tmp")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "not a JSON object"),
        ({}, "`command` or a `url`"),
        ({"command": "a", "url": "http://b"}, "either"),
        ({"command": ["a"]}, "must be a string"),
        ({"command": "a", "args": "b"}, "list of strings"),
        ({"command": "a", "args": [{}]}, "list of strings"),
        ({"command": "a", "env": ["B=1"]}, "not an object"),
        ({"command": "a", "env": {"B": {}}}, "must be a string"),
        ({"url": "http://b", "headers": {"X": "a\r\nY: b"}}, "line break"),
        ({"url": "ftp://b"}, "http or https"),
        ({"url": "file:///etc/passwd"}, "http or https"),
        ({"type": "sse", "url": "http://b"}, "HTTP+SSE"),
        ({"type": "carrier pigeon", "command": "b"}, "supported are stdio and http"),
        ({"type": "http", "command": "b"}, "does not match"),
        ({"command": "a\0b"}, "zero byte"),
    ],
)
def test_a_wrong_definition_says_what_is_wrong(raw: Any, problem: str) -> None:
    server = configured(raw)
    assert problem in server.problem
    with pytest.raises(InvalidServer):
        server_spec(server, {})


def test_variables_are_substituted_and_their_values_are_secrets() -> None:
    raw = {
        "type": "streamable-http",
        "url": "https://user:pass-word-1@host/${PLACE:-mcp}?key=query-key-1",
        "headers": {"Authorization": "Bearer ${env:MY_TOKEN}", "Accept": "text/plain"},
        "timeout": 60_000,
    }
    spec = server_spec(configured(raw), {"MY_TOKEN": "abcdef-123"})
    assert spec.url.startswith("https://user:pass-word-1@host/mcp")
    assert spec.headers["Authorization"] == "Bearer abcdef-123"
    assert spec.timeout == 60
    assert {"Bearer abcdef-123", "abcdef-123", "pass-word-1", "query-key-1"} == {*spec.secrets}
    server = configured(raw)
    shown = server.summary + "".join(server.facts)
    assert not any(secret in shown for secret in (*spec.secrets, "user:"))
    assert "https://host/" in server.summary
    with pytest.raises(InvalidServer) as missing:
        server_spec(server, {})
    assert "MY_TOKEN" in missing.value.message


def test_the_facts_show_the_command_line_and_no_value() -> None:
    raw = {"command": "uvx", "args": ["a server", "$(x)"], "env": {"API_KEY": "hidden", "B": "${HOME_KEY}"}, "cwd": "x"}
    assert configured(raw).facts == (
        "It runs: uvx 'a server' '$(x)'",
        "In the folder x",
        "It receives the variables: API_KEY, B=${HOME_KEY}",
    )


def test_the_facts_show_characters_that_hide_in_a_command_line() -> None:
    raw = {"command": "uvx", "args": ["se\u00adrver\u00a0-x"], "cwd": "a\u2800"}
    facts = configured(raw).facts
    assert facts == ("It runs: uvx 'se⟨U+00AD⟩rver⟨U+00A0⟩-x'", "In the folder a⟨U+2800⟩")


def test_the_programs_of_servers_that_lie_in_the_project_are_known(tmp_path: Path) -> None:
    names = ("server.py", "sub/a b.js", "sub/c.sh", "pkg/mod.py", "pkg/pack/__main__.py", "other.py", "data.db")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    servers = [
        configured({"command": "python3", "args": ["-u", f"{tmp_path}/server.py", "--root=."]}),
        configured({"command": "./c.sh", "args": ["a b.js", "."], "cwd": "sub"}),
        configured({"command": "python3", "args": ["-m", "pkg.mod"]}),
        configured({"command": "python3", "args": ["-m", "pkg.pack", "/etc/passwd", "data.db", "\0", "~nobody/x", 3]}),
        configured({"url": "https://host/other.py"}),
    ]
    found = server_programs(servers, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == sorted(names[:5])


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    user.mkdir()
    project.mkdir()
    environment = {"PALIMPSEST_CONFIG_DIR": str(user)}
    assert read_configuration({}, environment, (project,)).problems == ()
    for content in ("{", "[]", '{"mcpServers": []}', '{"a":' * 1_000, "\ufeff", "x" * 600_000):
        (project / ".mcp.json").write_text(content)
        [problem] = read_configuration({}, environment, (project,)).problems
        assert ".mcp.json" in problem
    (project / ".mcp.json").unlink()
    (project / ".mcp.json").symlink_to(user / "mcp.json")
    (user / "mcp.json").write_text(json.dumps({"mcpServers": {"mine": {"command": "a"}}}))
    found = read_configuration({"other": {"command": "b"}}, environment, (project,))
    assert [server.name for server in found.servers] == ["mine", "other"]
    assert "outside the workspace" in found.problems[0]
    many = {f"s{n}": {"command": "a"} for n in range(80)}
    assert len(read_configuration(many, {"PALIMPSEST_CONFIG_DIR": str(tmp_path)}, (project,)).servers) == 50


def test_consent_is_to_the_project_files_that_the_command_names(tmp_path: Path) -> None:
    consents = ConsentStore(tmp_path / "config")
    project = tmp_path / "project"
    (project / "tools").mkdir(parents=True)
    program = project / "tools" / "server.py"
    program.write_text("print('first')\n")
    (project / "other.py").write_text("unnamed\n")
    raw = {"command": "python3", "args": ["-u", "--script=server.py"], "cwd": "tools"}
    server = configured_server("own", raw, ServerSource.PROJECT, str(project))
    consents.record(server, allowed=True)
    (project / "other.py").write_text("changed\n")
    assert consents.answer(server) is True
    program.write_text("print('second')\n")
    assert consents.answer(server) is None and consents.is_changed(server)


def test_consent_is_to_one_definition_in_one_folder(tmp_path: Path) -> None:
    store = ConsentStore(tmp_path / "config")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    raw = {"command": "a", "args": ["b"]}
    server = configured_server("one", raw, ServerSource.PROJECT, str(here))
    assert store.answer(server) is None
    store.record(server, allowed=True)
    assert store.answer(server) is True
    assert store.answer(configured_server("one", {**raw, "env": {"A": "1"}}, ServerSource.PROJECT, str(here))) is None
    assert store.answer(configured_server("two", raw, ServerSource.PROJECT, str(here))) is None
    assert store.answer(configured_server("one", raw, ServerSource.PROJECT, str(there))) is None
    here.rename(tmp_path / "away")
    here.mkdir()  # another folder of the same name
    (tmp_path / "keeps-the-inode").mkdir()
    assert store.answer(server) is None
    (tmp_path / "config" / "mcp-consents.json").write_text("{broken")
    assert store.answer(server) is None


def test_values_of_servers_in_config_yaml_are_not_shown() -> None:
    shown = without_secrets({"one": {"command": "a", "env": {"PLAIN": "value-1"}}}, "mcp.servers")
    assert "value-1" not in str(shown)
    assert "PLAIN" in str(shown)


def mcp_action(tool: str, subject: str = "{}") -> Action:
    return Action(tool=tool, access=Access.NETWORK, summary=tool, subject=subject, is_for_tool=True)


@pytest.mark.parametrize(
    ("rule", "tool", "matches"),
    [
        ("git__status", "git__status", True),
        ("git__status", "git__status2", False),
        ("git__*", "git__log", True),
        ("git__*", "github__log", False),
        ("*", "git__log", True),
        ('git__log(*"n": 1*)', "git__log", True),
        ("git__log(*secret*)", "git__log", False),
    ],
)
def test_rules_match_tools_of_servers(rule: str, tool: str, matches: bool) -> None:
    rules = RuleSet([parse_rule(Verdict.ALLOW, rule)])
    assert (rules.first(Verdict.ALLOW, mcp_action(tool, '{"n": 1}')) is not None) == matches


def test_a_permission_for_the_session_is_for_the_tool_and_can_be_dropped() -> None:
    rules = RuleSet([parse_rule(Verdict.DENY, "git__push")])
    rule, of_server = offered_rules(mcp_action("git__log", "{1}"))
    assert of_server.text == "git__*"
    rules.add(rule)
    assert rules.first(Verdict.ALLOW, mcp_action("git__log", "{2}"))
    rules.forget(("git__log",))
    assert rules.first(Verdict.ALLOW, mcp_action("git__log", "{2}")) is None
    assert rules.first(Verdict.DENY, mcp_action("git__push"))


@pytest.mark.parametrize("field", ["url", "httpUrl", "serverUrl"])
def test_the_facts_name_the_address_under_each_of_its_names(field: str) -> None:
    server = configured({field: "https://tickets.example.org/mcp?key=1"})
    assert server.facts == ("It reaches https://tickets.example.org/mcp",)
    assert "sandbox" not in server.effect, "nothing runs here"
    assert "outside the sandbox" in configured({"command": "uvx"}).effect
