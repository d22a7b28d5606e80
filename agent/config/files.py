"""Reader of configuration files, with the line of every value."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.program import PROGRAM
from foundation.yaml import BadYaml, compose_yaml, construct_yaml


class ConfigError(PalimpsestError):
    """A configuration file is invalid. `location` is the file and line, `problem` what is wrong there."""

    code = "config"

    def __init__(self, title: str, place: str, said: str, hint: str = "") -> None:
        super().__init__(title, f"{place}: {said}", hint)
        self.location = place
        self.problem = said


class ConfigValue(Struct, frozen=True):
    """A value in a file, and its line (from 1)."""

    name: str
    value: Any
    line: int


def read_values(path: Path, sections: frozenset[str], within: Path | None = None) -> list[ConfigValue]:
    """The values that the file sets; none where there is no file.

    `sections` are the dotted names that contain further settings; `within` is the folder that the file must be in,
    links resolved. Raises ConfigError with file and line.
    """
    try:
        text = read_own_text(path, within=within)
    except FileNotFoundError:
        return []
    except UnreadableFile as error:
        raise ConfigError("Not readable", str(path), f"{error}.", "Replace it with a text file.") from error
    return parse_values(text, path, sections)


def parse_values(text: str, path: Path, sections: frozenset[str]) -> list[ConfigValue]:
    """The values in the text of a file."""
    root = compose_node(text, path)
    if root is None:
        return []
    if not _is_mapping(root):
        hint = f"`{PROGRAM} config schema` lists the settings."
        raise ConfigError(
            "Not a configuration", f"{path}, line 1", "Settings are lines of the form `name: value`.", hint
        )
    return list(_flat(root, "", path, sections))


def compose_node(text: str, path: Path) -> Any:
    """The YAML's node tree, or None where it is empty. Raises ConfigError with file, line and problem."""
    try:
        return compose_yaml(text)
    except BadYaml as error:
        location = f"{path}, line {error.line}"
        raise ConfigError("Broken YAML", location, f"{_plain_problem(error.problem)}.", "Correct that line.") from error


def _flat(node: Any, prefix: str, path: Path, sections: frozenset[str]) -> Iterator[ConfigValue]:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.id != "scalar":
            hint = f"`{PROGRAM} config schema` lists the settings."
            raise ConfigError(
                "Not a configuration", f"{path}, line {line}", "A setting's name must be a single word.", hint
            )
        name = prefix + key.value
        if name in seen:
            raise ConfigError(
                "Duplicate setting", f"{path}, line {line}", f"“{name}” is set twice.", "Keep one of them."
            )
        seen.add(name)
        if name in sections and _is_mapping(value):
            yield from _flat(value, name + ".", path, sections)
        elif name in sections and _is_null(value):
            continue
        else:
            yield ConfigValue(name, _constructed(value, path), line)


def _constructed(node: Any, path: Path) -> Any:
    try:
        return construct_yaml(node)
    except BadYaml as error:
        location = f"{path}, line {error.line}"
        raise ConfigError("Broken YAML", location, f"{error.problem}.", "Correct that line.") from error


def _plain_problem(problem: str) -> str:
    """PyYAML's message, reworded where it is unclear."""
    if "'\\t'" in problem:
        return "use spaces instead of a tab"
    return problem


def _is_mapping(node: Any) -> bool:
    return node.id == "mapping"


def _is_null(node: Any) -> bool:
    return node.id == "scalar" and node.tag == "tag:yaml.org,2002:null"
