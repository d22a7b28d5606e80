"""What a tool is, declared at its class. Rules, modes, hooks, skills, display and `permissions test` derive from it.

A tool's own module is the only one that writes its name.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from agent.permissions.action import Access, Action


class SubjectKind(StrEnum):
    """The kind of an action's subject. It decides how the pattern of a rule matches the subject."""

    PATH = "path"  # a glob; the argument `path`
    COMMAND = "command"  # a prefix of words; the argument `command`
    ADDRESS = "address"  # a host or an address
    TEXT = "text"  # the text itself, or none; `*` stands for anything


class OutcomeStyle(StrEnum):
    """How the outcome of a call is displayed."""

    LENGTH = "length"  # characters of the result
    FIRST_LINE = "first_line"
    COMMAND = "command"  # the exit status and the last lines
    OWN = "own"  # the tool has a display of its own


class ToolFacts(Struct, frozen=True):
    """`former_names` may occur in calls of models, rules and stored entries. `other_names` are the names of similar
    tools of Claude Code, for the matchers of hooks and for skills."""

    name: str
    access: Access
    kind: SubjectKind = SubjectKind.TEXT
    outcome: OutcomeStyle = OutcomeStyle.LENGTH
    former_names: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.former_names)


DECLARED: Final[dict[str, ToolFacts]] = {}  # by each of their names


def declare_tool(
    name: str,
    access: Access,
    kind: SubjectKind = SubjectKind.TEXT,
    outcome: OutcomeStyle = OutcomeStyle.LENGTH,
    *,
    former_names: tuple[str, ...] = (),
    other_names: tuple[str, ...] = (),
) -> ToolFacts:
    """Registers and returns the facts of a tool."""
    facts = ToolFacts(name, access, kind, outcome, former_names, other_names)
    DECLARED.update(dict.fromkeys(facts.names, facts))
    return facts


def declared_tools() -> Iterable[ToolFacts]:
    """Returns the facts of every tool that a loaded module declares."""
    return dict.fromkeys(DECLARED.values())


def facts_of(name: str) -> ToolFacts | None:
    """Returns the facts of a tool by its name or a former one; None if no tool has the name."""
    return DECLARED.get(name)


def names_of(name: str) -> tuple[str, ...]:
    """Returns all names of the tool with this name."""
    facts = facts_of(name)
    return facts.names if facts else (name,)


def names_with(access: Access) -> frozenset[str]:
    """Returns the names of the tools with this access, former names too."""
    return frozenset(name for name, facts in DECLARED.items() if facts.access is access)


def same_names(action: Action) -> Iterable[str]:
    """Returns the names of the tools that do the same with the same kind of subject as the action's tool: a rule that
    keeps one of them from a subject keeps all of them from it."""
    facts, kind = facts_of(action.tool), subject_kind(action)
    access = facts.access if facts else action.access
    same = (
        other.access is access and other.kind is kind and kind is not SubjectKind.TEXT for other in DECLARED.values()
    )
    return (name for name, is_same in zip(DECLARED, same, strict=True) if is_same)


def subject_kind(action: Action) -> SubjectKind:
    """Returns how the pattern of a rule matches the action's subject."""
    facts = facts_of(action.tool)
    if action.is_for_tool:
        return SubjectKind.TEXT
    return facts.kind if facts else _KINDS[action.access]


_KINDS: Final = {
    Access.MEMORY: SubjectKind.TEXT,
    Access.READ: SubjectKind.PATH,
    Access.EDIT: SubjectKind.PATH,
    Access.RUN: SubjectKind.COMMAND,
    Access.NETWORK: SubjectKind.ADDRESS,
    Access.NOTE: SubjectKind.PATH,
    Access.PERSON: SubjectKind.TEXT,
}
"""The kind of the subject of a tool that no loaded module declares."""
