"""Generates the command manual, docs/reference/commands.md, from the help of the commands and settings.

python -m agent.command_manual > docs/reference/commands.md
"""

from collections.abc import Iterator

import click

from agent.cli.group import LazyGroup
from agent.cli.root import COMMANDS, palimpsest
from agent.commands import registry
from agent.config.settings import all_settings

SHARED = frozenset({"workspace", "model", "json", "help"})


def manual() -> str:
    """The manual as Markdown."""
    return "\n".join([*_introduction(), *_command_line(), *_slash_commands(), *_settings()]).rstrip() + "\n"


def _introduction() -> list[str]:
    return [
        "# Commands and settings",
        "",
        "Written by `python -m agent.command_manual` from the program's own help.",
        "",
        "`--workspace DIR`, `--model SPEC`, `--trust` and `--json` may stand before or after any command; `search` has "
        "a `--trust LEVEL` of its own, so the other stands before it: `palimpsest --trust search …`. Data goes to "
        "standard output, all else to standard error. Exit status: 0 done, 1 failed, 2 misused, 75 not yet, 130 "
        "interrupted.",
        "",
    ]


def _command_line() -> Iterator[str]:
    yield "## On the command line"
    yield ""
    context = click.Context(palimpsest, info_name="palimpsest")
    yield from _command_section(palimpsest, "palimpsest", context)
    for name in COMMANDS:
        command = palimpsest.get_command(context, name)
        if command is not None:
            yield from _command_section(command, f"palimpsest {name}", context)


def _command_section(command: click.Command, path: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, parent=parent, info_name=path.rsplit(" ", 1)[-1])
    arguments = " ".join(param.make_metavar(context) for param in command.params if isinstance(param, click.Argument))
    is_group = isinstance(command, click.Group) and not isinstance(command, LazyGroup)
    yield f"### `{path}{' ' + arguments if arguments else ''}{' COMMAND' if is_group else ''}`"
    yield ""
    yield _unwrap(command.help or "")
    yield ""
    options = [param for param in command.params if isinstance(param, click.Option) and not _is_shared(param)]
    for option in options:
        names = ", ".join(option.opts)
        value = "" if option.is_flag else f" {option.make_metavar(context)}"
        yield f"- `{names}{value}` {option.help or ''}"
    if options:
        yield ""
    if is_group and isinstance(command, click.Group):
        for name, subcommand in command.commands.items():
            yield from _command_section(subcommand, f"{path} {name}", context)


def _slash_commands() -> Iterator[str]:
    yield "## In the chat"
    yield ""
    yield 'The same work without a screen: `palimpsest -p "/recall boiler"`.'
    yield ""
    yield "| command | what it does | aliases |"
    yield "|---|---|---|"
    for command in registry.all():
        aliases = ", ".join(f"`/{alias}`" for alias in command.aliases)
        usage = command.signature.replace("|", "\\|")
        yield f"| `{usage}` | {command.summary} | {aliases} |"
    yield ""


def _settings() -> Iterator[str]:
    yield "## Settings"
    yield ""
    yield (
        "Flags come first, then `PALIMPSEST_*` variables (`context.reserve` is `PALIMPSEST_CONTEXT_RESERVE`), then the "
        "workspace's `.palimpsest/config.yaml`, then your own. A workspace that you have not trusted "
        "(`palimpsest trust`) may not set those marked ⚑."
    )
    yield ""
    yield "| setting | type | default | what it does |"
    yield "|---|---|---|---|"
    for setting in all_settings().values():
        mark = " ⚑" if setting.guarded else ""
        default = "(empty)" if setting.default is None else str(setting.default)
        yield f"| `{setting.name}`{mark} | {setting.type_name} | {default} | {setting.sentence} |"


def _is_shared(option: click.Option) -> bool:
    return option.name in SHARED or (option.name == "trust" and option.is_flag)  # `search --trust LEVEL` is another


def _unwrap(text: str) -> str:
    """The help text with each paragraph on one line."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


if __name__ == "__main__":
    click.echo(manual(), nl=False)
