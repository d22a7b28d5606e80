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
    "FocusBar": "A focused block",
    "SidePanel": "The panel beside the conversation",
    "FindBar": "Find in the conversation",
    "ChoicesScreen": "Lists",
    "SearchScreen": "The search",
    "PassageScreen": "A passage",
    "TextScreen": "The text viewer",
    "PictureScreen": "The page viewer",
    "PickerScreen": "The conversation and turn picker",
    "PaletteScreen": "The palette, and the list of keys",
    "SettingsScreen": "The settings",
    "ListScreen": "Overview screens: context, memory, models, permissions, servers, figures, archive",
    "ContextScreen": "The context",
    "ArchiveScreen": "The archive",
    "CleanScreen": "Cleanup",
    "MemoryScreen": "Memory files",
    "VersionsScreen": "Versions of memory files",
    "EditScreen": "The memory file editor",
    "ModelsScreen": "The models",
    "PermissionsScreen": "The permissions",
    "ServersScreen": "The MCP servers",
    "LineScreen": "A one-line field",
    "SheetDialog": "A dialog",
    "PermissionScreen": "The permission dialog",
    "QuestionScreen": "A question from the model",
}
_HEAD: Final = """# Keys

Every key, by screen, with the name that the setting `screen.keys` takes
([how](screen.md#keys)). In the program, `F1` lists the keys of the current screen.
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
