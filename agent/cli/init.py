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
    """Make DIR a workspace, or the chosen one.

    The default files (system.yaml, AGENTS.md, SOUL.md, MEMORY.md, skills) are copied where they are missing, and
    never over what is there.
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
        output.narrate("It was a workspace already; what was there is as it was.")
    else:
        output.narrate(f"A new workspace. Open it with: {own_command('--workspace', str(workspace.root))}")
