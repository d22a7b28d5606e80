"""`[forgotten]` in the place of words, also of those that stand behind the escapes of JSON."""

import json
from collections.abc import Callable
from typing import cast

from memory.cold.encoding import to_bytes
from memory.forget.escapes import unescaped
from memory.forgotten.fingerprints import FORGOTTEN, Fingerprints, replaced


def replaced_in_escapes(prints: Fingerprints, text: str) -> str:
    """The text with `[forgotten]` for the words. JSON stays JSON; other text is unescaped where it has to be."""
    if "\\" not in text or not _holds(prints, text):
        return replaced(prints, text)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return _replaced_text(prints, text)
    if isinstance(value, (dict, list)):
        made = json.dumps(walked(cast("object", value), lambda part: replaced_in_escapes(prints, part)))
        return made if not _holds(prints, made) else json.dumps({"forgotten": FORGOTTEN})
    return _replaced_text(prints, text)


def walked(value: object, change: Callable[[str], str]) -> object:
    """The value with every string of it changed."""
    match value:
        case str():
            return change(value)
        case list():
            return [walked(each, change) for each in cast("list[object]", value)]
        case dict():
            fields = cast("dict[str, object]", value)
            return {change(key): walked(each, change) for key, each in fields.items()}
        case _:
            return value


def _holds(prints: Fingerprints, text: str) -> bool:
    return any(prints.holds(to_bytes(read)) for read in (text, *unescaped(text)))


def _replaced_text(prints: Fingerprints, text: str) -> str:
    made = replaced(prints, text)
    while held := next((read for read in unescaped(made) if prints.holds(to_bytes(read))), None):
        made = replaced(prints, held)
    return made
