"""The JSON objects of a stream, and the errors in them, for every provider."""

from collections.abc import Iterator
from typing import Any, cast

from foundation.bounded_json import BadJson, Json, load_json
from models.chat import errors
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.sse import ServerEvent

_PASSING = frozenset({"server_error", "rate_limited"})  # codes of errors after which the request is sent again


def read_object(endpoint: Endpoint, sent: ServerEvent) -> Json:
    """Returns the event's object. Raises AttemptFailed for anything else."""
    try:
        value: object = load_json(sent.data)
    except BadJson as error:
        if sent.event == "error":
            raise AttemptFailed(errors.error_from_body(endpoint, sent.data)) from None
        raise AttemptFailed(errors.invalid_json_error(endpoint, sent.data, str(error))) from None
    value = unwrapped(value)
    if not isinstance(value, dict):
        raise AttemptFailed(errors.invalid_json_error(endpoint, sent.data))
    return cast("Json", value)


def unwrapped(value: object) -> object:
    """The value, or the error that Gemini sends as a list of one."""
    if not isinstance(value, list):
        return value
    items = cast("list[object]", value)
    return items[0] if items and errors.find_error(items[0]) is not None else items


def error_in(endpoint: Endpoint, chunk: Json, *, named: bool = False) -> AttemptFailed | None:
    """The error that a chunk reports, in the server's own words: at its top, in a choice, or in a delta.

    `named`: the event itself is called `error`, so any object is one. An object without choices that holds the words
    of an error is one too.
    """
    holder = next((given for given in _holders(chunk) if given.get("error")), None)
    given = holder or chunk
    found = errors.find_error(given)
    is_error = holder or named or "error" in (chunk.get("type"), chunk.get("object"))
    if not is_error and (found is None or "choices" in chunk):
        return None
    code, message = found or ("", str(given))
    error: object = given.get("error")
    inner = cast("dict[str, Any]", error) if isinstance(error, dict) else given
    status = next((n for key in ("code", "status") if (n := _status(inner.get(key)))), 0)
    failed = errors.error_from_body(endpoint, message, code=code, status=status)
    return AttemptFailed(failed, retry=failed.code in _PASSING)


def _holders(chunk: Json) -> Iterator[Json]:
    yield chunk
    choices = chunk.get("choices")
    for choice in cast("list[object]", choices) if isinstance(choices, list) else ():
        if isinstance(choice, dict):
            given = cast("Json", choice)
            yield given
            yield from (cast("Json", part) for key in ("delta", "message") if isinstance(part := given.get(key), dict))


def _status(value: object) -> int:
    """An HTTP status, also as a string of digits; 0 for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600 else 0
