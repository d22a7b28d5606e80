"""`palimpsest`, `palimpsest TEXT`, `palimpsest -p TEXT`: the chat, with a screen or without."""

import asyncio
import sys

import click
from msgspec import structs

from agent.cli import output
from agent.cli.group import CliCommand, add_dir_option, conversation_options
from agent.cli.headless_flags import headless_options, options_of, permissions_of
from agent.cli.invocation import Invocation, current, piped_input
from agent.cli.launch import LaunchOptions
from agent.config.config import load_config
from agent.services.trust import contents_of, links_out, trust_changes, trust_workspace
from foundation.errors import Misuse, PalimpsestError
from foundation.paths import Workspace
from foundation.program import PROGRAM
from foundation.workspace_trust import trust_store
from memory.access import WorkspaceAccess


class ChatUnavailable(PalimpsestError):
    """The chat cannot be opened here."""

    code = "no_screen"


@click.command(cls=CliCommand)
@click.argument("texts", nargs=-1, metavar="[TEXT]")
@headless_options
@conversation_options
@add_dir_option
def command(texts: tuple[str, ...], prompt: str | None) -> None:
    """Open the chat; TEXT is its first message.

    With -p, standard input is appended to TEXT and the answer goes to standard output; no screen is opened.
    """
    invocation = current()
    if len(texts) > 1:
        raise Misuse("More than one argument", "The message is one argument.", f'Put it in quotes: "{" ".join(texts)}"')
    invocation.prompt = prompt if prompt is not None else invocation.prompt
    run_chat(invocation, texts[0] if texts else "")


def run_chat(invocation: Invocation, message: str) -> None:
    """Opens the chat, or answers without a screen, as the invocation says."""
    if invocation.prompt is None:
        if flag := invocation.headless.given:
            raise Misuse("Nothing to answer", f"{flag} needs -p TEXT.", f'{PROGRAM} -p "…" {flag} …')
        _open_screen(invocation, message)
        return
    if message:
        raise Misuse("Two messages", "-p already has a text.", "Give the message once.")
    options = options_of(invocation.headless, as_json=invocation.json)
    invocation.json = invocation.json or options.form != "text"
    if options.driven:
        from agent.headless.driven import drive

        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] -- None under pythonw
            raise Misuse("Nothing to read", "--input-format stream-json reads standard input, which is empty.")
        invocation.status = asyncio.run(
            drive(invocation.session, sys.stdin.buffer, options, here=invocation.here, first=invocation.prompt)
        )
        return
    from agent.headless.run import answer

    piped = piped_input(INPUT_S if invocation.prompt.strip() else None) or ""
    text = _with_input(invocation.prompt, piped)
    invocation.status = asyncio.run(
        answer(invocation.session, text, options, here=invocation.here, mentions=invocation.prompt, piped=piped)
    )


INPUT_S = 10.0  # how long a message that has words waits for standard input


def _open_screen(invocation: Invocation, message: str) -> None:
    if invocation.open_screen is None:
        raise ChatUnavailable(
            "No screen", "This entry point has no screen.", 'Use `palimpsest`, or -p "TEXT" without a screen.'
        )
    if not at_a_terminal():
        single_word = bool(message) and not any(letter.isspace() for letter in message)
        explanation = f"“{message}” is not a command, so it was taken as the first message. " if single_word else ""
        raise Misuse(
            "No terminal",
            f"{explanation}The chat needs a terminal for input, output and errors.",
            f'Without a screen: {PROGRAM} -p "TEXT"',
        )
    mode, rules = permissions_of(invocation.headless)
    is_new = not invocation.workspace.is_workspace
    workspace = invocation.prepare(for_writing=True)
    reading = invocation.loaded_config
    access = WorkspaceAccess.of(workspace, trust_store(invocation.environment))
    lost = _database_lost(workspace)
    notice = access.notice_naming(invocation.ignored_settings)
    changes = trust_changes(access.workspace, access.trust_state, reading.ignored)
    trust_notices = [notice] if notice and access.trust_state.trusted and not changes else []
    opening = LaunchOptions(
        workspace=access.workspace,
        workspace_flag=str(invocation.workspace_flag or ""),
        config=reading.config,
        message=message,
        resume=invocation.resume or "",
        latest=invocation.latest,
        screen_reader=invocation.screen_reader,
        project=invocation.project,
        mode=mode,
        rules=rules,
        new_workspace=is_new,
        notices=(*reading.notices, *([lost] if lost else []), *trust_notices),
    )
    if access.workspace.is_read_only:
        output.narrate(notice)
        opening = _with_trust_dialog(invocation, opening, notice)
    elif changes:
        opening = _with_trust_dialog(invocation, opening, notice, changes)
    else:
        opening = _with_link_dialogs(invocation, opening)
    try:
        invocation.status = invocation.open_screen(opening) or 0
    finally:
        access.close()


def _with_trust_dialog(
    invocation: Invocation, opening: LaunchOptions, notice: str, changes: tuple[str, ...] = ()
) -> LaunchOptions:
    """The options with a trust dialog, for a workspace that is not wholly in force.

    With `changes` the workspace is trusted and has changed; else it is read-only. The content at the time of this call
    is what the user trusts.
    """
    workspace = Workspace(opening.workspace.root)
    content = trust_store(invocation.environment).content(workspace)

    def trusted() -> LaunchOptions:
        standing = trust_workspace(workspace, invocation.environment, content)
        flags = {"model": invocation.model} if invocation.model is not None else {}
        config = load_config(workspace, invocation.environment, flags).config
        trusted_workspace = structs.replace(workspace, links=standing.links)
        return _with_link_dialogs(
            invocation,
            structs.replace(opening, workspace=trusted_workspace, config=config, brings=(), changes=(), trust=None),
        )

    brings = () if changes else contents_of(workspace).short_lines
    if changes:
        opening = _with_link_dialogs(invocation, opening)
    return structs.replace(opening, brings=brings, changes=changes, trust=trusted, untrusted_notice=notice)


def _with_link_dialogs(invocation: Invocation, opening: LaunchOptions) -> LaunchOptions:
    """The options of a trusted workspace, with a dialog for each unanswered link out of it."""
    workspace, store = opening.workspace, trust_store(invocation.environment)
    links = store.unanswered(workspace, links_out(workspace))

    def follow(link: str, allow: bool) -> LaunchOptions:
        if allow:
            store.allow(workspace, link)
        else:
            store.decline(workspace, link)
        allowed = store.state(workspace).links
        return _with_link_dialogs(
            invocation, structs.replace(opening, workspace=structs.replace(workspace, links=allowed))
        )

    return structs.replace(opening, links=links, follow=follow)


def _database_lost(workspace: Workspace) -> str:
    """A notice where the workspace has no database any more; else "". An emptied one is named once it is open."""
    if workspace.database.exists() or not (workspace.packs.exists() or workspace.conversations.exists()):
        return ""
    from memory.lost_database import lost_before_opening  # it loads the database, which the first frame does without

    return lost_before_opening(workspace)


def at_a_terminal() -> bool:
    """Whether standard input, output and error are terminals. The screen is drawn on standard error."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def _with_input(text: str, piped: str) -> str:
    """The prompt with piped input below it."""
    message = "\n\n".join(part for part in (text, piped) if part.strip())
    if not message:
        raise Misuse("Nothing to answer", "-p has no text, and standard input is empty.", f'{PROGRAM} -p "TEXT"')
    return message
