"""This repository's own AGENTS.md: tests that start the program here are not asked about it."""

from pathlib import Path

from agent.mcp.consent import ConsentStore
from agent.project.instructions import ProjectInstructions
from foundation.paths import Workspace
from tests.paths import ROOT


def decline_own_instructions(config: Path) -> None:
    """Answers the question on trust with never. `config` is the user's configuration folder."""
    instructions = ProjectInstructions(ROOT.resolve(), Workspace(config), ConsentStore(config))
    instructions.refresh()
    instructions.answer(instructions.unanswered, allowed=False)
