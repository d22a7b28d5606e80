"""The environment of a command: what is passed on, and what is not."""

import pytest

from agent.tools.commands.environment import command_environment
from agent.tools.port import ToolSettings
from tests.agent.tools.commands.conftest import MakeCommands, run

TOKEN = "ghp_" + "x7Kq2mN9pR4tV6wY8zA1bC3dE5fG7hJ9kL0m"  # the form of one; of nobody

DROPPED = {
    "OPENAI_API_KEY": "sk-x",
    "ANTHROPIC_API_KEY": "x",
    "GITHUB_TOKEN": "x",
    "GH_TOKEN": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_PROFILE": "work",
    "DB_PASSWORD": "x",
    "PGPASSWORD": "x",
    "MYSQL_PWD_FILE": "x",
    "SECRET": "x",
    "MY_APP_SECRET_VALUE": "x",
    "TOKEN": "x",
    "NPM_AUTH": "x",
    "COOKIE": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "/x",
    "SLACK_WEBHOOK_URL": "https://hooks.example/x",
    "apikey": "x",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
    "DISPLAY": ":0",
    "TMUX": "/tmp/tmux-1000/default,1,0",
    "BASH_ENV": "/home/ann/.bashrc",
    "ENV": "/home/ann/.shrc",
    "BASH_FUNC_ls%%": "() { echo x; }",
    "PALIMPSEST_MODEL": "x",
    "DATABASE_URL": "postgres://ann:hunter22@db.example/x",
    "HARMLESS": TOKEN,
}
KEPT = {
    "PATH": "/usr/bin:/opt/my-token/bin",
    "HOME": "/home/ann",
    "LANG": "de_DE.UTF-8",
    "VIRTUAL_ENV": "/home/ann/venv",
    "CARGO_HOME": "/home/ann/.cargo",
    "KEYBOARD": "dvorak",
    "MONKEY": "grey",
    "TOKENIZERS_PARALLELISM": "false",
    "HTTP_PROXY": "http://proxy.example:3128",
    "PYTHONPATH": "src",
    "PWD": "/home/ann",
}


def test_keys_and_ways_to_other_programs_are_dropped_and_the_rest_is_kept() -> None:
    passed = command_environment(DROPPED | KEPT)
    assert not DROPPED.keys() & passed.keys()
    assert {name: passed.get(name) for name in KEPT} == KEPT


def test_a_named_one_is_kept_in_any_case_of_its_name() -> None:
    passed = command_environment(DROPPED, ["SSH_AUTH_SOCK", "github_token"])
    assert passed["SSH_AUTH_SOCK"] == "/tmp/agent"
    assert passed["GITHUB_TOKEN"] == "x"
    assert "GH_TOKEN" not in passed


@pytest.mark.parametrize(
    ("name", "value"), [("PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("NO_COLOR", "1"), ("TERM", "dumb")]
)
def test_nothing_waits_for_a_person(name: str, value: str) -> None:
    assert command_environment({name: "less"})[name] == value
    assert command_environment({name: "less"}, [name])[name] == "less"


def test_a_command_sees_it_so(make_commands: MakeCommands) -> None:
    settings = ToolSettings(command_environment="SSH_AUTH_SOCK NPM_AUTH")
    told = run(make_commands(environment=DROPPED | {"LANG": "C"}, settings=settings), "env")
    seen = dict(line.split("=", 1) for line in told.splitlines()[1:])
    assert DROPPED.keys() & seen.keys() == {"SSH_AUTH_SOCK", "NPM_AUTH"}
    assert seen["LANG"] == "C"
