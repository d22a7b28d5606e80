"""The person's own keys: `screen.keys`, by the ids of actions."""

import difflib
import re
from collections.abc import Mapping
from typing import Final

from textual.keys import Keys

_MODIFIERS: Final = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
_KEYS: Final = frozenset(key.value.rpartition("+")[2] for key in Keys if not key.value.startswith("<"))
_SHORT: Final = {
    "esc": "escape",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "del": "delete",
    "cmd": "super",
    "control": "ctrl",
}
_CHAT: Final = frozenset({"app", "chat", "prompt", "block", "find", "panel"})
_SEPARATOR: Final = re.compile(r"\s*,\s*")


def own_keymap(keys: Mapping[str, str], known: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The keymap for Textual, and a sentence for each line that is not taken.

    `keys` are as the person wrote them: `chat.search: Ctrl+O, F3`. `known` are the actions that there are, by id.
    """
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for action, written in keys.items():
        if action not in known:
            similar = difflib.get_close_matches(action, known, n=1, cutoff=0.5)
            hint = f" Did you mean {similar[0]}?" if similar else " F1 lists them."
            problems.append(f"screen.keys: there is no action “{action}”.{hint}")
            continue
        parsed = {key: _key(key) for key in _SEPARATOR.split(written.strip())}
        wrong = [key for key, found in parsed.items() if not found]
        if wrong:
            problems.append(f"screen.keys: {action}: “{wrong[0]}” is not a key. Write keys as ctrl+o, f3 or alt+up.")
            continue
        keymap[action] = ",".join(parsed.values())
    for action, key, other in _taken_twice(keymap):
        problems.append(f"screen.keys: {action} and {other} have the same key, {key}; {other} keeps it.")
        del keymap[action]
    return keymap, problems


def lost_keys(keymap: Mapping[str, str], defaults: Mapping[str, tuple[str, str]]) -> list[str]:
    """A sentence for each action that loses a key to one that the person gave it to.

    `defaults` are the actions that hold together, by id: their keys and what they do.
    """
    sentences: list[str] = []
    for action, keys in keymap.items():
        had, _ = defaults[action]
        new = set(keys.split(",")) - set(had.split(","))
        for other, (theirs, does) in defaults.items():
            taken = new & set(theirs.split(","))
            if other == action or other in keymap or not taken or not _meet(action, other):
                continue
            left = [key for key in theirs.split(",") if key not in taken]
            keeps = f"; it keeps {', '.join(left)}" if left else f", which has no key now: give {other} another one"
            sentences.append(f"screen.keys: {action} takes {', '.join(sorted(taken))} from {other} ({does}){keeps}.")
    return sentences


def _meet(action: str, other: str) -> bool:
    """Whether both hold in one place; the chat's screen has several."""
    places = {action.partition(".")[0], other.partition(".")[0]}
    return len(places) == 1 or places <= _CHAT


def _key(written: str) -> str:
    """The key as Textual names it; "" where it is none."""
    *modifiers, last = written.split("+") if written not in {"+", ""} else [written]
    parts = [_SHORT.get(part.lower(), part.lower()) for part in modifiers]
    name = last if len(last) == 1 else _SHORT.get(last.lower(), last.lower())
    if not name or not set(parts) <= _MODIFIERS or (len(name) > 1 and name not in _KEYS):
        return ""
    return "+".join([*parts, name.lower() if parts else name])


def _taken_twice(keymap: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Action, key, other action: two of one place with the same key of the person's."""
    found: list[tuple[str, str, str]] = []
    taken: dict[tuple[str, str], str] = {}
    for action, keys in keymap.items():
        place = action.partition(".")[0]
        for key in keys.split(","):
            other = taken.setdefault((place, key), action)
            if other != action and action not in {name for name, _, _ in found}:
                found.append((action, key, other))
    return found
