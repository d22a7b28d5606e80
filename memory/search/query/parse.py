"""A query from words as a person types them, on the command line, in the chat, or in a file of queries."""

import re
from collections.abc import Sequence
from datetime import datetime

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.program import PROGRAM
from foundation.text.dates.filter_dates import moment
from foundation.trust import Trust
from memory.search.query.query import BEST, CONVERSATION, KINDS, SAID, Query
from models.messages import Role

_MOST_AT_ONCE = 1000
LATEST = 3
"""Conversations that `recent` is about."""
_MOST_BESIDE = 200
_DATE = re.compile(r"\d{4}-\d{1,2}\b")  # meant as one


def parse_query(
    text: str = "",
    *,
    clock: Clock,
    kinds: Sequence[str] = (),
    role: str | None = None,
    speaker: str | None = None,
    since: str | None = None,
    until: str | None = None,
    conversation: str | None = None,
    label: str | None = None,
    trust: str | None = None,
    threshold: float = 0.0,
    limit: int = 10,
    page: int = 1,
    explain: bool = False,
    types: Sequence[str] = (),
    concepts: Sequence[str] = (),
    files: Sequence[str] = (),
    entities: Sequence[str] = (),
    exact: bool = False,
    newest: bool = False,
    around: str | None = None,
    before: int = 5,
    after: int = 5,
    recent: bool = False,
) -> Query:
    """A query from words as they are typed: dates as `2026-03-01`, `30d`, `yesterday`. `around` is a moment, the id of
    what was found, or `best`. `recent`: within the latest conversations; without words, about `limit` entries of them
    together. Raises Misuse."""
    now = clock.now()
    limit = _within("-k", limit, _MOST_AT_ONCE)
    each = -(-limit // LATEST) if recent and not text.strip() else 0
    several = tuple(_one_of("--kind", kind, (*KINDS, CONVERSATION)) for kind in kinds)
    return Query(
        text=text,
        limit=each * LATEST or limit,
        latest=LATEST if recent else 0,
        page=_within("--page", page, _MOST_AT_ONCE),
        kinds=_kinds(several),
        each=each or int(CONVERSATION in several),
        role=_one_of("--role", role, [role.value for role in Role]) if role else "",
        speaker=speaker or "",
        since=moment(since, now) if since else None,
        until=moment(until, now, end=True) if until else None,
        conversation=conversation or "",
        label=label or "",
        trust=Trust(_one_of("--trust", trust, [trust.value for trust in Trust])) if trust else None,
        threshold=_share("--threshold", threshold),
        explain=explain,
        types=_said("--type", types),
        concepts=_said("--concept", concepts),
        files=_said("--file", files),
        entities=_said("--entity", entities),
        exact=exact,
        newest=newest,
        around=_around(around, text, now),
        before=_within("--before", before, _MOST_BESIDE, least=0),
        after=_within("--after", after, _MOST_BESIDE, least=0),
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
        start = moment(said, now)
        return start + (moment(said, now, end=True) - start) / 2  # of a day its noon
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
