"""Themes of the person: a YAML file each in the folder `themes` of the configuration folder."""

import re
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from textual.color import Color, ColorParseError
from textual.theme import Theme

from agent.config.files import ConfigError, read_values
from foundation.files import list_names, resolve_path

_SECTIONS: Final = frozenset({"variables"})
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_EXAMPLE: Final = "A colour is written as “#e0a458”, “rgb(224,164,88)” or “ansi_blue”."


class ThemeFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of a theme's file. Only `primary` is required; the others follow from it as Textual derives them."""

    primary: str
    secondary: str | None = None
    accent: str | None = None
    foreground: str | None = None
    background: str | None = None
    surface: str | None = None
    panel: str | None = None
    error: str | None = None
    warning: str | None = None
    success: str | None = None
    dark: bool = True
    ansi: bool = False  # its colours are those of the terminal: each is named `ansi_…`
    variables: dict[str, str] = {}


def load_themes(folder: Path) -> tuple[list[Theme], list[str]]:
    """The themes of the folder's `*.yaml`, named by their files, and a sentence for each file that is none. Blocks."""
    themes: list[Theme] = []
    problems: list[str] = []
    folder = resolve_path(folder)  # it may be a link, as the files of a person often are
    for path in (folder / name for name in list_names(folder) if name.endswith((".yaml", ".yml"))):
        try:
            themes.append(_load(path))
        except ConfigError as error:
            problems.append(f"Theme {error.location}: {error.problem} {error.hint}".strip())
    return themes, problems


def _load(path: Path) -> Theme:
    if not _NAME.fullmatch(path.stem):
        hint = "Use letters, digits, “-” and “_”, and begin with a letter."
        raise ConfigError("Theme", str(path), "Its name is not valid for a theme.", hint)
    fields: dict[str, Any] = {}
    variables: dict[str, str] = {}
    for value in read_values(path, _SECTIONS):
        where = f"{path}, line {value.line}"
        section, _, variable = value.name.partition(".")
        if section not in ThemeFile.__struct_fields__:
            names = ", ".join(ThemeFile.__struct_fields__)
            raise ConfigError("Theme", where, f"A theme has no field “{value.name}”.", f"The fields are: {names}.")
        if section not in {"dark", "ansi"}:
            _check_colour(value.value, where)
        if variable:
            variables[variable] = value.value
        else:
            fields[section] = value.value
    try:
        file = msgspec.convert({**fields, "variables": variables}, ThemeFile)
    except msgspec.ValidationError as error:
        raise ConfigError("Theme", str(path), f"{error}.", _EXAMPLE) from error
    return Theme(name=path.stem, **msgspec.structs.asdict(file))


def _check_colour(value: object, where: str) -> None:
    try:
        Color.parse(value if isinstance(value, str) else "")
    except ColorParseError:
        raise ConfigError("Theme", where, f"{value!r} is not a colour.", _EXAMPLE) from None
