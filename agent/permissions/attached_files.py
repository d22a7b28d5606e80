"""The action of attaching a file from outside the project, and what the rules say of it."""

from typing import Final

from agent.permissions.action import Access, Action
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Verdict
from foundation.terminal_text import visible_line

ATTACH_TOOL: Final = "attach_file"  # in the rules: attach_file(//etc/hosts)


def attach_action(path: str) -> Action:
    """The action of attaching the file at this path."""
    return Action(tool=ATTACH_TOOL, access=Access.READ, summary=f"Attach {visible_line(path)}", subject=path)


def decide_attachment(policy: Policy, action: Action) -> Decision:
    """The decision on a file outside the project: unlike what a tool reads, it asks where no rule allows it. Blocks."""
    policy.rules.refresh()
    if rule := policy.rules.first(Verdict.DENY, action):
        return Decision(Verdict.DENY, f"{rule.where} denies it: {rule}.", rule)
    if policy.rules.problem:
        return Decision(Verdict.ASK, policy.rules.problem, asks_always=True)
    if rule := policy.rules.first(Verdict.ASK, action):
        return Decision(Verdict.ASK, f"{rule.where} requires confirmation: {rule}.", rule, asks_always=True)
    if rule := policy.rules.first(Verdict.ALLOW, action):
        return Decision(Verdict.ALLOW, f"{rule.where} allows it: {rule}.", rule)
    return Decision(Verdict.ASK, "Attaching a file from outside the project needs confirmation; files inside do not.")
