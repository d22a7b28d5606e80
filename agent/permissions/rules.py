"""Permission rules: `allow`, `ask` or `deny` a tool, where its subject matches a pattern.

A rule is written `run_command(git status *)`, `edit_file(src/**)` or `fetch_url`: a tool, and in brackets a pattern of
its subject. A path pattern is a glob (`**` goes through folders); a command pattern is a prefix of words, or the whole
command, judged by `agent.permissions.command`.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.permissions.action import Access, Action, Scope
from agent.permissions.command import command_matches, prefix_of
from foundation.errors import Misuse

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class RuleSource(StrEnum):
    """Where a rule comes from. A rule of the user decides before one of the session of the same verdict."""

    USER = "user"
    PROJECT = "project"
    SESSION = "session"


class Rule(Struct, frozen=True):
    """`pattern` is "" where the rule holds for every call of the tool. `tool` may be `*`, or `git__*`."""

    verdict: Verdict
    tool: str
    pattern: str = ""
    source: RuleSource = RuleSource.SESSION

    def __str__(self) -> str:
        return f"{self.verdict} {self.text}"

    @property
    def text(self) -> str:
        """The rule without its verdict: `run_command(git status *)`."""
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool

    @property
    def where(self) -> str:
        return {
            RuleSource.USER: "A rule of yours",
            RuleSource.PROJECT: "A rule for this project",
            RuleSource.SESSION: "A rule of this session",
        }[self.source]

    def matches(self, action: Action) -> bool:
        """Whether the rule is about the action. An allow rule must cover the whole of a command, another any part."""
        if not text_matches(self.tool, action.tool):
            return False
        if not self.pattern:
            return True
        if action.is_for_tool:
            return text_matches(self.pattern, action.subject)
        if action.access is Access.RUN:
            return command_matches(self.pattern, action.subject, whole=self.verdict is Verdict.ALLOW)
        return path_matches(self.pattern, action.subject)


def text_matches(pattern: str, text: str) -> bool:
    """Whether the text is the pattern, in which `*` stands for anything."""
    if "*" not in pattern:
        return pattern == text
    return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", pattern))), text, re.DOTALL) is not None


def path_matches(pattern: str, path: str) -> bool:
    """Whether a glob, as .gitignore writes them, matches a path relative to the project: `src/**`, `*.py`, `/build`."""
    return _spec(pattern).match_file(path)


@lru_cache(maxsize=256)
def _spec(pattern: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern.removeprefix("!")])


_RULE = re.compile(r"(?P<tool>\*|[A-Za-z][A-Za-z0-9_.*-]*)(?:\((?P<pattern>.*)\))?", re.DOTALL)


def parse_rule(verdict: Verdict, text: str, source: RuleSource = RuleSource.SESSION) -> Rule:
    """The rule that `text` (`run_command(git *)`) writes. Raises Misuse."""
    match = _RULE.fullmatch(text.strip())
    if match is None or match["pattern"] == "":
        raise Misuse(
            "Not a rule",
            f"“{text}” is no permission rule.",
            "A rule is a tool and a pattern: run_command(git status *), edit_file(src/**), fetch_url.",
        )
    return Rule(verdict, match["tool"], match["pattern"] or "", source)


class RuleSet:
    """The rules in force."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = list(rules)

    @property
    def rules(self) -> Sequence[Rule]:
        return tuple(self._rules)

    def first(self, verdict: Verdict, action: Action) -> Rule | None:
        """The first rule with this verdict that matches."""
        return next((rule for rule in self._rules if rule.verdict is verdict and rule.matches(action)), None)

    def allow(self, action: Action, scope: Scope) -> Rule:
        """Adds a rule that allows what is like this action: the same command, edits of the same file, the same tool."""
        pattern = (
            "" if action.is_for_tool else prefix_of(action.subject) if action.access is Access.RUN else action.subject
        )
        source = RuleSource.PROJECT if scope is Scope.PROJECT else RuleSource.SESSION
        rule = Rule(Verdict.ALLOW, action.tool, pattern, source)
        self._rules.append(rule)
        return rule

    def forget(self, tools: Sequence[str]) -> None:
        """Drops the session's rules that allow one of these tools, by name or by pattern."""
        self._rules = [
            rule
            for rule in self._rules
            if rule.source is not RuleSource.SESSION
            or rule.verdict is not Verdict.ALLOW
            or not any(text_matches(rule.tool, tool) for tool in tools)
        ]
