"""Values of foreign JSON as the type that they should have; where they are another, the empty one of it."""

from collections.abc import Iterable
from typing import Any, cast


def as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def is_deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists stand more than so many levels within one another."""
    level = [value]
    for _ in range(levels + 1):
        level = [child for one in level for child in _children(one) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return cast("dict[str, Any]", value).values()
        case list():
            return cast("list[Any]", value)
        case _:
            return ()


def as_string(value: Any) -> str:
    return value if isinstance(value, str) else ""
