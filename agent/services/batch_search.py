"""Queries from the command line's options, and batches of them as JSON lines."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from foundation.clock import SystemClock
from foundation.errors import Misuse, PalimpsestError
from foundation.typed_json import decode_json
from memory.memory import Memory
from memory.search import Query, parse_query, to_json
from memory.search.model_functions import FilterArguments, filter_options
from memory.search_options import OPTIONS, SearchOption, SearchOptions


def _type_in_batch(option: SearchOption) -> Any:
    return option.type | list[str] | None if option.repeatable else option.type | None


BatchQuery: Final = msgspec.defstruct(
    "BatchQuery",
    [
        ("query", str),
        ("filters", FilterArguments | None, None),
        *((option.name, _type_in_batch(option), None) for option in OPTIONS),
    ],
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
)
"""One line of a batch: the command line's options by name; absent ones default to those of the command line.
`filters` decide what is found, as those of the function `exact` do; the query then only ranks."""


def query_of_options(text: str, options: Mapping[str, Any]) -> Query:
    """The query of the command line's options. Raises Misuse."""
    return parse_query(text, SearchOptions(**options), clock=SystemClock())


def answer_lines(memory: Memory, lines: Iterable[bytes], options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A result object for each line, in order, or an error object that names the line."""
    for number, line in enumerate(lines, start=1):
        try:
            yield to_json(memory.search.query(_query(line, options)))
        except PalimpsestError as error:
            error_object = error.as_json()
            yield {"error": {**error_object, "message": f"Line {number}: {error_object['message']}"}}


def _query(line: bytes, options: Mapping[str, Any]) -> Query:
    if not line.strip():
        raise Misuse("Empty line", "it is empty.", 'Write lines like {"query": "…"}.')
    try:
        parsed = decode_json(line.removeprefix(b"\xef\xbb\xbf"), BatchQuery)
    except msgspec.DecodeError as error:
        raise Misuse("Unreadable line", f"{error}.", 'Write lines like {"query": "…"}.') from error
    options_given = {name: getattr(parsed, name) for name in parsed.__struct_fields__}
    values = {option.field: _value(option, options_given[option.name]) for option in OPTIONS}
    filters = _given_filters(options_given["filters"]) if options_given["filters"] else {}
    given = {name: value for name, value in values.items() if value is not None}
    query = query_of_options(options_given["query"], {**options, **filters, **given})
    return msgspec.structs.replace(query, filters_decide=bool(filters))


def _given_filters(filters: FilterArguments) -> dict[str, Any]:
    """The options that differ from none given."""
    unset = msgspec.structs.asdict(SearchOptions())
    options = msgspec.structs.asdict(filter_options(filters))
    return {name: value for name, value in options.items() if value and value != unset[name]}


def _value(option: SearchOption, value: Any) -> Any:
    """Wraps a single value of a repeatable option in a list."""
    return [value] if option.repeatable and isinstance(value, str) else value
