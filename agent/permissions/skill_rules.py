"""Rules that the `allowed-tools` of a skill in use add for the rest of the turn.

They come last of the allow rules: deny rules, ask rules and what always asks decide before them. Names and patterns of
Claude Code are understood (`Bash(git diff:*)`, `Read`). Left out is what allows any command or any address, a prefix
that lets a program run any code (`python3 *`, `npx *`), and a tool of an MCP server.
"""

import re
from collections.abc import Sequence
from typing import Final

from agent.permissions.action import Access
from agent.permissions.command import pattern_words, runs_code
from agent.permissions.programs import RUNNERS, program_name
from agent.permissions.rules import Rule, RuleSource, Verdict, parse_rule
from agent.permissions.tool_facts import SubjectKind, ToolFacts, declared_tools, facts_of
from foundation.errors import Misuse

_NEEDS_PATTERN: Final = frozenset({Access.RUN, Access.NETWORK})
_OF_SERVERS: Final = "__"  # in the name of a tool of an MCP server
_PACKAGE_RUNNERS: Final = frozenset({"npx", "uvx", "bunx", "pnpx", "pipx"})
_RUNNING_SUBCOMMANDS: Final = frozenset(
    {"run", "exec", "x", "dlx", "tool", "script", "shell", "start", "create", "init"}
)
_WITH_SUBCOMMANDS: Final = frozenset(
    {"uv", "npm", "pnpm", "yarn", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "go", "cargo", "docker", "podman"}
)


def skill_rules(allowed: Sequence[str]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of a skill's `allowed-tools`, and those of its items that allow nothing."""
    rules: dict[str, Rule] = {}
    left_out: list[str] = []
    for item in allowed:
        name, _, pattern = item.partition("(")
        named = [facts for facts in declared_tools() if name in facts.other_names] or [facts_of(name)]
        of_item = [_rule(facts, name, pattern.removesuffix(")").strip()) for facts in named]
        rules |= {rule.text: rule for rule in of_item if rule}
        left_out += [] if all(of_item) else [item]
    return tuple(rules.values()), tuple(left_out)


def _rule(facts: ToolFacts | None, name: str, pattern: str) -> Rule | None:
    """Returns the rule for the tool, or for the name of no known tool; None if it may not be allowed."""
    tool, is_command = facts.name if facts else name, facts is not None and facts.kind is SubjectKind.COMMAND
    pattern = re.sub(r":\*$", " *", pattern) if is_command else pattern.removeprefix("domain:")
    try:
        rule = parse_rule(Verdict.ALLOW, f"{tool}({pattern})" if pattern else tool, RuleSource.SKILL)
    except Misuse:
        return None
    is_broad = facts is not None and facts.access in _NEEDS_PATTERN and not rule.pattern.strip("* ")
    runs_any = is_command and _runs_any_code(rule.pattern)
    return None if "*" in rule.tool or _OF_SERVERS in rule.tool or is_broad or runs_any else rule


def _runs_any_code(pattern: str) -> bool:
    """Whether commands with this prefix run code that the pattern does not name: `python3 *`, `node -e *`, `uv run *`.

    A prefix that names the script (`python3 scripts/check.py *`) or the module (`python3 -m pytest *`) does not.
    """
    if not pattern.endswith("*"):
        return False
    wanted = pattern_words(pattern)
    whole = wanted.words[:-1] if wanted.is_open else wanted.words  # the last word may only be the beginning of one
    if not whole:
        return True
    name, arguments = program_name(whole[0]), [word for word in whole[1:] if not word.startswith("-")]
    if name in RUNNERS or any(word in _CODE_OPTIONS for word in whole[1:]):
        return name in RUNNERS or runs_code(whole[0])
    if name in _WITH_SUBCOMMANDS and (not arguments or arguments[0] in _RUNNING_SUBCOMMANDS):
        return len(arguments) < 2
    return (name in _PACKAGE_RUNNERS or runs_code(whole[0])) and not arguments


_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-E", "-p", "--eval", "--print", "-r", "--command", "-Command"})


def notices_of(skill: str, rules: Sequence[Rule], left_out: Sequence[str]) -> tuple[str, ...]:
    """Sentences for the person about what the skill allows."""
    allows = f"Until this answer ends, the skill “{skill}” allows {', '.join(rule.text for rule in rules)}."
    refused = (
        f"The skill “{skill}” cannot allow {', '.join(left_out)}: a rule needs a tool that is not an MCP server's, and "
        "for commands a prefix that names what an interpreter, a shell or a runner runs."
    )
    return (*([allows] if rules else []), *([refused] if left_out else []))
