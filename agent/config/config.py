"""The configuration of one run: flags, then `PALIMPSEST_*`, then the workspace's file, then the user's.

Each value records its origin. A workspace that its owner has not trusted may set nothing that names a path, an
address, a command or a hook: free-text settings are ignored there, with a notice.
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agent.config.files import ConfigError, ConfigValue, read_values
from agent.config.powers import SHORT_REPR, shown_parts
from agent.config.secrets import without_secrets
from agent.config.settings import Setting, Settings, all_settings, sections
from agent.config.used_models import UsedModels
from agent.config.wrong_part import wrong_part
from foundation.errors import Misuse
from foundation.files import resolve_path
from foundation.paths import Workspace, config_dir
from foundation.program import PROGRAM, VARIABLE
from foundation.workspace_trust import TrustStore
from models.chat.spec import VARIABLES

RESERVED = frozenset({"PALIMPSEST_CONFIG_DIR", "PALIMPSEST_WORKSPACE", "PALIMPSEST_DEBUG", VARIABLE})
"""Environment variables that are not settings."""


class Config(Settings, frozen=True, kw_only=True):
    """The settings in force, and the process's environment. `model_is_fixed`: a flag or a variable names the model."""

    model_is_fixed: bool = False
    environment: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class ConfigProblem(Struct, frozen=True):
    """An invalid value; `location` is `file, line 3` or a variable's name."""

    location: str
    sentence: str


class IgnoredSetting(Struct, frozen=True):
    """A setting that needs trust and is not in force; `value` is its value, shortened."""

    name: str
    value: str


class LoadedConfig(Struct, frozen=True):
    """The configuration, the origin of each value, problems and notices."""

    config: Config
    origins: dict[str, str]  # by dotted name: "default", a file with its line, a variable, or "--model"
    problems: tuple[ConfigProblem, ...]  # the values were not taken
    notices: tuple[str, ...]
    trusted: bool
    ignored: tuple["IgnoredSetting", ...] = ()  # of a trusted workspace whose configuration or hooks changed


def user_config(environment: Mapping[str, str]) -> Path:
    """The user's own configuration file."""
    return resolve_path(config_dir(environment) / "config.yaml")


def load_config(workspace: Workspace, environment: Mapping[str, str], flags: Mapping[str, Any]) -> LoadedConfig:
    """The configuration in force. Raises ConfigError for an invalid value."""
    reading = read_config(workspace, environment, flags)
    if reading.problems:
        first = reading.problems[0]
        others = f" ({len(reading.problems) - 1} more)" if len(reading.problems) > 1 else ""
        hint = f"`{PROGRAM} config validate` lists the errors."
        raise ConfigError("Configuration", first.location, first.sentence + others, hint)
    return reading


def read_config(workspace: Workspace, environment: Mapping[str, str], flags: Mapping[str, Any]) -> LoadedConfig:
    """As `load_config`, but invalid values are skipped and listed as problems."""
    trust = TrustStore(config_dir(environment)).state(workspace)
    layers = _ConfigLayers()
    layers.take_file(user_config(environment), guarded_too=True)
    layers.take_file(workspace.config, guarded_too=trust.config_in_force, within=workspace.root)
    layers.take_environment(environment)
    for name, value in flags.items():
        layers.take(all_settings()[name], value, "--" + name)
    if "model" not in layers.values and (last := UsedModels.of(environment)).default:
        layers.take(all_settings()["model"], last.default, f"your last choice of a model ({last.path})")
    settings = msgspec.convert(_nested(layers.values), Settings)
    fields = {field: getattr(settings, field) for field in Settings.__struct_fields__}
    return LoadedConfig(
        Config(
            **fields,
            environment=dict(environment),
            model_is_fixed=layers.origins.get("model") in {"--model", all_settings()["model"].environment_name},
        ),
        {name: layers.origins.get(name, "default") for name in all_settings()},
        tuple(layers.problems),
        tuple(layers.notices),
        trust.config_in_force,
        tuple(layers.ignored) if trust.trusted else (),  # a workspace that is not trusted opens read-only as a whole
    )


def check_file(path: Path) -> tuple[tuple[ConfigProblem, ...], tuple[str, ...]]:
    """The problems and notices of one file."""
    layers = _ConfigLayers()
    layers.take_file(path, guarded_too=True)
    return tuple(layers.problems), tuple(layers.notices)


class _ConfigLayers:
    """Merges the values of all sources; later ones win."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[ConfigProblem] = []
        self.notices: list[str] = []
        self.ignored: list[IgnoredSetting] = []

    def take_file(self, path: Path, *, guarded_too: bool, within: Path | None = None) -> None:
        try:
            values = read_values(path, sections(), within)
        except ConfigError as error:
            self.problems.append(ConfigProblem(error.location, error.problem))
            return
        for value in values:
            self._take_line(value, path, guarded_too=guarded_too)

    def take_environment(self, environment: Mapping[str, str]) -> None:
        settings = {setting.environment_name: setting for setting in all_settings().values()}
        for variable in sorted(name for name in environment if name.startswith("PALIMPSEST_")):
            if variable in RESERVED | VARIABLES:
                continue
            if variable in settings:
                self.take(settings[variable], environment[variable], variable)
            else:
                self.notices.append(f"{variable} is not a setting{_nearest(variable, list(settings))}; it is ignored.")

    def take(self, setting: Setting, value: Any, where: str) -> None:
        try:
            converted = msgspec.convert(value, setting.kind, strict=not isinstance(value, str))
        except msgspec.ValidationError:
            whole = f"`{setting.name}` is {setting.type_name}, not {SHORT_REPR.repr(value)}."
            sentence = wrong_part(setting, value, strict=not isinstance(value, str)) or whole
            self.problems.append(ConfigProblem(where, sentence))
            return
        fresh = msgspec.to_builtins(converted)
        try:
            setting.check(fresh)
        except Misuse as error:
            self.problems.append(ConfigProblem(where, f"`{setting.name}`: {error.message} {error.hint}".strip()))
            return
        self.values[setting.name] = [*self.values.get(setting.name, ()), *fresh] if setting.joined else fresh
        self.origins[setting.name] = where

    def _take_line(self, line: ConfigValue, path: Path, *, guarded_too: bool) -> None:
        where = f"{path}, line {line.line}"
        setting = all_settings().get(line.name)
        if setting is None:
            similar = _nearest(line.name, list(all_settings()))
            self.notices.append(f"{where}: there is no setting “{line.name}”{similar}; it is ignored.")
        elif setting.guarded and not guarded_too:
            shown = without_secrets(line.value, line.name)
            self.ignored.append(IgnoredSetting(line.name, "; ".join(shown_parts(shown, line.name))))
        else:
            self.take(setting, line.value, where)


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
    similar = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {similar[0]}?)" if similar else ""
