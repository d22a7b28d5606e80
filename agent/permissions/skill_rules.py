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
from agent.permissions.programs import PROGRAMS, RUNNERS, program_name
from agent.permissions.rules import Rule, RuleSource, Verdict, parse_rule
from agent.permissions.tool_facts import SubjectKind, ToolFacts, declared_tools, facts_of
from foundation.errors import Misuse

_NEEDS_PATTERN: Final = frozenset({Access.RUN, Access.NETWORK})
_OF_SERVERS: Final = "__"  # in the name of a tool of an MCP server
_PACKAGE_RUNNERS: Final = frozenset({"npx", "uvx", "bunx", "pnpx", "pipx"})
_RUNNING_SUBCOMMANDS: Final = frozenset(
    {"run", "run-script", "exec", "x", "dlx", "tool", "script", "shell", "start", "create", "init", "compose"}
)
_WITH_SCRIPTS: Final = frozenset({"npm", "pnpm", "yarn"})
"""Their `run` takes the name of a script of the project, not a program."""
_WITH_SUBCOMMANDS: Final = frozenset({*_WITH_SCRIPTS, "uv", "go", "cargo", "docker", "kubectl"})
_MODULE_RUNNERS: Final = frozenset({"python", "python3", "pypy", "pypy3"})
_TAKES_SCRIPT: Final = _MODULE_RUNNERS | {"perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "rscript", "julia"}
"""Interpreters for which every word after the script is an argument of the script."""
_PLAIN: Final = frozenset(
    {
        *("echo", "ls", "cat", "head", "tail", "stat", "file", "df", "du", "pwd", "which", "wc", "grep", "cut", "tr"),
        *("uniq", "comm", "cmp", "diff", "jq", "basename", "dirname", "realpath", "readlink", "date", "sleep", "true"),
        *("false", "mkdir", "touch", "cp", "mv", "rm", "ln", "chmod", "tee", "pyright", "basedpyright", "flake8"),
        *("compileall", "unittest", "prettier", "black", "isort"),
    }
)
"""Programs and modules that run no code that a word names; those of PROGRAMS are guarded by their options."""


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
    return not whole or _is_open(*whole)


def _is_open(name: str, *words: str) -> bool:
    """Whether a command that begins with these words runs code that they do not name. A program that no table knows
    may run any: it is a loader, a debugger, an interpreter of tomorrow."""
    program = program_name(name)
    at = next((index for index, word in enumerate(words) if word in _RUNNING_SUBCOMMANDS), -1)
    if program in _MODULE_RUNNERS and words[:1] == ("-m",):
        return len(words) < 2 or _is_open(words[1])
    if runs_code(name):
        return program not in _TAKES_SCRIPT or not words or words[0].startswith("-")
    if program in _WITH_SCRIPTS and words[:1] in {("run",), ("run-script",)}:
        return len(words) < 2 or words[1].startswith("-")
    if program in _PACKAGE_RUNNERS or (at >= 0 and program not in _PLAIN):
        return len(words) <= at + 1 or _is_open(*words[at + 1 :])
    is_own_script = "/" in name and ".." not in name.split("/") and not name.startswith(("/", "~"))
    is_known = is_own_script or ("/" not in name and (program in _PLAIN or program in PROGRAMS))
    return not is_known or program in RUNNERS or (program in _WITH_SUBCOMMANDS and not words)


def notices_of(skill: str, rules: Sequence[Rule], left_out: Sequence[str]) -> tuple[str, ...]:
    """Sentences for the person about what the skill allows."""
    allows = f"Until this answer ends, the skill “{skill}” allows {', '.join(rule.text for rule in rules)}."
    refused = (
        f"The skill “{skill}” cannot allow {', '.join(left_out)}: a rule needs a tool that is not an MCP server's, and "
        "for commands the whole line, or a prefix of a known program that names what it runs."
    )
    return (*([allows] if rules else []), *([refused] if left_out else []))
