"""Queries as a person or a program words them, answered."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from foundation.clock import SystemClock
from foundation.errors import Misuse, PalimpsestError
from memory.memory import Memory
from memory.search import Query, parse_query, to_json


class BatchQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a batch: the command line's options by their own names; what is absent is as given there."""

    query: str
    kind: str | list[str] | None = None
    role: str | None = None
    speaker: str | None = None
    since: str | None = None
    until: str | None = None
    conversation: str | None = None
    label: str | None = None
    trust: str | None = None
    threshold: float | None = None
    k: int | None = None
    page: int | None = None
    explain: bool | None = None
    type: str | list[str] | None = None
    concept: str | list[str] | None = None
    file: str | list[str] | None = None
    entity: str | list[str] | None = None
    around: str | None = None
    before: int | None = None
    after: int | None = None
    recent: bool | None = None
    exact: bool | None = None
    newest: bool | None = None


_SEVERAL = {"kind": "kinds", "type": "types", "concept": "concepts", "file": "files", "entity": "entities"}


def asked(text: str, options: Mapping[str, Any]) -> Query:
    """The query that the command line's options make. Raises Misuse."""
    return parse_query(text, clock=SystemClock(), **options)


def answer_lines(memory: Memory, lines: Iterable[bytes], options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer for each line, in order: a result object, or an error object that names the line."""
    for number, line in enumerate(lines, start=1):
        try:
            yield to_json(memory.search.query(_query(line, options)))
        except PalimpsestError as error:
            told = error.as_json()
            yield {"error": {**told, "message": f"Line {number}: {told['message']}"}}


def _query(line: bytes, options: Mapping[str, Any]) -> Query:
    if not line.strip():
        raise Misuse("Empty line", "it is empty.", '{"query": "…"} is what a line looks like.')
    try:
        found = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"), type=BatchQuery)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Misuse("Unreadable line", f"{error}.", '{"query": "…"} is what a line looks like.') from error
    given = {name: value for name in found.__struct_fields__ if (value := getattr(found, name)) is not None}
    text = given.pop("query")
    if "k" in given:
        given["limit"] = given.pop("k")
    for one, several in _SEVERAL.items():
        if one in given:
            said = given.pop(one)
            given[several] = [said] if isinstance(said, str) else said
    return asked(text, {**options, **given})
