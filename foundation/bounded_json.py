"""JSON from outside, with limits on depth and on the number of values.

Three bytes of JSON (`{},`) become 72 bytes of memory: the size of the text alone bounds nothing.
"""

import json
from typing import Any, cast

MOST_NESTED = 100  # objects and lists within one another
MOST_CONTAINERS = 500_000
MOST_VALUES = 2_000_000

Json = dict[str, Any]
"""A JSON object."""


class BadJson(ValueError):
    """The text cannot be used. The message says why, as the end of a sentence: `it is nested too deeply`."""


def load_json(
    source: str | bytes,
    *,
    most_nested: int = MOST_NESTED,
    most_containers: int = MOST_CONTAINERS,
    strict: bool = True,
) -> Any:
    """The value of a JSON text; NaN and Infinity, which are no JSON, as words. Raises BadJson.

    Without `strict` strings may hold line breaks and other control characters.
    """
    opened = _count(source, "[") + _count(source, "{")
    if opened > most_containers:
        raise BadJson(f"it has more than {most_containers:,} objects and lists")
    if _count(source, ",") > MOST_VALUES:
        raise BadJson(f"it has more than {MOST_VALUES:,} values")
    try:
        value = json.loads(source, parse_constant=str, strict=strict)
    except json.JSONDecodeError as error:
        raise BadJson(f"it is not JSON: {error.msg} (column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise BadJson(f"it is not UTF-8 (byte {error.start})") from error
    except RecursionError as error:
        raise BadJson("it is nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise BadJson("it has a number with too many digits") from error
    if opened > most_nested and is_deeper(value, most_nested):
        raise BadJson("it is nested too deeply")
    return value


def is_deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists are nested more than `levels` deep."""
    level = [value]
    for _ in range(levels + 1):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _count(source: str | bytes, bracket: str) -> int:
    return source.count(bracket) if isinstance(source, str) else source.count(bracket.encode())


def _children(value: Any) -> Any:
    match value:
        case dict():
            return cast("dict[str, Any]", value).values()
        case list():
            return cast("list[Any]", value)
        case _:
            return ()
