"""Opens what a session knows of the project where the user is."""

from collections.abc import Mapping
from pathlib import Path

from agent.mcp.consent import ConsentStore
from agent.project.environment import Environment
from agent.project.instructions import ProjectInstructions
from context import Context
from foundation.paths import Workspace, config_dir


def open_project(
    context: Context, folder: Path, workspace: Workspace, variables: Mapping[str, str]
) -> ProjectInstructions:
    """The project's instructions; the context's requests get them and the line on where and when.

    `folder` is where the user is, without links.
    """
    instructions = ProjectInstructions(folder, workspace, ConsentStore(config_dir(variables)))
    context.state.sources.project = instructions
    context.state.environment = Environment(folder, instructions.root, is_project=instructions.is_project).line
    return instructions
