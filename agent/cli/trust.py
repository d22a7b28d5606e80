"""`palimpsest trust`: trusts workspaces, lists them, and allows links."""

from pathlib import Path

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.services.trust import (
    allow_link,
    contents_object,
    contents_of,
    record_object,
    trust_instructions,
    trust_scripts,
    trust_workspace,
)
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.workspace_trust import trust_command, trust_key, trust_store


@click.command(cls=CliCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List the workspaces that you trust.")
@click.option("--remove", is_flag=True, help="Stop trusting DIR.")
@click.option(
    "--allow", "link", metavar="LINK", help="Allow LINK (such as MEMORY.md) to lead out of DIR to its current target."
)
def command(*, folder: Path | None, listing: bool, remove: bool, link: str | None) -> None:
    """Trust DIR, or the current workspace, in its current state.

    A workspace made elsewhere (cloned, unpacked, copied) is read-only until you trust it. Trust applies to this folder.
    If its config.yaml, hooks or skills change later, the changes are inactive until you trust it again.
    """
    if listing + remove + (link is not None) > 1:
        raise Misuse("Two things at once", "--list, --remove and --allow cannot be combined.")
    if listing:
        _list()
        return
    invocation = current()
    if folder is not None:
        invocation.workspace_flag = folder
    workspace = invocation.workspace
    if remove:
        _remove(workspace)
    elif link is not None:
        _allow(workspace, link)
    else:
        _trust(workspace)


def _trust(workspace: Workspace) -> None:
    invocation = current()
    scripts = trust_scripts(workspace.root, invocation.environment)
    if scripts and not invocation.json:
        output.narrate(f"Hooks will run these files in their current state: {', '.join(scripts)}.")
    instructions = trust_instructions(workspace, invocation.environment)
    if instructions and not invocation.json:
        output.narrate(f"The model will read these instructions in their current state: {', '.join(instructions)}.")
    if (scripts or instructions) and not workspace.is_workspace:  # a project whose workspace is elsewhere
        if invocation.json:
            trusted = {"scripts": list(scripts), "instructions": list(instructions)}
            output.json_object({"workspace": trust_key(workspace), "trusted": False, **trusted})
        return
    contents = contents_of(workspace)
    if not invocation.json:
        for line in contents.lines:
            output.narrate(line)
    if notice := trust_workspace(workspace, invocation.environment).set_aside:
        output.narrate(notice)
    if invocation.json:
        output.json_object({"workspace": trust_key(workspace), "trusted": True, "brings": contents_object(contents)})
        return
    output.narrate(f"It is now trusted. `{trust_command(workspace, '--remove')}` undoes that.")


def _remove(workspace: Workspace) -> None:
    invocation = current()
    was_trusted = trust_store(invocation.environment).remove(workspace)
    if invocation.json:
        output.json_object({"workspace": trust_key(workspace), "trusted": False, "was_trusted": was_trusted})
        return
    output.narrate(
        f"{trust_key(workspace)} {'is' if was_trusted else 'was'} not trusted{' any more' if was_trusted else ''}."
    )


def _allow(workspace: Workspace, link: str) -> None:
    invocation = current()
    target = allow_link(workspace, invocation.environment, link)
    if invocation.json:
        output.json_object({"workspace": trust_key(workspace), "link": link, "target": str(target)})
        return
    output.narrate(f"{link} may now lead to {target}; a different target needs a new confirmation.")


def _list() -> None:
    invocation = current()
    records = trust_store(invocation.environment).records()
    if invocation.json:
        output.json_object({"workspaces": [record_object(record) for record in records]})
        return
    rows = [
        (record.path, ", ".join(f"{name} → {target}" for name, target in record.links.items())) for record in records
    ]
    if rows:
        output.table(rows, ("WORKSPACE", "LINKS FOLLOWED"))
    else:
        output.narrate("No workspace is trusted yet.")
