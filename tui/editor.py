"""Edits a text in the user's editor, while the screen is away."""

import os
import shutil
import subprocess
from typing import Final

from textual.app import SuspendNotSupported
from textual.dom import DOMNode

from foundation.terminal_text import visible
from tui.lent_terminal import lent_terminal

_NO_EDITOR: Final = "The text was not changed: {}. Set VISUAL or EDITOR to choose an editor."
_INSTALLED: Final = ("vim", "nano", "vi", "notepad")


def editor_command() -> str:
    """VISUAL, EDITOR, the editor of the user's git configuration, or one that is installed; "" for none.

    The configuration of a repository is not read: it could name any program.
    """
    if named := os.environ.get("VISUAL") or os.environ.get("EDITOR") or os.environ.get("GIT_EDITOR"):
        return named
    if git := shutil.which("git"):
        reading = [git, "config", "--global", "--get", "core.editor"]
        found = subprocess.run(reading, capture_output=True, text=True, check=False).stdout.strip()
        if found:
            return found
    return next((name for name in _INSTALLED if shutil.which(name)), "")


def edited_text(node: DOMNode, text: str) -> tuple[str | None, str]:
    """What was saved, or None; and a sentence where no editor could be opened. Blocks until the editor is left."""
    import click

    edited: str | None = None
    failure = ""
    try:
        with lent_terminal(node):
            try:
                edited = click.edit(text, editor_command() or None, extension=".md", require_save=True)
            except click.ClickException as error:
                failure = error.format_message()
            except (OSError, subprocess.SubprocessError) as error:
                failure = str(error)
    except SuspendNotSupported:
        failure = "this terminal cannot run an editor"
    return edited, visible(_NO_EDITOR.format(failure.rstrip("."))) if failure else ""
