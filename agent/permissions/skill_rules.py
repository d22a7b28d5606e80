"""Rules that the `allowed-tools` of a skill in use add for the rest of the turn.

They come last of the allow rules: deny rules, ask rules and what always asks decide before them. Names and patterns of
Claude Code are understood (`Bash(git diff:*)`, `Read`). What allows any command or any address is left out.
"""

import re
from collections.abc import Sequence
from typing import Final

from agent.permissions.rules import COMMAND_TOOL, Rule, RuleSource, Verdict, parse_rule
from foundation.errors import Misuse

_OTHER_NAMES: Final = {
    "Bash": COMMAND_TOOL,
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "edit_file",
    "MultiEdit": "edit_file",
    "Glob": "find_files",
    "Grep": "search_files",
    "LS": "find_files",
    "WebFetch": "fetch_url",
    "TodoWrite": "update_plan",
    "Task": "delegate",
}
_NEEDS_PATTERN: Final = frozenset({COMMAND_TOOL, "fetch_url"})


def skill_rules(allowed: Sequence[str]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of a skill's `allowed-tools`, and those of its items that allow nothing."""
    rules: dict[str, Rule] = {}
    left_out: list[str] = []
    for item in allowed:
        name, bracket, pattern = item.partition("(")
        tool = _OTHER_NAMES.get(name, name)
        if bracket:
            pattern = pattern.removesuffix(")").strip()
            pattern = re.sub(r":\*$", " *", pattern) if tool == COMMAND_TOOL else pattern.removeprefix("domain:")
        try:
            rule = parse_rule(Verdict.ALLOW, f"{tool}({pattern})" if pattern else tool, RuleSource.SKILL)
        except Misuse:
            left_out.append(item)
            continue
        if "*" in rule.tool or (rule.tool in _NEEDS_PATTERN and not rule.pattern.strip("* ")):
            left_out.append(item)
        else:
            rules.setdefault(rule.text, rule)
    return tuple(rules.values()), tuple(left_out)


def notices_of(skill: str, rules: Sequence[Rule], left_out: Sequence[str]) -> tuple[str, ...]:
    """Sentences for the person about what the skill allows."""
    allows = f"Until this answer ends, the skill “{skill}” allows {', '.join(rule.text for rule in rules)}."
    refused = f"The skill “{skill}” cannot allow {', '.join(left_out)}: a rule needs a tool, and for commands a prefix."
    return (*([allows] if rules else []), *([refused] if left_out else []))
