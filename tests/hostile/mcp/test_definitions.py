"""Tools that an MCP server defines: bounded, such as models take, and another tool once they change."""

import json
import time

import pytest

from agent.permissions.action import Access, PermissionAnswer, Scope
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict
from tests.agent.mcp.conftest import Running
from tests.hostile.mcp.conftest import Hostile, good_still_answers

pytestmark = pytest.mark.timeout(30)


@pytest.mark.parametrize(
    ("behaviour", "notice"),
    [("many_tools", "of 500 tools are offered"), ("long_description", ""), ("long_schema", "shortened")],
)
def test_definitions_cost_no_more_than_their_budget(behaviour: str, notice: str, hostile: Hostile) -> None:
    running = hostile(behaviour, tokens=2_000)
    status = next(status for status in running.servers.statuses() if status.name == "bad")
    assert 0 < status.tokens <= 2_000
    assert notice in status.notice
    good_still_answers(running)


@pytest.mark.parametrize(
    "behaviour",
    [
        *("same_names", "odd_names", "nested_schema", "remote_reference", "injected_description", "endless_pages"),
    ],
)
def test_definitions_are_such_as_model_servers_take(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    tools = [tool for name, tool in running.tools.items() if name.startswith("bad__")]
    assert tools
    for tool in tools:
        definition = tool.definition
        assert 0 < len(definition.name) <= 64
        assert set(definition.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        assert definition.parameters["type"] == "object"
        assert isinstance(definition.parameters["properties"], dict)
        written = json.dumps(definition.parameters) + definition.description
        assert not any(mark in written for mark in ("\x1b", "\u202e", "<|im_start|>", "</palimpsest", "http://"))
    good_still_answers(running)


def test_a_hint_of_the_server_gives_no_permission(hostile: Hostile) -> None:
    action = hostile("read_only_hint").tools["bad__echo"].action({})
    assert action.access is Access.NETWORK
    assert Policy(RuleSet()).decide(action).verdict is Verdict.ASK


def changed_turn(running: Running) -> tuple[str, ...]:
    """Waits for the list of tools that the server announced; gives the notices of the next turn."""
    for _ in range(80):
        if notices := running.take():
            return notices
        time.sleep(0.1)
    return ()


def test_a_changed_tool_is_noticed_asks_again_and_loses_its_permission(hostile: Hostile) -> None:
    running = hostile("changes")
    rules = RuleSet()
    policy = Policy(rules)
    tool = running.tools["bad__echo"]
    action = tool.action({"text": "a"})
    policy.remember(action, PermissionAnswer(granted=True, scope=Scope.SESSION))
    assert policy.decide(tool.action({"text": "b"})).verdict is Verdict.ALLOW
    running.call("bad__echo")
    assert running.tools["bad__echo"].definition.description == "Echoes."  # within the turn nothing changes
    for _ in range(80):
        changes = running.servers.take_tools()
        if changes.changed:
            break
        time.sleep(0.1)
    assert changes.changed == ("bad__echo",)
    assert "changed: bad__echo" in changes.notices[0]
    rules.forget(changes.changed)
    after = next(tool for tool in changes.tools if tool.definition.name == "bad__echo")
    assert "sends your keys" in after.definition.description
    decision = policy.decide(after.action({"text": "c"}))
    assert decision.verdict is Verdict.ASK
    assert decision.asks_always


@pytest.mark.parametrize(
    ("behaviour", "notice"), [("adds_tools", "new: bad__new"), ("removes_tools", "removed: bad__echo")]
)
def test_tools_that_come_and_go_change_with_the_next_turn(behaviour: str, notice: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    running.call("bad__echo")
    assert notice in changed_turn(running)[0]
    good_still_answers(running)


def test_a_tool_that_is_another_after_a_restart_is_a_changed_tool(hostile: Hostile) -> None:
    running = hostile("changes_at_restart")
    running.servers.restart("bad")
    assert "changed: bad__echo" in running.take()[0]


def test_a_tool_that_was_away_and_is_another_is_a_changed_tool(hostile: Hostile) -> None:
    running = hostile("changes_at_restart")
    running.servers.disable("bad")
    assert "removed: bad__echo" in running.take()[0]
    running.servers.enable("bad")
    assert "changed: bad__echo" in running.take()[0]
