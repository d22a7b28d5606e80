"""Permission rules: `allow`, `ask` or `deny` a tool, where its subject matches a pattern.

A rule is written `run_command(git status *)`, `edit_file(src/**)` or `fetch_url`: a tool, and in brackets a pattern of
its subject. A path pattern is a glob (`**` goes through folders), a command pattern is a prefix of words, or the whole
command (`agent.permissions.command`), an address is a host or an address.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from agent.permissions.action import Action
from agent.permissions.command import allows, exact_pattern, pattern_problem, suggested_prefix
from agent.permissions.denied_command import Certainty, denies
from agent.permissions.subjects import address_matches, exact_path, path_matches
from agent.permissions.tool_facts import SubjectKind, facts_of, names_of, same_names, subject_kind
from foundation.errors import Misuse


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class RuleSource(StrEnum):
    """Where a rule comes from. A rule of the user decides before one of the session of the same verdict."""

    USER = "user"
    PROJECT = "project"
    SESSION = "session"
    SKILL = "skill"  # in use; its rules hold until the turn ends, and are not in a RuleSet


class Rule(Struct, frozen=True):
    """`pattern` is "" where the rule holds for every call of the tool. `tool` may hold `*`."""

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
            RuleSource.SKILL: "The skill in use",
        }[self.source]

    def matches(self, action: Action) -> bool:
        """Whether the rule is about the action. An allow rule must cover all of it, another rule any part."""
        return self.judge(action) is Certainty.YES

    def judge(self, action: Action) -> Certainty:
        """Whether the rule is about the action; MAYBE where a command cannot be read."""
        if not self._is_for(action):
            return Certainty.NO
        if not self.pattern:
            return Certainty.YES
        if self.verdict is not Verdict.ALLOW and subject_kind(action) is SubjectKind.COMMAND:
            return denies(self.pattern, action.subject)
        return Certainty.YES if self._covers(action) else Certainty.NO

    def _is_for(self, action: Action) -> bool:
        """Whether the rule is for the tool; one that keeps a tool from a subject is for all tools that do the same."""
        if any(text_matches(self.tool, name) for name in names_of(action.tool)):
            return True
        if self.verdict is Verdict.ALLOW or not self.pattern:
            return False
        return any(text_matches(self.tool, name) for name in same_names(action))

    def _covers(self, action: Action) -> bool:
        subject, kind, is_allowing = action.subject, subject_kind(action), self.verdict is Verdict.ALLOW
        if kind is SubjectKind.COMMAND:
            return allows(self.pattern, subject)
        if kind is SubjectKind.ADDRESS and "://" in subject:
            return address_matches(self.pattern, subject)
        if kind is not SubjectKind.PATH:
            return text_matches(self.pattern, subject)
        matches = (path_matches(self.pattern, path, generous=not is_allowing) for path in (subject, *action.also))
        return all(matches) if is_allowing else any(matches)


def text_matches(pattern: str, text: str) -> bool:
    """Whether the text is the pattern, in which `*` stands for anything."""
    if "*" not in pattern:
        return pattern == text
    return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", pattern))), text, re.DOTALL) is not None


_RULE = re.compile(r"(?P<tool>\*|[A-Za-z][A-Za-z0-9_.*-]*)(?:\((?P<pattern>.*)\))?", re.DOTALL)


def parse_rule(verdict: Verdict, text: str, source: RuleSource = RuleSource.SESSION) -> Rule:
    """The rule that `text` (`run_command(git *)`) writes. Raises Misuse."""
    match = _RULE.fullmatch(text.strip())
    if match is None or match["pattern"] == "":
        raise Misuse(
            "Not a rule",
            f"“{text}” is not a permission rule.",
            "A rule is a tool and a pattern: run_command(git status *), edit_file(src/**), fetch_url.",
        )
    pattern = match["pattern"] or ""
    facts = facts_of(match["tool"])
    takes_command = facts is not None and facts.kind is SubjectKind.COMMAND and pattern
    if takes_command and (problem := pattern_problem(pattern, allows=verdict is Verdict.ALLOW)):
        raise Misuse("Not a rule", f"“{text}” is not valid: {problem}", "Example: run_command(git status *).")
    return Rule(verdict, match["tool"], pattern, source)


def offered_rules(action: Action) -> tuple[Rule, ...]:
    """The rules that a person may choose to have remembered for an action: this very one, then a wider one.

    Of a tool of an MCP server, the wider one is for all tools of the server.

    None for an action on several paths: no pattern matches these and no others.
    """
    if action.also and not action.is_for_tool:
        return ()
    subject, patterns, kind = action.subject, [""], subject_kind(action)
    if action.is_for_tool:
        server, separator, _ = action.tool.partition("__")
        tools = (action.tool, f"{server}__*") if separator else (action.tool,)
        return tuple(Rule(Verdict.ALLOW, tool) for tool in tools)
    if kind is SubjectKind.COMMAND:
        patterns = [exact_pattern(subject), suggested_prefix(subject)]
    elif kind is SubjectKind.PATH:
        patterns = [exact_path(subject)] if subject else [""]
    elif "://" in subject:
        host = re.match(r"(https?://[^/?#@\\]+)(?:[/?#]|$)", subject)
        patterns = [subject, f"{host[1]}/*" if host else ""]
    elif "*" not in subject:
        patterns = [subject]
    return tuple(
        Rule(Verdict.ALLOW, action.tool, pattern)
        for index, pattern in enumerate(dict.fromkeys(patterns))
        if pattern or not index
    )


class StoredRulesPort(Protocol):
    """The rules on disk (agent.permissions.stored_rules)."""

    @property
    def problem(self) -> str:
        """A sentence, where a file of rules cannot be read; then nothing is allowed without asking."""
        ...

    def refresh(self) -> None:
        """Reads the files again where they changed."""
        ...

    @property
    def rules(self) -> Sequence[Rule]: ...

    def add(self, rule: Rule) -> None:
        """Stores a rule of the user or the project. Raises PalimpsestError."""
        ...

    def remove(self, rule: Rule) -> bool:
        """Removes a stored rule; whether it was there. Raises PalimpsestError."""
        ...


class RuleSet:
    """The rules in force: those on disk, then those of the session."""

    def __init__(self, rules: Iterable[Rule] = (), stored: StoredRulesPort | None = None) -> None:
        self._rules = list(rules)
        self._stored = stored
        self._forgotten = set[str]()  # tools that changed: stored rules that allow them do not hold

    @property
    def rules(self) -> Sequence[Rule]:
        stored = self._stored.rules if self._stored else ()
        return (*(rule for rule in stored if not self._is_forgotten(rule)), *self._rules)

    def _is_forgotten(self, rule: Rule) -> bool:
        return rule.verdict is Verdict.ALLOW and any(text_matches(rule.tool, tool) for tool in self._forgotten)

    @property
    def problem(self) -> str:
        """A sentence, where stored rules cannot be read."""
        return self._stored.problem if self._stored else ""

    @property
    def keeps_projects(self) -> bool:
        """Whether a rule can be remembered for the project."""
        return self._stored is not None and not self._stored.problem

    def refresh(self) -> None:
        """Reads stored rules again where they changed."""
        if self._stored is not None:
            self._stored.refresh()

    def first(self, verdict: Verdict, action: Action) -> Rule | None:
        """The first rule with this verdict that matches."""
        return next((rule for rule in self.rules if rule.verdict is verdict and rule.matches(action)), None)

    def uncertain(self, action: Action) -> Rule | None:
        """The first rule that denies, or asks, which may be about the action: its command cannot be read."""
        rules = (rule for rule in self.rules if rule.verdict is not Verdict.ALLOW)
        return next((rule for rule in rules if rule.judge(action) is Certainty.MAYBE), None)

    def allows_exactly(self, action: Action) -> Rule | None:
        """The rule that allows this very command line, which somebody has read as a whole."""
        exact = {action.subject, exact_pattern(action.subject)}
        rules = (rule for rule in self.rules if rule.verdict is Verdict.ALLOW and rule.pattern in exact)
        return next((rule for rule in rules if rule.matches(action)), None)

    def add(self, rule: Rule) -> None:
        """Adds a rule of the session, or stores one of the user or the project. Raises PalimpsestError."""
        if rule.source is RuleSource.SESSION or self._stored is None:
            self._rules.append(rule)
        else:
            self._stored.add(rule)

    def remove(self, rule: Rule) -> bool:
        """Removes a rule of the session, or a stored one; whether there was one. Raises PalimpsestError."""
        if rule.source is not RuleSource.SESSION and self._stored is not None:
            return self._stored.remove(rule)
        remaining = [own for own in self._rules if own != rule]
        is_removed, self._rules = len(remaining) < len(self._rules), remaining
        return is_removed

    def forget(self, tools: Sequence[str]) -> None:
        """Drops the session's rules that allow one of these tools, by name or by pattern; stored ones do not hold."""
        self._forgotten |= set(tools)
        self._rules = [
            rule
            for rule in self._rules
            if rule.source is not RuleSource.SESSION
            or rule.verdict is not Verdict.ALLOW
            or not any(text_matches(rule.tool, tool) for tool in tools)
        ]
