"""`palimpsest config`: shows, sets and checks settings."""

from pathlib import Path
from typing import Any

import click

from agent.cli import output
from agent.cli.group import CliGroup, nearest
from agent.cli.invocation import Invocation, NoWorkspace, current
from agent.config.common_settings import COMMON
from agent.config.config import ConfigProblem, LoadedConfig, check_file, read_config, user_config
from agent.config.edit import parse_value
from agent.config.secrets import without_secrets
from agent.config.settings import Setting, all_settings, json_schema, value_of
from agent.services.settings import save_settings, settings_file
from agent.services.trust import trust_workspace
from foundation.errors import Misuse
from foundation.program import PROGRAM, own_command
from foundation.workspace_trust import trust_command, trust_store


@click.group(cls=CliGroup)
def command() -> None:
    """Show, set and validate the configuration.

    Flags come first, then PALIMPSEST_* variables, then the workspace's .palimpsest/config.yaml, then your own file.
    """


@command.command()
@click.argument("name", required=False)
def show(name: str | None) -> None:
    """Show all settings with value and origin, or the value of NAME."""
    invocation = current()
    reading = _reading(invocation)
    if name is not None:
        setting = _setting(name)
        _print_setting(invocation, reading, setting)
        return
    if invocation.json:
        output.json_object(
            {
                "workspace": str(invocation.workspace.root),
                "trusted": reading.trusted,
                "files": [str(user_config(invocation.environment)), str(invocation.workspace.config)],
                "settings": [_setting_object(reading, setting) for setting in all_settings().values()],
                "problems": [{"where": problem.location, "message": problem.sentence} for problem in reading.problems],
            }
        )
        return
    rows = [(s.name, _value_text(_value_shown(reading, s)), reading.origins[s.name]) for s in all_settings().values()]
    output.table(rows, ("SETTING", "VALUE", "SET BY"))
    _print_problems(reading)


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Show all settings.")
def list_(every: bool) -> None:
    """List the most used settings and what they do."""
    invocation = current()
    reading = _reading(invocation)
    settings = [all_settings()[name] for name in (all_settings() if every else COMMON)]
    if invocation.json:
        output.json_object({"settings": [_setting_object(reading, setting) for setting in settings]})
        return
    rows = [
        (COMMON.get(s.name, ""), s.name, _value_text(_value_shown(reading, s)) or "(empty)", s.sentence)
        for s in settings
    ]
    output.table(rows, ("SETTING", "NAME", "VALUE", "WHAT IT DOES"))
    if not every:
        output.narrate(f"`{own_command('config', 'list', '--all')}` lists all {len(all_settings())}.")
    _print_problems(reading)


@command.command("set")
@click.argument("name")
@click.argument("value")
@click.option("--user", is_flag=True, help="Set it for all workspaces.")
def set_(name: str, value: str, user: bool) -> None:
    """Set NAME to VALUE in the workspace's configuration, or in your user configuration with --user.

    Outside a workspace, screen settings are saved in the user configuration. Comments and other settings in the file
    are kept, and the previous file is saved as a version.
    """
    invocation = current()
    setting = _setting(name)
    parsed = parse_value(setting, value)
    is_users = user or _is_users(invocation, setting)
    try:
        workspace = invocation.workspace if is_users else invocation.prepare()
    except NoWorkspace as error:
        raise NoWorkspace(error.title, error.message, f"{error.hint} --user sets it for all workspaces.") from error
    file = settings_file(workspace, invocation.environment, setting, user=is_users)
    save_settings(workspace, invocation.environment, file, [(setting, parsed)])
    if invocation.json:
        output.json_object({"name": setting.name, "value": parsed, "path": str(file.path)})
        return
    output.narrate(f"{setting.name}: {_value_text(parsed)} ({file.path})")


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def validate(file: Path | None) -> None:
    """Check the configuration, or FILE; exit 1 if it is invalid."""
    invocation = current()
    problems, notices = _check_file(file) if file else _problems_and_notices(_reading(invocation))
    if invocation.json:
        listed = [{"where": problem.location, "message": problem.sentence} for problem in problems]
        output.json_object({"valid": not problems, "problems": listed, "notices": list(notices)})
    else:
        for problem in problems:
            output.line(f"{problem.location}: {problem.sentence}")
        for notice in notices:
            output.narrate(notice)
        if not problems:
            output.narrate("The configuration is valid.")
    invocation.status = 1 if problems else 0


@command.command()
def schema() -> None:
    """Print the JSON Schema of a configuration file."""
    output.json_object(json_schema())


@command.command()
def trust() -> None:
    """Trust this workspace (same as `palimpsest trust`)."""
    invocation = current()
    if notice := trust_workspace(invocation.workspace, invocation.environment).set_aside:
        output.narrate(notice)
    undo = trust_command(invocation.workspace, "--remove")
    _print_trust(invocation, f"is now trusted. `{undo}` undoes that.", trusted=True)


@command.command()
def distrust() -> None:
    """Undo `config trust`."""
    invocation = current()
    trust_store(invocation.environment).remove(invocation.workspace)
    _print_trust(invocation, "is no longer trusted.", trusted=False)


def _print_trust(invocation: Invocation, sentence: str, *, trusted: bool) -> None:
    root = str(invocation.workspace.root)
    if invocation.json:
        output.json_object({"workspace": root, "trusted": trusted})
        return
    output.narrate(f"{root} {sentence}")


def _reading(invocation: Invocation) -> LoadedConfig:
    flags: dict[str, Any] = {"model": invocation.model} if invocation.model is not None else {}
    reading = read_config(invocation.workspace, invocation.environment, flags)
    if invocation.workspace.brings_state and not reading.trusted:
        invocation.report_trust(invocation.workspace)
    return reading


def _setting(name: str) -> Setting:
    setting = all_settings().get(name)
    if setting is None:
        similar = nearest(name, list(all_settings()))
        hint = f"Did you mean “{similar}”?" if similar else f"`{PROGRAM} config show` lists them."
        raise Misuse("Unknown setting", f"There is no setting “{name}”.", hint)
    return setting


def _is_users(invocation: Invocation, setting: Setting) -> bool:
    """Whether the setting is of the screen, and there is no workspace that it could be meant for."""
    is_meant = invocation.is_workspace_named or invocation.workspace.is_workspace
    return setting.name.startswith("screen.") and not is_meant


def _print_setting(invocation: Invocation, reading: LoadedConfig, setting: Setting) -> None:
    if invocation.json:
        output.json_object(_setting_object(reading, setting))
        return
    output.line(_value_text(_value_shown(reading, setting)))
    output.narrate(f"{setting.sentence} ({setting.type_name}; set by {reading.origins[setting.name]})")


def _value_shown(reading: LoadedConfig, setting: Setting) -> Any:
    return without_secrets(value_of(reading.config, setting.name), setting.name)


def _setting_object(reading: LoadedConfig, setting: Setting) -> dict[str, Any]:
    return {
        "name": setting.name,
        "value": _value_shown(reading, setting),
        "default": setting.default,
        "origin": reading.origins[setting.name],
        "type": setting.type_name,
        "description": setting.sentence,
        "environment": setting.environment_name,
        "guarded": setting.guarded,
    }


def _check_file(file: Path) -> tuple[tuple[ConfigProblem, ...], tuple[str, ...]]:
    if not file.exists():
        raise Misuse("No such file", f"There is no file {file}.")
    return check_file(file)


def _problems_and_notices(reading: LoadedConfig) -> tuple[tuple[ConfigProblem, ...], tuple[str, ...]]:
    return reading.problems, reading.notices


def _print_problems(reading: LoadedConfig) -> None:
    for problem in reading.problems:
        output.narrate(f"{problem.location}: {problem.sentence}")
    for notice in reading.notices:
        output.narrate(notice)


def _value_text(value: Any) -> str:
    match value:
        case None:
            return "(empty)"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
