"""Extensions of click: global options anywhere, subcommands imported when they run, suggestions for typos."""

import difflib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from agent.cli.invocation import Invocation, current
from agent.commands.chinese_names import CHINESE_NAMES
from foundation.errors import Misuse
from foundation.paths import expand_home
from foundation.program import PROGRAM, own_command

F = TypeVar("F", bound=Callable[..., Any])
LIST = "list"


class CliCommand(click.Command):
    """A command with the global options; with `--json` where it prints data."""

    def __init__(self, *args: Any, prints_data: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own_flags = {
            name for param in self.params for name in param.opts
        }  # `search --trust` is another: ahead of the command
        self.params.extend(
            option for option in global_options(with_json=prints_data) if not own_flags & set(option.opts)
        )


class TextCommand(CliCommand):
    """A command that takes a text last, which may begin as a list does (`- one item`)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        texts = (
            [] if "--" in args else [argument for argument in args if argument[:1] == "-" and argument[1:2].isspace()]
        )
        options = [argument for argument in args if argument not in texts]
        dashed = next((argument for argument in options if argument.startswith("-") and " " in argument), "")
        try:
            return super().parse_args(ctx, [*options, "--", *texts] if texts else options)
        except click.NoSuchOption as error:
            if not dashed.startswith(error.option_name):
                raise
            hint = f"Put -- before the text: {own_command(*ctx.command_path.split()[1:], '--', dashed)}"
            raise Misuse("No such option", f"“{dashed}” looks like an option.", hint) from None


class CliGroup(click.Group):
    """A command with subcommands and the global options. Without a subcommand it is its `list`, if it has one."""

    command_class = CliCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(global_options(with_json=True))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names_nothing = not args or (args[0].startswith("-") and not set(args) & {*self.commands, "-h", "--help"})
        return super().parse_args(ctx, [LIST, *args] if names_nothing and LIST in self.commands else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            similar = nearest(word, self.list_commands(ctx))
            available = ", ".join(self.list_commands(ctx))
            hint = f"Did you mean “{similar}”?" if similar else f"Available: {available}."
            raise Misuse("Unknown command", f"“{ctx.command_path}” has no command “{word}”.", hint)
        return super().resolve_command(ctx, args)


class LazyGroup(CliGroup):
    """The root command. An unknown word is the chat's first message, unless it resembles a command's name."""

    def __init__(self, *args: Any, table: dict[str, tuple[str, str]], default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table  # name → (module in agent.cli, summary)
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module, _ = self._table[cmd_name]
        return importlib.import_module("agent.cli." + module).command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word == "help":
            self._help(ctx, args[1:])
        if word in self._table:
            return word, self.get_command(ctx, word), args[1:]
        if similar := nearest(word, list(self._table)):
            raise Misuse(
                "Unknown command",
                f"There is no command “{word}”. Did you mean “{similar}”?",
                f"To send it as a message: {own_command('chat', word)}",
            )
        return self._default, self.get_command(ctx, self._default), args

    def _help(self, ctx: click.Context, words: list[str]) -> NoReturn:
        """`palimpsest help [COMMAND]`: prints help."""
        command = self.get_command(ctx, words[0]) if words else None
        context = click.Context(command, parent=ctx, info_name=words[0]) if command else ctx
        click.echo(context.get_help())
        ctx.exit()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._table.items()])


def nearest(word: str, names: list[str]) -> str | None:
    """The command name that a single word probably misspells; None for none."""
    lowered = CHINESE_NAMES.get(word, word.lower())
    if not lowered or any(letter.isspace() for letter in word):
        return None
    if len(lowered) >= 4 and (completions := [name for name in names if name.startswith(lowered)]):
        return completions[0]
    similar = difflib.get_close_matches(lowered, names, n=1, cutoff=0.75)
    return similar[0] if similar else None


def global_options(*, with_json: bool) -> list[click.Option]:
    """`--workspace`, `--trust`, `--model` and `--json`, allowed before and after every subcommand."""
    options = [
        _global_option("--workspace", _workspace, "The workspace's folder.", metavar="DIR"),
        _global_option(
            "--trust",
            _trust,
            f"Trust the workspace and the project first (see `{PROGRAM} trust`).",
            is_flag=True,
            default=None,
        ),
        _global_option("--model", _model, "The model: provider:name[@address], or offline.", metavar="SPEC"),
    ]
    if with_json:
        options.append(_global_option("--json", _json, "Print JSON, errors included.", is_flag=True, default=None))
    return options


def conversation_options(function: F) -> F:
    """`-c`, `-r ID`, and `--screen-reader`."""
    function = click.option(
        "--screen-reader/--no-screen-reader",
        default=None,
        expose_value=False,
        callback=_screen_reader,
        help="Chat in plain lines for a screen reader.",
    )(function)
    function = click.option(
        "-r", "--resume", metavar="ID", expose_value=False, callback=_resume, help="Continue this conversation."
    )(function)
    return click.option(
        "-c",
        "--continue",
        "latest",
        is_flag=True,
        default=None,
        expose_value=False,
        callback=_latest,
        help="Continue the latest conversation.",
    )(function)


def _add_dirs(_ctx: click.Context, _param: click.Parameter, values: tuple[Path, ...]) -> None:
    for value in values:
        folder = current().here / expand_home(value)
        if not folder.is_dir():
            raise Misuse("Not a folder", f"--add-dir {value}: folder not found.", "Name a folder that exists.")
        current().add_dirs.append(folder)


add_dir_option = click.option(
    "--add-dir",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    expose_value=False,
    callback=_add_dirs,
    help="Let tools work in this folder, too. Repeatable.",
)
"""Tools work in the folder where the program was started, and in these."""

raw_option = click.option(
    "--raw", is_flag=True, help="Print the stored bytes, including control characters and escape sequences."
)
"""For commands that print stored text."""


def _global_option(
    name: str, callback: Callable[[Invocation, Any], None], help_text: str, **kwargs: Any
) -> click.Option:
    def keep(_ctx: click.Context, _param: click.Parameter, value: Any) -> None:
        if value is not None:
            callback(current(), value)

    return click.Option([name], expose_value=False, callback=keep, help=help_text, **kwargs)


def _workspace(invocation: Invocation, value: str) -> None:
    if not value.strip():
        raise Misuse(
            "No folder named", "--workspace is empty.", "Use --workspace DIR, or omit it to use the nearest workspace."
        )
    invocation.workspace_flag = Path(value)


def _trust(invocation: Invocation, value: bool) -> None:
    invocation.trust_first = value


def _model(invocation: Invocation, value: str) -> None:
    invocation.model = value


def _json(invocation: Invocation, value: bool) -> None:
    invocation.json = value


def _resume(_ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        current().resume = value
        current().check_one_conversation()


def _latest(_ctx: click.Context, _param: click.Parameter, value: bool | None) -> None:
    if value:
        current().latest = True
        current().check_one_conversation()


def _screen_reader(_ctx: click.Context, _param: click.Parameter, value: bool | None) -> None:
    if value is not None:
        current().screen_reader = value
