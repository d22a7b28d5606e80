"""Configuration files: read with the line of every value, and edited with their comments kept."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from foundation.errors import PalimpsestError


class ConfigError(PalimpsestError):
    """A configuration cannot be read as it stands. `place` is the file and line, `said` what is wrong there."""

    code = "config"

    def __init__(self, title: str, place: str, said: str, hint: str = "") -> None:
        super().__init__(title, f"{place}: {said}", hint)
        self.place = place
        self.said = said


class Found(Struct, frozen=True):
    """A value that a file sets, and the line it stands on (from 1)."""

    name: str
    value: Any
    line: int


def read(path: Path, sections: frozenset[str]) -> list[Found]:
    """What the file sets; nothing where there is no file.

    `sections` are the dotted names that hold further settings. Raises ConfigError with file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise ConfigError("Not text", str(path), "It is not UTF-8 text.", "Save it as UTF-8.") from error
    except OSError as error:
        raise ConfigError("Not readable", str(path), f"It could not be read: {error.strerror}.") from error
    return values_in(text, path, sections)


def values_in(text: str, path: Path, sections: frozenset[str]) -> list[Found]:
    """As `read`, of text that is at hand."""
    root = compose(text, path)
    if root is None:
        return []
    if not _is_mapping(root):
        hint = "`palimpsest config schema` has the settings."
        raise ConfigError("Not a configuration", f"{path}, line 1", "Settings are `name: value` lines.", hint)
    return list(_flat(root, "", path, sections))


def compose(text: str, path: Path) -> Any:
    """The YAML's node tree, or None where it is empty. Raises ConfigError with file, line and what is wrong."""
    import yaml  # noqa: PLC0415 - most workspaces have no configuration file

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = _plainly(error.problem or error.context or "this is not YAML")
        raise ConfigError("Broken YAML", f"{path}, line {line}", f"{what}.", "Correct that line.") from error
    except yaml.YAMLError as error:
        raise ConfigError("Broken YAML", str(path), f"{error}.", "Correct the file.") from error


def _flat(node: Any, prefix: str, path: Path, sections: frozenset[str]) -> Iterator[Found]:
    seen: set[str] = set()
    for key, value in node.value:
        name = prefix + str(key.value)
        line = key.start_mark.line + 1
        if name in seen:
            raise ConfigError(
                "Said twice", f"{path}, line {line}", f"“{name}” stands there twice.", "Keep one of them."
            )
        seen.add(name)
        if name in sections and _is_mapping(value):
            yield from _flat(value, name + ".", path, sections)
        elif name in sections and _is_null(value):
            continue
        else:
            yield Found(name, _constructed(value, path), line)


def _constructed(node: Any, path: Path) -> Any:
    import yaml  # noqa: PLC0415

    try:
        return cast(Any, yaml.SafeLoader("")).construct_document(node)  # PyYAML's stubs leave it untyped
    except yaml.MarkedYAMLError as error:
        line = node.start_mark.line + 1
        raise ConfigError("Broken YAML", f"{path}, line {line}", f"{error.problem}.", "Correct that line.") from error


def _plainly(problem: str) -> str:
    """PyYAML's words, where a person would say it otherwise."""
    if "'\\t'" in problem:
        return "a tab stands where spaces are needed"
    return problem


def _is_mapping(node: Any) -> bool:
    return node.id == "mapping"


def _is_null(node: Any) -> bool:
    return node.id == "scalar" and node.tag == "tag:yaml.org,2002:null"
