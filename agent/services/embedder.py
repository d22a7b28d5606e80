"""Chooses the embedder, for the command line and the chat."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agent.config.settings import all_settings
from agent.services.settings import save_settings, settings_file
from foundation.paths import Workspace
from models.embed.open import NONE, parse_embedder


class ChosenEmbedder(Struct, frozen=True):
    """The embedder as it was set, and the file that names it."""

    spec: str
    path: Path


def use_embedder(
    workspace: Workspace, environment: Mapping[str, str], spec: str, before: str, *, user: bool
) -> ChosenEmbedder:
    """Sets the embedder; `before`, the present one, serves until the new vectors are made.

    `user`: for all workspaces of the user. Raises Misuse for an invalid spec, ConfigError where the file cannot be
    changed.
    """
    parsed = parse_embedder(spec)
    chosen = NONE if parsed is None else str(parsed)
    settings = all_settings()
    file = settings_file(workspace, environment, settings["embed.embedder"], user=user)
    values = [(settings["embed.before"], before)] if before not in {"", NONE, chosen} else []
    save_settings(workspace, environment, file, [*values, (settings["embed.embedder"], chosen)])
    return ChosenEmbedder(chosen, file.path)
