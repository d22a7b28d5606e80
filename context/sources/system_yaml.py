"""system.yaml: what an assistant can do, and what joins when a condition holds.

    version: 1
    abilities:
      - You keep the user's notes.
    rules:
      - name: flights
        when: {entity: flight_number, time: "06:00-22:00"}
        then:
          - Say when check-in opens.

All keys of a `when` must hold; of a list, any. Parsed by hand from YAML's nodes, so that each problem has its line.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import yaml
from msgspec import Struct

from context.sources.conditions import ATTACHMENTS, ENTITIES, Condition, HourRange
from foundation.regex import SafePattern, UnsafePattern
from foundation.yaml import BadYaml, compose_yaml

Read = TypeVar("Read")


class SystemRule(Struct, frozen=True):
    """Lines that are added to the tail when the condition holds."""

    name: str
    when: Condition
    then: tuple[str, ...]


class SystemFile(Struct, frozen=True):
    """The contents of system.yaml."""

    abilities: tuple[str, ...] = ()
    rules: tuple[SystemRule, ...] = ()


class SystemFileProblem(Struct, frozen=True):
    """A problem, and its line (from 1)."""

    line: int
    text: str


class BrokenSystemFile(ValueError):
    """The file cannot be used; `problem` says why."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.problem = SystemFileProblem(line, text)


DEFAULT = SystemFile(
    abilities=("You are Palimpsest, an assistant that remembers. Cite what you recall by its reference.",)
)
"""What holds where there is no system.yaml, or never was one that could be read."""


def parse_system_yaml(text: str) -> SystemFile:
    """Parses the file. Raises BrokenSystemFile with the line of the first problem."""
    try:
        root = compose_yaml(text)
    except BadYaml as error:
        raise BrokenSystemFile(error.line, error.said) from error
    if root is None:
        return SystemFile()
    top = _mapping(root, "the file", ("version", "abilities", "rules"))
    if "version" in top and _word(top["version"], "version") != "1":
        raise BrokenSystemFile(_line(top["version"]), "only version 1 is known")
    rules = _items(top["rules"], "rules") if "rules" in top else []
    return SystemFile(
        abilities=_lines(top["abilities"], "abilities") if "abilities" in top else (),
        rules=tuple(_rule(node) for node in rules),
    )


def _rule(node: yaml.Node) -> SystemRule:
    fields = _mapping(node, "a rule", ("name", "when", "then"))
    for wanted in ("when", "then"):
        if wanted not in fields:
            raise BrokenSystemFile(_line(node), f"a rule needs `{wanted}`")
    name = _word(fields["name"], "name") if "name" in fields else f"line {_line(node)}"
    return SystemRule(name, _condition(fields["when"]), _lines(fields["then"], "then"))


def _condition(node: yaml.Node) -> Condition:
    keys = _mapping(node, "when", ("pattern", "keyword", "keywords", "entity", "time", "attachment"))
    if not keys:
        raise BrokenSystemFile(_line(node), "`when` holds no condition; lines that always hold belong to `abilities`")
    words = [key for key in ("keyword", "keywords") if key in keys]
    return Condition(
        patterns=_each(keys.get("pattern"), "pattern", _pattern),
        keywords=tuple(word for key in words for word in _lines(keys[key], key)),
        entities=_each(keys.get("entity"), "entity", _one_of(ENTITIES)),
        times=_each(keys.get("time"), "time", HourRange.parse),
        attachments=_each(keys.get("attachment"), "attachment", _one_of(ATTACHMENTS)),
    )


def _pattern(source: str) -> SafePattern:
    try:
        return SafePattern(source)
    except re.error as error:
        raise ValueError(f"`{source}` is no regular expression: {error}") from error
    except UnsafePattern as error:
        raise ValueError(f"`{source}`: {error}") from error


def _one_of(known: tuple[str, ...]) -> Callable[[str], str]:
    def check(word: str) -> str:
        if word not in known:
            raise ValueError(f"`{word}` is not one of {', '.join(known)}")
        return word

    return check


def _each(node: yaml.Node | None, name: str, read: Callable[[str], Read]) -> tuple[Read, ...]:
    if node is None:
        return ()
    found: list[Read] = []
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        try:
            found.append(read(_word(item, name)))
        except BrokenSystemFile:
            raise
        except ValueError as error:
            raise BrokenSystemFile(_line(item), f"`{name}`: {error}") from error
    if not found:
        raise BrokenSystemFile(_line(node), f"`{name}` is empty")
    return tuple(found)


def _mapping(node: yaml.Node, name: str, known: tuple[str, ...]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise BrokenSystemFile(_line(node), f"{name} must be a mapping with {', '.join(known)}")
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        word = _word(key, "a key")
        if word not in known:
            raise BrokenSystemFile(_line(key), f"`{word}` is not known here; {name} takes {', '.join(known)}")
        found[word] = value
    return found


def _items(node: yaml.Node, name: str) -> list[yaml.Node]:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise BrokenSystemFile(_line(node), f"`{name}` must be a list")
    return list(node.value)


def _lines(node: yaml.Node, name: str) -> tuple[str, ...]:
    """A list of lines, or a single line."""
    if isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:null":
        return (_word(node, name),)
    return tuple(_word(item, name) for item in _items(node, name))


def _word(node: yaml.Node, name: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        raise BrokenSystemFile(_line(node), f"`{name}` must be text that is not empty")
    return node.value.strip()


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1
