"""The root command `palimpsest`: its subcommands, and the chat as the default."""

import click

from agent.cli.group import LazyGroup, add_dir_option, conversation_options
from agent.cli.headless_flags import headless_options
from agent.cli.invocation import current

EPILOG = """\b
palimpsest                          open the chat
palimpsest "What did we decide?"    open it with a first message
palimpsest -p "Summarise" < a.txt   one answer on standard output, no screen
palimpsest -c                       continue the latest conversation

\b
Exit codes of -p: 0 answered, 1 the model or the store failed, 2 wrong usage, 3 an action was denied and
nothing done in its place, 4 a limit was reached, 75 try again later, 130 stopped (143 by SIGTERM)."""


COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat", "Open the chat (the default)."),
    "init": ("init", "Create a workspace."),
    "context": ("context", "Show the request that would be sent."),
    "remember": ("remember", "Add a note to MEMORY.md."),
    "memory": ("memory", "List, show and edit the notes."),
    "observations": ("observations", "List, edit and delete observations."),
    "search": ("search", "Search everything remembered."),
    "recall": ("recall", "Print stored passages in full; read a page's PNG."),
    "archive": ("archive", "Archive a text as page images."),
    "knowledge": ("knowledge", "Add files, and ask about them."),
    "import": ("import_", "Import conversations from a file."),
    "export": ("export", "Export conversations."),
    "forget": ("forget", "Delete something for good, and verify it."),
    "conversations": ("conversations", "List, show, rename and delete conversations."),
    "models": ("models", "List, choose and test models."),
    "keys": ("keys", "Store, list and remove keys of model services."),
    "trust": ("trust", "Trust a workspace from elsewhere."),
    "permissions": ("permissions", "Show, change and test what tools may do."),
    "config": ("config", "Show, set and validate the configuration."),
    "stats": ("stats", "Show what is stored."),
    "retention": ("retention", "Archive or delete old conversations by rules."),
    "check": ("check", "Check stored data for damage."),
    "backup": ("backup", "Back up and restore the workspace."),
    "sync": ("sync", "Share conversations and notes with your other devices."),
    "doctor": ("doctor", "Check the installation."),
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
