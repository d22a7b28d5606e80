"""Privacy of structured values: each text in a decoded value is cleared, with the name of its field as context.

A text is never cleared in its escaped form: `\\u003cprivate\\u003e` and a key after `\\n` show only once decoded.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, NewType, TypeVar, cast

import msgspec
from msgspec import Struct, structs

from foundation.privacy.privacy import Cleared
from foundation.privacy.privacy import clear as clear_text
from foundation.privacy.private_tags import TextSource

ClearedFields = NewType("ClearedFields", dict[str, Any])
"""A decoded JSON object that may be written to disk. Made here and nowhere else."""
ClearedBytes = NewType("ClearedBytes", bytes)
"""Encoded text that may be written to disk. Made here and nowhere else."""

S = TypeVar("S")

EMPTY: Final = Cleared("")
NO_FIELDS: Final = ClearedFields({})
NO_BYTES: Final = ClearedBytes(b"")

_OF_THE_PARENT: Final = frozenset(
    {"value", "values", "plain", "plaintext", "text", "raw", "data", "content", "current", "old", "new", "default"}
)
"""Keys that say nothing themselves: the value is named by the key above it, or by a sibling called name or key."""
_NAMING: Final = ("name", "key")
_LONGEST_NAME: Final = 64
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAY_BE_JSON: Final = re.compile(r"\s*[\[{]")


def cleared_fields(fields: Mapping[str, Any]) -> ClearedFields:
    """A decoded JSON object with every key and value cleared: `{"password": "Xk29!fjqLm2"}` by the key's name."""
    return ClearedFields(cast(dict[str, Any], _cleared(dict(fields), "")))


def cleared_value(value: Any, name: str = "") -> Any:
    """Any decoded JSON value, cleared. `name` is what it is called, where it is called something."""
    return _cleared(value, name)


def cleared_json(text: str) -> Cleared:
    """Clears JSON text: decodes, clears and encodes it. Invalid JSON is cleared as text, escapes included.

    Gives the text itself where nothing was taken out.
    """
    pairs_repeat = False

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal pairs_repeat
        made = dict(found)
        pairs_repeat = pairs_repeat or len(made) < len(found)
        return made

    try:
        value = json.loads(text, object_pairs_hook=pairs)
        cleared = _cleared(value, "")
    except (ValueError, RecursionError):
        return _cleared_escaped(text)
    made = text if cleared == value and not pairs_repeat else json.dumps(cleared, ensure_ascii=False)
    if (cleared_json_text := _clear(made)) == made:
        return cleared_json_text
    return (
        cleared_json_text
        if _is_json(cleared_json_text)
        else Cleared(json.dumps({"cleared": cleared_json_text}, ensure_ascii=False))
    )


def cleared_struct(value: S) -> S:
    """A struct, or a tuple of structs, with each of its texts cleared. Bytes, numbers and enums stay."""
    return cast(S, _cleared_parts(value))


def encoded_struct(value: object) -> ClearedBytes:
    """`cleared_struct` as JSON bytes."""
    return ClearedBytes(msgspec.json.encode(cleared_struct(value)))


def json_line(text: Cleared) -> Cleared:
    """A cleared text as a line of JSON."""
    return Cleared(json.dumps(text) + "\n")


def joined(texts: Iterable[Cleared]) -> Cleared:
    """Cleared texts in a row."""
    return Cleared("".join(texts))


def edited(text: Cleared, edit: Callable[[str], str]) -> Cleared:
    """A cleared text after an edit that brings in no words: a cut, a changed character."""
    return Cleared(edit(text))


def joined_fields(fields: Mapping[str, Any], more: ClearedFields) -> ClearedFields:
    """The fields, cleared, with more of them that were cleared before."""
    return ClearedFields({**cleared_fields(fields), **more})


def field_as_given(name: str, value: Any) -> ClearedFields:
    """A field that is kept to the byte, such as a signature. A test reviews each caller."""
    return ClearedFields({name: value})


def part_of(text: Cleared, start: int = 0, end: int | None = None) -> Cleared:
    """A stretch of a cleared text."""
    return Cleared(text[start:end])


def as_made(text: str) -> Cleared:
    """Marks text that the program made itself as cleared: a random id, a fixed name. A test reviews each caller."""
    return Cleared(text)


def bytes_as_made(raw: bytes) -> ClearedBytes:
    """The same of bytes: keyed hashes, numbers. Each caller is reviewed by a test."""
    return ClearedBytes(raw)


def as_stored(text: str) -> Cleared:
    """Text read back from the store, which was cleared on its way in. Each caller is reviewed by a test."""
    return Cleared(text)


def _clear(text: str) -> Cleared:
    """What is in a structured value comes from others, or was cleared before: a tag that is never closed is text."""
    return clear_text(text, TextSource.OTHER)


def _cleared(value: Any, name: str) -> Any:
    match value:
        case str():
            return _cleared_text(value, name)
        case dict():
            return _cleared_object(cast(dict[Any, Any], value), name)
        case list() | tuple():
            return [_cleared(item, name) for item in cast(list[Any], value)]
        case bool() | None:
            return value
        case int() | float():
            text = str(value)
            return value if (cleared := _cleared_text(text, name)) == text else cleared
        case _:
            return value


def _cleared_object(fields: dict[Any, Any], above: str) -> dict[str, Any]:
    called = next((item for key in _NAMING if isinstance(item := fields.get(key), str)), "") or above
    made: dict[str, Any] = {}
    for key, item in ((str(key), item) for key, item in fields.items()):
        name = f"{called}.{key}" if called and key.lower() in _OF_THE_PARENT else key
        made[_free(_clear(key), made)] = _cleared(item, name)
    return made


def _cleared_text(text: str, name: str) -> Cleared:
    cleared = _clear(text)
    if _MAY_BE_JSON.match(cleared):
        cleared = _cleared_within(cleared)
    if not name or not cleared:
        return cleared
    lead = f'"{_clear(name)[-_LONGEST_NAME:]}": "'
    named = _clear(f'{lead}{cleared}"')
    if named.startswith(lead) and named.endswith('"'):
        return Cleared(named[len(lead) : -1])
    return cleared


def _cleared_within(text: Cleared) -> Cleared:
    """A text that is JSON itself, cleared as what it says; any other stays."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return cleared_json(text)


def _cleared_escaped(text: str) -> Cleared:
    """Text that may hold JSON's escapes and is no JSON: where they hide something, it is kept without them."""
    plain = _ESCAPE.sub(_unescaped, text)
    cleared = _clear(plain)
    return _clear(text) if cleared == plain else cleared


def _unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _free(key: str, taken: Mapping[str, Any]) -> str:
    """The key, numbered where another was cleared to the same."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{key} {number}"
    return free


def _cleared_parts(value: Any) -> Any:
    match value:
        case str() if not isinstance(value, Enum):
            return _cleared_text(value, "")
        case Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            changed = {name: new for name, old in fields.items() if (new := _cleared_parts(old)) != old}
            return structs.replace(value, **changed) if changed else value
        case dict():
            mapping = cast(dict[Any, Any], value)
            return {_cleared_parts(key): _cleared_parts(item) for key, item in mapping.items()}
        case tuple():
            return tuple(_cleared_parts(item) for item in cast(tuple[Any, ...], value))
        case _:
            return value
