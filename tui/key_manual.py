"""Prints the keys of every screen from their bindings: `python -m tui.key_manual > docs/reference/keys.md`."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from textual.binding import Binding
from textual.dom import DOMNode

from tui.app import PalimpsestApp
from tui.bindings import BOUND
from tui.output.app import ChangesOnlyApp
from tui.palette.key_rows import shown_keys
from tui.widgets.prompt.fixed_keys import FIXED_KEYS
from tui.widgets.prompt.input import Prompt

_TITLES: Final = {
    "ChatScreen": "The chat",
    "Prompt": "The prompt",
    "FocusBar": "A block that has the focus",
    "SidePanel": "The panel beside the conversation",
    "FindBar": "Finding in the conversation",
    "ChoicesScreen": "A list to choose from",
    "SearchScreen": "The search",
    "PassageScreen": "A passage",
    "TextScreen": "A whole text",
    "PictureScreen": "A page as a picture",
    "PickerScreen": "The picker of conversations and turns",
    "PaletteScreen": "The palette, and the list of keys",
    "SettingsScreen": "The settings",
    "ListScreen": "What the program knows: context, memory, models, permissions, servers, figures, archive",
    "ContextScreen": "The context",
    "ArchiveScreen": "The archive",
    "CleanScreen": "Cleaning up what nobody touched",
    "MemoryScreen": "The files of memory",
    "VersionsScreen": "The versions of files of memory",
    "EditScreen": "The editor of a file of memory",
    "ModelsScreen": "The models",
    "PermissionsScreen": "The permissions",
    "ServersScreen": "The MCP servers",
    "LineScreen": "A field for one line",
    "SheetDialog": "A dialog",
    "PermissionScreen": "A question of permission",
    "QuestionScreen": "A question of the model",
}
_HEAD: Final = """# Keys

Every key by the screen where it holds, with the name that the setting `screen.keys` takes
([how](screen.md#keys)). In the program `F1` shows the same for the place where you are.
Written by `python -m tui.key_manual`.
"""


def manual() -> str:
    """The whole page."""
    parts = [_HEAD, *_section("Everywhere", (PalimpsestApp, ChangesOnlyApp))]
    for kind in BOUND:
        parts += _section(_TITLES.get(kind.__name__, kind.__name__), (kind,))
    return "\n".join(parts)


def _section(title: str, kinds: Sequence[type[DOMNode]]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| key | what it does | name |\n|---|---|---|"
    for kind in kinds:
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding):
                yield f"| {_cell(shown_keys(binding.key.split(',')))} | {_cell(binding.description)} | `{binding.id}` |"
        if kind is Prompt:
            yield from (f"| {_cell(keys)} | {_cell(sentence)} | |" for keys, sentence in FIXED_KEYS)
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(manual())
