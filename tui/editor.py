"""Edits a text in VISUAL or EDITOR, while the screen is away."""

import subprocess
from typing import Final

from textual.app import SuspendNotSupported
from textual.dom import DOMNode

from foundation.terminal_text import visible
from tui.lent_terminal import lent_terminal

_NO_EDITOR: Final = "The text is as it was: {}. VISUAL or EDITOR names the editor."


def edited_text(node: DOMNode, text: str) -> tuple[str | None, str]:
    """What was saved, or None; and a sentence where no editor could be opened. Blocks until the editor is left."""
    import click

    edited: str | None = None
    failure = ""
    try:
        with lent_terminal(node):
            try:
                edited = click.edit(text, extension=".md", require_save=True)
            except click.ClickException as error:
                failure = error.format_message()
            except (OSError, subprocess.SubprocessError) as error:
                failure = str(error)
    except SuspendNotSupported:
        failure = "this terminal cannot give its place to one"
    return edited, visible(_NO_EDITOR.format(failure.rstrip("."))) if failure else ""
