"""A query from words as a person types them, on the command line, in the chat, or in a file of queries."""

import re
from collections.abc import Sequence
from datetime import datetime

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.program import PROGRAM
from foundation.text.dates.filter_dates import parse_moment
from foundation.trust import Trust
from memory.search.query.query import BEST, CONVERSATION, KINDS, SAID, Query
from memory.search_options import SearchOptions
from models.messages import Role

_MOST_AT_ONCE = 1000
LATEST = 3
"""Conversations that `recent` is about."""
_MOST_BESIDE = 200
_DATE = re.compile(r"\d{4}-\d{1,2}\b")  # meant as one


def parse_query(text: str = "", options: SearchOptions | None = None, *, clock: Clock) -> Query:
    """A query from words and options as they are typed: dates as `2026-03-01`, `30d`, `yesterday`.

    `around` is a moment, the id of a hit, or `best`. `recent`: within the latest conversations; without words, about
    `limit` entries of them together. Raises Misuse.
    """
    given = options or SearchOptions()
    now = clock.now()
    limit = _within("-k", given.limit, _MOST_AT_ONCE)
    each = -(-limit // LATEST) if given.recent and not text.strip() else 0
    several = tuple(_one_of("--kind", kind, (*KINDS, CONVERSATION)) for kind in given.kinds)
    return Query(
        text=text,
        limit=each * LATEST or limit,
        latest=LATEST if given.recent else 0,
        page=_within("--page", given.page, _MOST_AT_ONCE),
        kinds=_kinds(several),
        each=each or int(CONVERSATION in several),
        role=_one_of("--role", given.role, [role.value for role in Role]) if given.role else "",
        speaker=given.speaker or "",
        since=parse_moment(given.since, now) if given.since else None,
        until=parse_moment(given.until, now, end=True) if given.until else None,
        conversation=given.conversation or "",
        label=given.label or "",
        trust=Trust(_one_of("--trust", given.trust, [trust.value for trust in Trust])) if given.trust else None,
        threshold=_share("--threshold", given.threshold),
        explain=given.explain,
        types=_said("--type", given.types),
        concepts=_said("--concept", given.concepts),
        files=_said("--file", given.files),
        entities=_said("--entity", given.entities),
        exact=given.exact,
        newest=given.newest,
        around=_around(given.around, text, now),
        before=_within("--before", given.before, _MOST_BESIDE, least=0),
        after=_within("--after", given.after, _MOST_BESIDE, least=0),
    )


def _kinds(several: Sequence[str]) -> tuple[str, ...]:
    """A conversation is found by what was said in it, and by its summaries."""
    rest = tuple(kind for kind in several if kind != CONVERSATION)
    return rest or (SAID if CONVERSATION in several else ())


def _around(said: str | None, text: str, now: datetime) -> datetime | str | None:
    """A moment where it is one; else it is taken for an id, which only the store knows."""
    if said is None or not said.strip():
        return None
    if said.strip().casefold() == BEST:
        if not text.strip():
            raise Misuse(
                "Around what?", "--around best needs words to look for.", f"{PROGRAM} search boiler --around best"
            )
        return BEST
    try:
        start = parse_moment(said, now)
        return start + (parse_moment(said, now, end=True) - start) / 2  # of a day its noon
    except Misuse:
        if _DATE.match(said.strip()):
            raise
        return said.strip()


def _said(option: str, values: Sequence[str]) -> tuple[str, ...]:
    if any(not value.strip() for value in values):
        raise Misuse("Nothing named", f"{option} needs a value.", f"{option} {_EXAMPLES[option]}, for instance.")
    return tuple(values)


_EXAMPLES = {"--type": "decision", "--concept": "gotcha", "--file": "http.py", "--entity": "Anna"}


def _share(option: str, number: float) -> float:
    if 0 <= number <= 1:
        return number
    raise Misuse("Out of range", f"{option} {number:g} is not between 0 and 1.", f"Use {option} 0.4, for instance.")


def _within(option: str, number: int, most: int, *, least: int = 1) -> int:
    if least <= number <= most:
        return number
    raise Misuse(
        "Out of range", f"{option} {number} is not between {least} and {most}.", f"Use {option} 10, for instance."
    )


def _one_of(option: str, word: str, known: Sequence[str]) -> str:
    if word.casefold() in known:
        return word.casefold()
    raise Misuse("Unknown word", f"{option} {word} is not known.", f"It can be {', '.join(known)}.")
