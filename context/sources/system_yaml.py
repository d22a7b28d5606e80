"""system.yaml: the assistant's abilities, and rules that add lines when a condition holds.

    version: 1
    abilities:
      - You keep the user's notes.
    rules:
      - name: flights
        when: {entity: flight_number, time: "06:00-22:00"}
        then:
          - Say when check-in opens.

All keys of a `when` must match; the values of a list are alternatives. `pattern`, `keyword` and `entity` may each match
the message or one of the two before it; `messages: 1` has them see the message alone. Parsed from YAML nodes, so that
each problem has its line.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import yaml
from msgspec import Struct

from context.sources.conditions import ATTACHMENTS, ENTITIES, MOST_MESSAGES, Condition, HourRange
from foundation.regex import SafePattern, UnsafePattern
from foundation.yaml import BadYaml, compose_yaml

Parsed = TypeVar("Parsed")


class SystemRule(Struct, frozen=True):
    """Lines that are added to the tail when the condition holds."""

    name: str
    when: Condition
    then: tuple[str, ...]


class SystemFileProblem(Struct, frozen=True):
    """A problem, and its line (from 1)."""

    line: int
    text: str


class SystemFile(Struct, frozen=True):
    """Contents of system.yaml. `problems` are those of rules that are left out; the others hold."""

    abilities: tuple[str, ...] = ()
    rules: tuple[SystemRule, ...] = ()
    problems: tuple[SystemFileProblem, ...] = ()


class BrokenSystemFile(ValueError):
    """The file cannot be used; `problem` says why."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.problem = SystemFileProblem(line, text)


DEFAULT = SystemFile(
    abilities=("You are Palimpsest, an assistant that remembers. Cite what you recall by its reference.",)
)
"""Default where no system.yaml exists, or none could ever be read."""


def parse_system_yaml(text: str) -> SystemFile:
    """Parses system.yaml. Leaves out rules with a problem. Raises BrokenSystemFile for a problem of the file."""
    try:
        root = compose_yaml(text)
    except BadYaml as error:
        raise BrokenSystemFile(error.line, error.problem) from error
    if root is None:
        return SystemFile()
    top = _mapping(root, "the file", ("version", "abilities", "rules"))
    if "version" in top and _scalar_text(top["version"], "version") != "1":
        raise BrokenSystemFile(_line(top["version"]), "only version 1 is supported")
    rules: list[SystemRule] = []
    problems: list[SystemFileProblem] = []
    for node in _items(top["rules"], "rules") if "rules" in top else []:
        try:
            rules.append(_rule(node))
        except BrokenSystemFile as error:
            problems.append(error.problem)
    abilities = _lines(top["abilities"], "abilities") if "abilities" in top else ()
    return SystemFile(abilities, tuple(rules), tuple(problems))


def _rule(node: yaml.Node) -> SystemRule:
    fields = _mapping(node, "a rule", ("name", "when", "then"))
    for key in ("when", "then"):
        if key not in fields:
            raise BrokenSystemFile(_line(node), f"a rule needs `{key}`")
    name = _scalar_text(fields["name"], "name") if "name" in fields else f"line {_line(node)}"
    return SystemRule(name, _condition(fields["when"]), _lines(fields["then"], "then"))


def _condition(node: yaml.Node) -> Condition:
    keys = _mapping(node, "when", ("pattern", "keyword", "keywords", "entity", "time", "attachment", "messages"))
    if not keys.keys() - {"messages"}:
        raise BrokenSystemFile(_line(node), "`when` has no condition; put lines that always apply under `abilities`")
    keyword_keys = [key for key in ("keyword", "keywords") if key in keys]
    return Condition(
        patterns=_parsed_values(keys.get("pattern"), "pattern", _pattern),
        keywords=tuple(word for key in keyword_keys for word in _lines(keys[key], key)),
        entities=_parsed_values(keys.get("entity"), "entity", _member_of(ENTITIES)),
        times=_parsed_values(keys.get("time"), "time", HourRange.parse),
        attachments=_parsed_values(keys.get("attachment"), "attachment", _member_of(ATTACHMENTS)),
        messages=_messages(keys["messages"]) if "messages" in keys else MOST_MESSAGES,
    )


def _messages(node: yaml.Node) -> int:
    text = _scalar_text(node, "messages")
    if text not in map(str, range(1, MOST_MESSAGES + 1)):
        raise BrokenSystemFile(_line(node), f"`messages` is a number from 1 (the message alone) to {MOST_MESSAGES}")
    return int(text)


def _pattern(source: str) -> SafePattern:
    try:
        return SafePattern(source)
    except re.error as error:
        raise ValueError(f"`{source}` is not a valid regular expression: {error}") from error
    except UnsafePattern as error:
        raise ValueError(f"`{source}`: {error}") from error


def _member_of(known: tuple[str, ...]) -> Callable[[str], str]:
    def check(word: str) -> str:
        if word not in known:
            raise ValueError(f"`{word}` is not one of {', '.join(known)}")
        return word

    return check


def _parsed_values(node: yaml.Node | None, name: str, read: Callable[[str], Parsed]) -> tuple[Parsed, ...]:
    if node is None:
        return ()
    values: list[Parsed] = []
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        try:
            values.append(read(_scalar_text(item, name)))
        except BrokenSystemFile:
            raise
        except ValueError as error:
            raise BrokenSystemFile(_line(item), f"`{name}`: {error}") from error
    if not values:
        raise BrokenSystemFile(_line(node), f"`{name}` is empty")
    return tuple(values)


def _mapping(node: yaml.Node, name: str, known: tuple[str, ...]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise BrokenSystemFile(_line(node), f"{name} must be a mapping with {', '.join(known)}")
    fields: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        key_text = _scalar_text(key_node, "a key")
        if key_text not in known:
            raise BrokenSystemFile(
                _line(key_node), f"`{key_text}` is not a known field; {name} takes {', '.join(known)}"
            )
        fields[key_text] = value
    return fields


def _items(node: yaml.Node, name: str) -> list[yaml.Node]:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise BrokenSystemFile(_line(node), f"`{name}` must be a list")
    return list(node.value)


def _lines(node: yaml.Node, name: str) -> tuple[str, ...]:
    """A list of lines, or a single line."""
    if isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:null":
        return (_scalar_text(node, name),)
    return tuple(_scalar_text(item, name) for item in _items(node, name))


def _scalar_text(node: yaml.Node, name: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        raise BrokenSystemFile(_line(node), f"`{name}` must be text that is not empty")
    return node.value.strip()


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1
