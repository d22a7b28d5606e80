"""The root command `palimpsest`: its subcommands, and the chat as the default."""

import click

from agent.cli.group import LazyGroup, add_dir_option, conversation_options
from agent.cli.headless_flags import headless_options
from agent.cli.invocation import current

EPILOG = """\b
palimpsest                          open the chat
palimpsest "What did we decide?"    open it with a first message
palimpsest -p "Summarise" < a.txt   one answer on standard output, no screen
palimpsest -c                       go on with the latest conversation

\b
Exit codes of -p: 0 answered, 1 the model or the store failed, 2 misused, 3 an action was denied and
nothing done in its place, 4 a limit was reached, 75 not yet, 130 stopped (143 by SIGTERM)."""


COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat", "Open the chat (what happens without a command, too)."),
    "init": ("init", "Make a workspace."),
    "context": ("context", "Show the request that would be sent."),
    "remember": ("remember", "Add a note to MEMORY.md."),
    "memory": ("memory", "List, show and edit the notes."),
    "observations": ("observations", "List, correct and delete notes of what was shown and decided."),
    "search": ("search", "Search everything remembered."),
    "recall": ("recall", "Bring passages back, whole; read a page's PNG."),
    "archive": ("archive", "Turn a text into page images."),
    "knowledge": ("knowledge", "Add files, and ask what they say."),
    "import": ("import_", "Import conversations from a file."),
    "export": ("export", "Write conversations out."),
    "forget": ("forget", "Forget something for good, and prove it."),
    "conversations": ("conversations", "List, show, rename and delete conversations."),
    "models": ("models", "List, choose and test models."),
    "keys": ("keys", "Store, list and remove keys of model services."),
    "trust": ("trust", "Trust a workspace that was made elsewhere."),
    "permissions": ("permissions", "Show, change and test what tools may do."),
    "config": ("config", "Show, set and validate the configuration."),
    "stats": ("stats", "Say what is stored."),
    "retention": ("retention", "Archive or delete by rules what nobody touched."),
    "check": ("check", "Check what is stored against its hashes."),
    "backup": ("backup", "Back up the workspace, and restore it."),
    "sync": ("sync", "Share conversations and notes with your other devices."),
    "doctor": ("doctor", "Look at the installation, and say what is missing."),
}
"""Name → (module in agent.cli, summary). The order is help's."""


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from agent.version import version

        click.echo(f"palimpsest {version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    default="chat",
    name="palimpsest",
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
    options_metavar="[OPTIONS]",
    subcommand_metavar="[TEXT | COMMAND …]",
)
@headless_options
@conversation_options
@add_dir_option
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
)
@click.pass_context
def palimpsest(ctx: click.Context, prompt: str | None) -> None:
    """The terminal chat that remembers.

    TEXT is one argument: the chat's first message.
    """
    invocation = current()
    invocation.prompt = prompt
    if ctx.invoked_subcommand is None:
        from agent.cli.chat import run_chat

        run_chat(invocation, "")
