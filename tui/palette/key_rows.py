"""The keys that act on a screen, read from its bindings."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from tui.palette.rows import PaletteRow
from tui.typed_app import app_of
from tui.widgets.prompt.fixed_keys import FIXED_KEYS
from tui.widgets.prompt.input import Prompt

HERE: Final = "Here"
TYPING: Final = "Typing in the prompt"
PROMPT: Final = "In the prompt"
EDITING: Final = "In a text field"
EVERYWHERE: Final = "Everywhere"

_NAMES: Final = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "slash": "/",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "question_mark": "?",
    "space": "Space",
    "delete": "Del",
    "super": "Cmd",
}


def key_rows(screen: Screen[Any]) -> list[PaletteRow]:
    """The keys that act on the screen now: what sends, what stops or leaves, and then the others by their place."""
    rows = [*_typed(screen), *_bound(screen)]
    places = [TYPING, HERE, PROMPT, EVERYWHERE, EDITING]
    return sorted(rows, key=lambda row: (places.index(row.place), not row.label.startswith("Esc")))


def shown_key(key: str) -> str:
    """`ctrl+pageup` as `Ctrl+PgUp`."""
    parts = [_NAMES.get(part, part if len(part) == 1 else part.capitalize()) for part in key.split("+")]
    return "+".join(part.upper() if len(parts) > 1 and len(part) == 1 else part for part in parts)


def shown_keys(keys: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(map(shown_key, keys)))


def _bound(screen: Screen[Any]) -> Iterator[PaletteRow]:
    found: dict[tuple[int, str], tuple[DOMNode, Binding, list[str]]] = {}
    bindings = {key: (active.node, active.binding) for key, active in screen.active_bindings.items()}
    below = app_of(screen).screen_stack[0].active_bindings  # without those of a dialog, which hides the application's
    everywhere = {
        key: (active.node, active.binding)
        for key, active in below.items()
        if active.node is app_of(screen) and active.binding.priority
    }
    for key, (node, binding) in {**bindings, **everywhere}.items():
        if binding.description and (binding.id or not isinstance(node, Screen)):
            found.setdefault((id(node), binding.action), (node, binding, []))[2].append(key)
    for node, binding, keys in found.values():
        place = EVERYWHERE if node is app_of(screen) else _place_of(node, binding)
        yield PaletteRow(place, shown_keys(keys), binding.description, binding.id or "", node, binding.action)


def _place_of(node: DOMNode, binding: Binding) -> str:
    """Textual's own bindings of a text field have no id."""
    if isinstance(node, Prompt) and binding.id:
        return PROMPT
    return HERE if binding.id else EDITING


def _typed(screen: Screen[Any]) -> Iterator[PaletteRow]:
    if isinstance(screen.focused, Prompt):
        yield from (PaletteRow(TYPING, keys, sentence) for keys, sentence in FIXED_KEYS)
