"""Structs in which every text is a given one, made from their types: a new event or field is held at once."""

import asyncio
import enum
import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from agent.events import SessionEvent
from tests.tui.fakes import NOW

PLAIN = {int: 3, float: 1.5, bool: False, bytes: b"x", datetime: NOW, Any: "x", type(None): None}


def filled(kind: Any, text: str) -> Any:
    """A value of this type; every text within it is `text`. Raises TypeError for a type it does not know."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is str:
        return text
    if kind in PLAIN:
        return PLAIN[kind]
    if origin in (Union, types.UnionType):
        return filled(next((each for each in inner if each is not type(None)), type(None)), text)
    if origin is Literal:
        return inner[0]
    if origin is tuple and inner[-1] is not Ellipsis:
        return tuple(filled(each, text) for each in inner)
    if origin in (tuple, list, Sequence, frozenset, set):
        value = filled(inner[0], text)
        return [value] if origin in (list, Sequence) else (frozenset if origin in (set, frozenset) else tuple)((value,))
    if origin in (dict, Mapping):
        return {filled(inner[0], text): filled(inner[1], text)}
    if origin is asyncio.Future:
        return asyncio.get_running_loop().create_future()
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        fields = msgspec.structs.fields(kind)
        return kind(**{each.name: filled(hints[each.name], text) for each in fields})
    raise TypeError(f"no example is known of {kind}")


def all_events(text: str) -> list[Any]:
    """One of each event of a turn. The parts of an answer, which are split elsewhere, are among them."""
    return [filled(kind, text) for kind in get_args(SessionEvent)]
