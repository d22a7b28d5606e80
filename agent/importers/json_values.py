"""Values of foreign JSON as the type that they should have; where they are another, the empty one of it."""

from typing import Any, cast


def as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_string(value: Any) -> str:
    return value if isinstance(value, str) else ""
