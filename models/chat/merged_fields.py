"""Merges the fields that a provider attaches to an answer piece by piece, while it streams."""

from typing import Any, Final, cast

from foundation.bounded_json import Json

_GROWS: Final = frozenset({"text", "thinking", "summary", "signature", "data", "content", "encrypted_content"})
"""Keys of strings that come in pieces. Any other string is replaced by a newer one."""
_ENDS: Final = ("signature", "data", "encrypted_content")  # a part that has one of them is complete


def merged(old: Json, new: Json) -> Json:
    """Returns both objects as one. Empty values leave what is there."""
    made = dict(old)
    for key, value in new.items():
        if value in (None, "", [], {}):
            continue
        before = made.get(key)
        match before, value:
            case dict(), dict():
                made[key] = merged(cast("Json", before), cast("Json", value))
            case list(), list():
                made[key] = _appended(cast("list[Any]", before), cast("list[Any]", value))
            case _, list():
                made[key] = _appended([], cast("list[Any]", value))
            case str(), str() if key in _GROWS:
                made[key] = before + value
            case _, dict():
                made[key] = merged({}, cast("Json", value))
            case _:
                made[key] = value
    return {key: value for key, value in made.items() if value != {}}


def _appended(parts: list[Any], pieces: list[Any]) -> list[Any]:
    """The parts of a list with more pieces: each goes to the part of its index, or to the last one of its type that is
    not complete."""
    made = list(parts)
    for piece in pieces:
        place = next((n for n in range(len(made) - 1, -1, -1) if _continues(made[n], piece)), None)
        if place is None:
            made.append(piece)
        else:
            made[place] = merged(made[place], piece)
    return made


def _continues(part: Any, piece: Any) -> bool:
    if not (isinstance(part, dict) and isinstance(piece, dict)):
        return False
    known, given = cast("Json", part), cast("Json", piece)
    if known.get("type") != given.get("type") or known.get("id") not in (None, given.get("id") or known.get("id")):
        return False
    if "index" in known or "index" in given:
        return known.get("index") == given.get("index")
    return bool(given.get("type")) and not any(known.get(key) for key in _ENDS)
