"""`palimpsest init`."""

from pathlib import Path

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.config.workspaces import prepare_workspace
from foundation.program import own_command


@click.command(cls=CliCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def command(folder: Path | None) -> None:
    """Create a workspace in DIR, or the default one.

    Missing default files (system.yaml, AGENTS.md, SOUL.md, MEMORY.md, skills) are added. Existing files are not
    changed.
    """
    invocation = current()
    if folder is not None:
        invocation.workspace_flag = folder
    workspace = invocation.workspace
    existed = workspace.is_workspace
    copied = prepare_workspace(workspace, invocation.environment)
    if invocation.json:
        output.json_object({"workspace": str(workspace.root), "new": not existed, "copied": list(copied)})
        return
    output.line(str(workspace.root))
    for name in copied:
        output.narrate(f"  {name}")
    if existed:
        output.narrate("It already was a workspace; existing files were not changed.")
    else:
        output.narrate(f"Workspace created. Open it with: {own_command('--workspace', str(workspace.root))}")
