"""The configuration of one run: flags, then `PALIMPSEST_*`, then the workspace's file, then the user's.

Every value knows who set it. A workspace that its owner has not trusted may set nothing that names a path, an
address, a command or a hook: whatever is free text is ignored there, and said.
"""

import difflib
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agent.config.files import ConfigError, ConfigValue, read
from agent.config.settings import Setting, Settings, all_settings
from foundation.files import resolve_path
from foundation.paths import Workspace, config_dir
from foundation.program import PROGRAM, VARIABLE
from foundation.workspace_trust import TrustStore
from models.chat.spec import VARIABLES

RESERVED = frozenset({"PALIMPSEST_CONFIG_DIR", "PALIMPSEST_WORKSPACE", "PALIMPSEST_DEBUG", VARIABLE})
"""Variables that are no settings."""


class Config(Settings, frozen=True, kw_only=True):
    """The settings in force, and the environment as it was read at the edge."""

    environment: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class ConfigProblem(Struct, frozen=True):
    """A value that cannot be taken as it stands; `where` is `file, line 3` or a variable's name."""

    where: str
    sentence: str


class IgnoredSetting(Struct, frozen=True):
    """A setting that names a path, an address or a command, and is not in force; `words` is its value, in short."""

    name: str
    words: str


class LoadedConfig(Struct, frozen=True):
    """All that was read: the configuration, who set what, and what is to be said about it."""

    config: Config
    origins: dict[str, str]  # by dotted name: "default", a file with its line, a variable, or "--model"
    problems: tuple[ConfigProblem, ...]  # the values were not taken
    notices: tuple[str, ...]
    trusted: bool
    ignored: tuple["IgnoredSetting", ...] = ()  # of a trusted workspace whose configuration or hooks changed


def user_config(environment: Mapping[str, str]) -> Path:
    """The user's own configuration file."""
    return resolve_path(config_dir(environment) / "config.yaml")


def sections() -> frozenset[str]:
    """The dotted names that hold further settings."""
    return frozenset(name.rpartition(".")[0] for name in all_settings() if "." in name)


def load_config(workspace: Workspace, environment: Mapping[str, str], flags: Mapping[str, Any]) -> LoadedConfig:
    """The configuration in force. Raises ConfigError where a value cannot be taken."""
    reading = read_config(workspace, environment, flags)
    if reading.problems:
        first = reading.problems[0]
        more = f" ({len(reading.problems) - 1} more)" if len(reading.problems) > 1 else ""
        hint = f"`{PROGRAM} config validate` lists what is wrong."
        raise ConfigError("Configuration", first.where, first.sentence + more, hint)
    return reading


def read_config(workspace: Workspace, environment: Mapping[str, str], flags: Mapping[str, Any]) -> LoadedConfig:
    """As `load_config`, but problems are listed, and the values they concern left out."""
    standing = TrustStore(config_dir(environment)).standing(workspace)
    gathered = _ConfigLayers()
    gathered.take_file(user_config(environment), guarded_too=True)
    gathered.take_file(workspace.config, guarded_too=standing.config_in_force, within=workspace.root)
    gathered.take_environment(environment)
    for name, value in flags.items():
        gathered.take(all_settings()[name], value, "--" + name)
    settings = msgspec.convert(_nested(gathered.values), Settings)
    fields = {field: getattr(settings, field) for field in Settings.__struct_fields__}
    return LoadedConfig(
        Config(**fields, environment=dict(environment)),
        {name: gathered.origins.get(name, "default") for name in all_settings()},
        tuple(gathered.problems),
        tuple(gathered.notices),
        standing.config_in_force,
        tuple(gathered.ignored) if standing.trusted else (),  # of another the whole is open read-only
    )


def check_file(path: Path) -> tuple[tuple[ConfigProblem, ...], tuple[str, ...]]:
    """What is wrong with one file, and what is to be said about it."""
    gathered = _ConfigLayers()
    gathered.take_file(path, guarded_too=True)
    return tuple(gathered.problems), tuple(gathered.notices)


_BRIEFLY = reprlib.Repr()
_BRIEFLY.maxlevel, _BRIEFLY.maxlist, _BRIEFLY.maxdict, _BRIEFLY.maxstring = 2, 4, 4, 80


class _ConfigLayers:
    """Values from all places; what is taken later wins."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[ConfigProblem] = []
        self.notices: list[str] = []
        self.ignored: list[IgnoredSetting] = []

    def take_file(self, path: Path, *, guarded_too: bool, within: Path | None = None) -> None:
        try:
            found = read(path, sections(), within)
        except ConfigError as error:
            self.problems.append(ConfigProblem(error.place, error.said))
            return
        for one in found:
            self._take_line(one, path, guarded_too=guarded_too)

    def take_environment(self, environment: Mapping[str, str]) -> None:
        known = {setting.environment_name: setting for setting in all_settings().values()}
        for variable in sorted(name for name in environment if name.startswith("PALIMPSEST_")):
            if variable in RESERVED | VARIABLES:
                continue
            if variable in known:
                self.take(known[variable], environment[variable], variable)
            else:
                self.notices.append(f"{variable} is no setting{_nearest(variable, list(known))}; it is ignored.")

    def take(self, setting: Setting, value: Any, where: str) -> None:
        try:
            taken = msgspec.convert(value, setting.kind, strict=not isinstance(value, str))
        except msgspec.ValidationError as error:
            said = f"`{setting.name}` is {setting.type_name}, not {_BRIEFLY.repr(value)}. {_reason(error)}"
            self.problems.append(ConfigProblem(where, said.strip()))
            return
        self.values[setting.name] = msgspec.to_builtins(taken)
        self.origins[setting.name] = where

    def _take_line(self, one: ConfigValue, path: Path, *, guarded_too: bool) -> None:
        where = f"{path}, line {one.line}"
        setting = all_settings().get(one.name)
        if setting is None:
            near = _nearest(one.name, list(all_settings()))
            self.notices.append(f"{where}: there is no setting “{one.name}”{near}; it is ignored.")
        elif setting.guarded and not guarded_too:
            from agent.config.secrets import without_secrets

            value = without_secrets(one.value, one.name)
            self.ignored.append(IgnoredSetting(one.name, value if isinstance(value, str) else _BRIEFLY.repr(value)))
        else:
            self.take(setting, one.value, where)


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *path, last = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return tree


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


def _reason(error: msgspec.ValidationError) -> str:
    said = str(error)
    return "" if said.startswith("Expected `") and "got" in said else said + "."
