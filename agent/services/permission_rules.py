"""Permission rules, listed, changed and tested: for the command line and the chat."""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.permissions.action import Access, Action
from agent.permissions.attached_files import ATTACH_TOOL, attach_action, decide_attachment
from agent.permissions.irreversible_commands import is_irreversible
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import Rule, RuleSource, Verdict, offered_rules, parse_rule, text_matches
from agent.permissions.stored_rules import StoredRules
from agent.permissions.tool_facts import names_with
from foundation.errors import Misuse

if TYPE_CHECKING:  # the flags of a command line are read before the tools are loaded
    from agent.tools.commands.commands import Commands


class RuleTest(Struct, frozen=True):
    """What happens to an action, and why: the rule that decided, or a sentence about the mode."""

    tool: str
    subject: str
    verdict: Verdict
    reason: str
    rule: Rule | None
    offers: tuple[str, ...]  # rules that would allow it


class RuleStep(Struct, frozen=True):
    """A step of the decision on an action: its rules, or what is built in. `holds`: it decides anything now."""

    title: str
    sentence: str
    rules: tuple[Rule, ...] = ()
    holds: bool = True


def rule_steps(policy: Policy) -> list[RuleStep]:
    """The steps in which an action is decided: the first that applies does. Blocks: the sandbox may be tried out."""
    policy.rules.refresh()
    rules = {verdict: tuple(rule for rule in policy.rules.rules if rule.verdict is verdict) for verdict in Verdict}
    deny, ask, allow = rules[Verdict.DENY], rules[Verdict.ASK], rules[Verdict.ALLOW]
    sandboxed = policy.mode is PermissionMode.AUTO and policy.sandboxed
    problem = policy.rules.problem
    return [
        RuleStep("Denied, in any mode", "A deny rule wins over every allow rule.", deny, bool(deny)),
        RuleStep(
            "Modes “read-only” and “plan”",
            "Nothing is changed, run or sent.",
            holds=policy.mode in {PermissionMode.READ_ONLY, PermissionMode.PLAN},
        ),
        *([RuleStep("A rules file cannot be read", problem)] if problem else []),
        RuleStep(
            "Always needs confirmation",
            "Notes; files with keys or passwords; actions that a tool warns about; and, while the context "
            "contains untrusted text, anything that leaves the machine or the sandbox.",
        ),
        RuleStep("Asks", "An ask rule wins over allow rules.", ask, bool(ask)),
        RuleStep(
            "A command that cannot be read",
            "It needs confirmation if any rule denies or asks for commands, unless a rule allows exactly this command.",
            holds=any(text_matches(rule.tool, name) for rule in (*deny, *ask) for name in names_with(Access.RUN)),
        ),
        RuleStep(
            "Allowed",
            "Reading memory and the project is always allowed, and so are read-only commands in the sandbox.",
            allow,
        ),
        RuleStep(f"Mode “{policy.mode}”", policy.mode.effect(sandboxed=sandboxed)),
    ]


def tested_action(text: str, commands: "Commands | None" = None) -> Action:
    """The action that a typed line names: `edit_file src/a.py`, `git__git_log`, or a command line. Blocks.

    Raises Misuse.
    """
    first = text.split(" ", 1)[0]
    is_tool = "(" not in text and first.replace("_", "").isalnum() and "_" in first
    return action_of(text.split(" ", 1) if is_tool else [text], commands)


def action_of(words: Sequence[str], commands: "Commands | None" = None) -> Action:
    """The action that `test` names: a tool with its subject, or a command line. Raises Misuse."""
    from agent.tools.catalogue import facts_of
    from agent.tools.commands.run_command import RunCommand, command_action

    if not words or not words[0].strip():
        raise Misuse("Nothing to test", "Give a command or a tool.", "permissions test 'git push'")
    tool, *rest = words
    if tool == ATTACH_TOOL:
        return attach_action(" ".join(rest))
    if (facts := facts_of(tool)) or "__" in tool:
        name, access = (facts.name, facts.access) if facts else (tool, Access.NETWORK)
        return Action(tool=name, access=access, summary=tool, subject=" ".join(rest), is_for_tool=facts is None)
    line = " ".join(words)
    if commands is not None:
        return command_action(commands, line)
    facts, gone = RunCommand.facts, is_irreversible(line)
    return Action(tool=facts.name, access=facts.access, summary=line, subject=line, destroys=gone)


def check_rules(policy: Policy, action: Action) -> RuleTest:
    """What would happen to the action now. A tool may ask besides: for a file of keys, or after untrusted text."""
    decision = decide_attachment(policy, action) if action.tool == ATTACH_TOOL else policy.decide(action)
    offers = () if decision.asks_always else tuple(rule.text for rule in offered_rules(action))
    return RuleTest(action.tool, action.subject, decision.verdict, decision.reason, decision.rule, offers)


def parse_words(words: Sequence[str], source: RuleSource) -> Rule:
    """The rule of `allow run_command(git status *)`. Raises Misuse."""
    names = {verdict.value for verdict in Verdict}
    if not words or words[0] not in names:
        raise Misuse(
            "Not a rule", "A rule begins with allow, ask or deny.", "permissions add allow 'run_command(ls *)'"
        )
    return parse_tool_rule(Verdict(words[0]), " ".join(words[1:]), source)


def parse_tool_rule(verdict: Verdict, text: str, source: RuleSource = RuleSource.SESSION) -> Rule:
    """The rule that `text` writes. Raises Misuse for what is no rule, and where no tool has its name.

    Names with `*` may match later tools, and names with `__` belong to MCP servers.
    """
    from agent.tools.catalogue import declared_tools, facts_of

    rule = parse_rule(verdict, text, source)
    if facts_of(rule.tool) or rule.tool == ATTACH_TOOL or "*" in rule.tool or "__" in rule.tool:
        return rule
    names = sorted(facts.name for facts in declared_tools())
    similar = difflib.get_close_matches(rule.tool, names, n=1)
    hint = f"Did you mean {similar[0]}?" if similar else f"The tools are {', '.join(names)}."
    raise Misuse("No such tool", f"There is no tool “{rule.tool}”.", hint)


def remove_rule(stored: StoredRules, words: Sequence[str], sources: Sequence[RuleSource]) -> list[Rule]:
    """Removes the rule wherever it is stored; with its verdict before it, or without. Raises Misuse where it is not."""
    verdicts = [Verdict(words[0])] if words and words[0] in set(Verdict) else list(Verdict)
    text = " ".join(words[1:] if words and words[0] in set(Verdict) else words).strip()
    wanted = [
        rule for rule in stored.rules if rule.text == text and rule.verdict in verdicts and rule.source in sources
    ]
    removed = [rule for rule in wanted if stored.remove(rule)]
    if not removed:
        raise Misuse("No such rule", f"There is no rule “{' '.join(words)}”.", "`permissions list` lists them.")
    return removed
