"""Parses a query as a person types it: on the command line, in the chat, or in a file of queries."""

import re
from collections.abc import Sequence
from datetime import datetime

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.program import PROGRAM
from foundation.text.dates.filter_dates import parse_moment
from foundation.trust import Trust
from memory.search.query.query import BEST, CONVERSATION, CONVERSATION_KINDS, KINDS, Query
from memory.search_options import SearchOptions
from models.messages import Role

_MAX_LIMIT = 1000
LATEST = 3
"""Number of conversations that `recent` covers."""
_MAX_NEIGHBOURS = 200
_DATE = re.compile(r"\d{4}-\d{1,2}\b")  # intended as a date, even where it is no valid one


def parse_query(text: str = "", options: SearchOptions | None = None, *, clock: Clock) -> Query:
    """Builds a query from text and options as typed: dates as `2026-03-01`, `30d`, `yesterday`.

    `around` is a moment, the id of a hit, or `best`. `recent`: within the latest conversations; without text, about
    `limit` entries of all of them. Raises Misuse.
    """
    given = options or SearchOptions()
    now = clock.now()
    limit = _within("-k", given.limit, _MAX_LIMIT)
    per_conversation = -(-limit // LATEST) if given.recent and not text.strip() else 0
    kinds = tuple(_one_of("--kind", kind, (*KINDS, CONVERSATION)) for kind in given.kinds)
    since, until = _date_range(given.since, given.until, now)
    return Query(
        text=text,
        limit=per_conversation * LATEST or limit,
        latest=LATEST if given.recent else 0,
        page=_within("--page", given.page, _MAX_LIMIT),
        kinds=_kinds(kinds),
        each=per_conversation or int(CONVERSATION in kinds),
        role=_one_of("--role", given.role, [role.value for role in Role]) if given.role else "",
        speaker=given.speaker or "",
        since=since,
        until=until,
        conversation=given.conversation or "",
        label=given.label or "",
        scope=given.scope,
        trust=Trust(_one_of("--trust", given.trust, [trust.value for trust in Trust])) if given.trust else None,
        threshold=_unit_interval("--threshold", given.threshold),
        explain=given.explain,
        types=_filter_values("--type", given.types),
        concepts=_filter_values("--concept", given.concepts),
        files=_filter_values("--file", given.files),
        entities=_filter_values("--entity", given.entities),
        exact=given.exact,
        newest=given.newest,
        around=_around(given.around, text, now),
        before=_within("--before", given.before, _MAX_NEIGHBOURS, least=0),
        after=_within("--after", given.after, _MAX_NEIGHBOURS, least=0),
    )


def _kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Kinds of entries to search; a conversation is found by its messages, results, observations and summaries."""
    others = tuple(kind for kind in kinds if kind != CONVERSATION)
    return others or (CONVERSATION_KINDS if CONVERSATION in kinds else ())


def _date_range(since: str | None, until: str | None, now: datetime) -> tuple[datetime | None, datetime | None]:
    start = parse_moment(since, now) if since else None
    end = parse_moment(until, now, end=True) if until else None
    if start and end and start >= end:
        message = f"{since} to {until} is empty: it ends before or when it starts."
        raise Misuse("Empty date range", message, "Write the earlier date first: 2024-03-01, then 2024-03-31.")
    return start, end


def _around(value: str | None, text: str, now: datetime) -> datetime | str | None:
    """The moment, where the value parses as one; else an id, which only the store can resolve."""
    if value is None or not value.strip():
        return None
    if value.strip().casefold() == BEST:
        if not text.strip():
            raise Misuse("Around what?", "--around best needs a query.", f"{PROGRAM} search boiler --around best")
        return BEST
    try:
        start = parse_moment(value, now)
        return start + (parse_moment(value, now, end=True) - start) / 2  # of a day its noon
    except Misuse:
        if _DATE.match(value.strip()):
            raise
        return value.strip()


def _filter_values(option: str, values: Sequence[str]) -> tuple[str, ...]:
    if any(not value.strip() for value in values):
        raise Misuse("Missing value", f"{option} needs a value.", f"For example: {option} {_EXAMPLES[option]}")
    return tuple(values)


_EXAMPLES = {"--type": "decision", "--concept": "gotcha", "--file": "http.py", "--entity": "Anna"}


def _unit_interval(option: str, number: float) -> float:
    if 0 <= number <= 1:
        return number
    raise Misuse("Out of range", f"{option} {number:g} is not between 0 and 1.", f"For example: {option} 0.4")


def _within(option: str, number: int, most: int, *, least: int = 1) -> int:
    if least <= number <= most:
        return number
    raise Misuse("Out of range", f"{option} {number} is not between {least} and {most}.", f"For example: {option} 10")


def _one_of(option: str, word: str, known: Sequence[str]) -> str:
    if word.casefold() in known:
        return word.casefold()
    raise Misuse("Unknown value", f"{option} {word} is not known.", f"Possible values: {', '.join(known)}.")
