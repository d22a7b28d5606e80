"""What a tool is, the tool declares: rules, modes, hooks, skills, display and `permissions test` derive from it."""

import ast
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import agent
import tui
from agent.hooks.hooks import SessionHooks
from agent.hooks.settings import HookCommand, HookMatcher, HookSettings
from agent.permissions import tool_facts
from agent.permissions.action import Access, Action
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.permissions.skill_rules import skill_rules
from agent.permissions.tool_facts import OutcomeStyle, SubjectKind, declare_tool, declared_tools, subject_kind
from agent.services.permission_rules import action_of, check_rules, parse_tool_rule
from agent.services.tool_outcome import tool_outcome
from agent.session import Session
from agent.tools.catalogue import facts_of
from agent.tools.port import AgentTool
from agent.tools.registry import Toolbox
from agent.tools.settings import ToolSettings
from context.compaction import carried
from foundation.paths import Workspace
from memory.origin import MEMORY_TOOLS, Origin, origin_of
from memory.records import EntryKind
from models.messages import Role, ToolCall
from tests.agent.sessions import open_session

SUBJECTS = {
    SubjectKind.PATH: ("secrets/**", "secrets/a.txt", "docs/a.txt"),
    SubjectKind.COMMAND: ("git push *", "git push origin", "git status"),
    SubjectKind.ADDRESS: ("evil.example", "https://evil.example/x", "https://good.example/x"),
}
"""A pattern, a subject that it matches, and one that it does not."""


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, tools=ToolSettings(fetch=True))
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def made_up_tools_end_with_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_facts, "DECLARED", dict(tool_facts.DECLARED))


def policy(*rules: str, mode: PermissionMode = PermissionMode.ASK) -> Policy:
    parsed = [parse_rule(Verdict(verdict), text) for verdict, _, text in (rule.partition(" ") for rule in rules)]
    return Policy(RuleSet(parsed), mode, sandboxed=True)


def doing(tool: str, access: Access, subject: str) -> Action:
    return Action(tool=tool, access=access, summary=tool, subject=subject)


def test_every_tool_of_a_session_is_declared_under_its_own_name(session: Session) -> None:
    box: Toolbox = session.toolbox
    assert len(box.definitions) >= 14
    tools: dict[str, AgentTool] = vars(box)["_tools"]
    for name, tool in tools.items():
        assert tool.facts is facts_of(name)
        assert tool.definition.name == tool.facts.name == name
    assert {facts.name for facts in declared_tools()} == set(tools)


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.ASK])
@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize("kind", list(SUBJECTS))
def test_a_rule_that_keeps_a_tool_from_a_subject_keeps_every_tool_that_does_the_same(
    verdict: Verdict, access: Access, kind: SubjectKind
) -> None:
    made_up = declare_tool("word_count", access, kind)
    pattern, kept, free = SUBJECTS[kind]
    same = [facts for facts in declared_tools() if facts.access is access and facts.kind is kind]
    assert made_up in same
    for named in same:
        chosen = policy(f"{verdict} {named.name}({pattern})")
        for facts in declared_tools():
            action = doing(facts.name, facts.access, kept)
            decided = chosen.rules.first(verdict, action) or chosen.rules.uncertain(action)
            assert (decided is not None) is (facts in same), (named.name, facts.name)
            if facts in same:
                assert chosen.decide(action).verdict in {verdict, Verdict.ASK}
                assert chosen.rules.first(verdict, doing(facts.name, access, free)) is None


def test_a_tool_that_nobody_declared_is_judged_by_its_access() -> None:
    chosen = policy("deny read_file(secrets/**)")
    assert chosen.decide(doing("word_count", Access.READ, "secrets/a.txt")).verdict is Verdict.DENY
    assert chosen.decide(doing("word_count", Access.READ, "docs/a.txt")).verdict is Verdict.ALLOW


def test_a_rule_about_a_former_name_is_for_the_tool() -> None:
    for rule in ("deny list_files(secrets/**)", "deny list_files"):
        assert policy(rule).decide(doing("find_files", Access.READ, "secrets/a")).verdict is Verdict.DENY


def test_a_file_of_instructions_is_kept_from_every_tool_that_edits() -> None:
    """Such a change is a note, whichever tool makes it: the group is that of the tool."""
    note = doing("write_file", Access.NOTE, "AGENTS.md")
    assert policy("deny edit_file(AGENTS.md)").decide(note).verdict is Verdict.DENY


@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize("kind", list(SubjectKind))
def test_a_made_up_tool_is_known_everywhere(tmp_path: Path, access: Access, kind: SubjectKind) -> None:
    declare_tool("word_count", access, kind, OutcomeStyle.FIRST_LINE, former_names=("wc",), other_names=("Count",))
    _, subject, _ = SUBJECTS.get(kind, ("", "x", ""))
    action = action_of(["word_count", subject])
    assert (action.tool, action.access, subject_kind(action)) == ("word_count", access, kind)
    assert parse_tool_rule(Verdict.DENY, "wc(x)").tool == "wc"
    for mode in PermissionMode:
        is_free = access in {Access.READ, Access.MEMORY, Access.PERSON}
        verdict = check_rules(policy(mode=mode), action).verdict
        allowed = is_free or (access, mode) in {
            (Access.EDIT, PermissionMode.EDIT),
            (Access.EDIT, PermissionMode.AUTO),
            (Access.RUN, PermissionMode.AUTO),
        }
        denied = not is_free and mode in {PermissionMode.READ_ONLY, PermissionMode.PLAN}
        assert verdict is (Verdict.ALLOW if allowed else Verdict.DENY if denied else Verdict.ASK)
    rules, left_out = skill_rules(["Count"])
    assert [rule.tool for rule in rules] == ([] if access in {Access.RUN, Access.NETWORK} else ["word_count"])
    assert (left_out == ("Count",)) is not rules
    outcome = tool_outcome("wc", "12 words\nmore", 13, failed=False)
    assert outcome and outcome.sentence == "12 words"
    settings = HookSettings(pre_tool_use=(HookMatcher((HookCommand("exit 2"),), "Count"),))
    hooks = SessionHooks(settings, {"PALIMPSEST_CONFIG_DIR": str(tmp_path)}, tmp_path, lambda: "", lambda: "ask")
    for name in ("word_count", "wc"):
        assert hooks.before_tool(ToolCall("c", name, "{}"), lambda: False).decision == "deny"
    assert hooks.before_tool(ToolCall("c", "other", "{}"), lambda: False).decision == ""


def test_an_offered_rule_covers_its_action_and_no_other_subject() -> None:
    for facts in declared_tools():
        _, subject, other = SUBJECTS.get(facts.kind, ("", "this", "that"))
        narrowest = policy().offers(doing(facts.name, facts.access, subject))[0]
        assert narrowest.matches(doing(facts.name, facts.access, subject))
        assert not narrowest.matches(doing(facts.name, facts.access, other)), narrowest.text


def _spelled(path: Path) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_no_module_but_its_own_spells_the_name_of_a_tool() -> None:
    """`remember`, `recall` and `delegate` are also commands and kinds of conversations."""
    names = {name for facts in declared_tools() for name in facts.names} - {"remember", "recall", "delegate"}
    rooms = [Path(str(room.__file__)).parent for room in (agent, tui)]
    spelling = {
        path.relative_to(room.parent).as_posix(): found
        for room in rooms
        for path in room.rglob("*.py")
        if (found := _spelled(path) & names)
    }
    own = {path for path in spelling if path.startswith("agent/tools/")}
    assert set(spelling) == own
    spelled = sorted(name for path in own for name in spelling[path])
    assert len(spelled) == len(set(spelled)), "spelled twice"


def test_the_tables_by_which_stored_calls_are_read_know_every_tool() -> None:
    """Memory and context read the names in stored entries; they know no tool. A new tool belongs into their tables."""
    for facts in declared_tools():
        origin = origin_of(EntryKind.TOOL_RESULT, Role.TOOL, imported=False, speaker=facts.name)
        assert (origin is Origin.NETWORK) is (facts.access is Access.NETWORK), facts.name
        assert facts.access is not Access.EDIT or facts.name in vars(carried)["_CHANGERS"], facts.name
    memory = {facts_of(name) for name in MEMORY_TOOLS}
    assert None not in memory
