"""Extractive summary of older turns: their own sentences, shortened where that is safe. No model is called.

The sentences are chosen together: each word of weight (a figure, a name, a date, a path, a rare noun) counts when it is
said first and hardly again, and what a sentence adds is divided by its tokens. That is greedy maximisation of a
monotone submodular function under a budget (Lin and Bilmes 2011), with the lazy evaluation of Minoux. Openings that
say nothing and names that are only addressed are cut off; a question stands only before its answer, and a sentence
that begins with a pronoun only behind the one that has its noun.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from context.compaction.focus import FOCUS_PREFIX, Focus
from context.compaction.units import MOST_TURNS, Unit, units_of
from context.sources.conditions import entities_in

CountTokens = Callable[[str], int]

LONGEST_LINE = 220  # characters
MOST_UNITS = 4000  # compared in one compaction: those of the most weight by themselves
CARRIED_SHARE = 0.4  # of the summary, for lines of earlier summaries
FACTS_SHARE = 0.03  # of the summary, for figures, dates, addresses and paths that no line has
FOCUS_FACTS_SHARE = 0.1  # the same, where a focus says which of them are wanted
MOST_FACTS = 60  # looked at
UNVERIFIED_SHARE = 0.2  # of the lines, for answers that nothing backs, beside lines of the user
AGAIN = 0.15  # of a word's weight, for each further line that has it
ROUNDS = 6
MOST_TOGETHER = 4  # sentences of one speaker on a line
BRIEF = 600  # tokens of a summary below which references would take too large a part of it
IDF = 0.5  # exponent of a word's rarity in the conversation
ONCE = 0.6  # of the worth of a word that the conversation has once: it belongs to no subject of it
LENGTH = 0.85  # exponent of a line's tokens: 1 prefers the densest lines, 0 the longest

_ASK = re.compile(r"(?:First|Last) asked")
_REFERENCE = re.compile(r"\[[^\[\]\s]{1,80}\]$")
_BEFORE = "Before that:"
_FACTS = "Also named: "
_FACT_LINES = (_FACTS, "Spoken of: ")  # the second is of 0.3.0
_HASH = re.compile(r"\b(?=[0-9a-f]{0,39}[0-9])[0-9a-f]{7,64}\b")
_KINDS = ("flight_number", "date", "money", "email", "url", "file_path")
_HEADS = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}(?: \[|$)|Earlier|Before that:|Decided:|Open:|Said:)"
    rf"|{FOCUS_PREFIX}"
)


class SummaryEntry(Struct, frozen=True):
    """An entry to be summarised."""

    ref: str
    speaker: str
    by_user: bool  # a message of the user
    time: datetime
    text: str
    unverified: bool = False  # an answer that nothing backs


def summarise(
    entries: Sequence[SummaryEntry],
    limit: int,
    count: CountTokens,
    *,
    before: Sequence[str] = (),
    focus: str = "",
) -> str:
    """Summarises the entries in at most `limit` tokens. `before`: texts of earlier summaries that this one replaces.
    `focus`: words of what is kept first.

    Returns at least the first line, however small the limit.
    """
    brief, wanted = limit < BRIEF, Focus(focus)
    head = heading(entries, brief=brief)
    longest = max(60, min(LONGEST_LINE, limit))
    carried = _carried(before, int(limit * CARRIED_SHARE), longest, count, wanted)
    room = limit - count(head) - sum(count(line) + 1 for line in carried)
    asked, room = _asked(entries, longest, room, count)
    facts_room = int(room * (FOCUS_FACTS_SHARE if wanted else FACTS_SHARE))
    lines = _chosen_lines(entries, room - facts_room, count, wanted, "\n".join(asked).casefold(), brief=brief)
    room -= count("\n".join(lines)) + 1 if lines else 0
    facts = _facts(_ranked_facts(entries, before, wanted), "\n".join([*asked, *lines]), room, count)
    return "\n".join([head, *asked, *lines, *facts, *carried])


def heading(entries: Sequence[SummaryEntry], *, brief: bool) -> str:
    """The first line: the days and the number of the entries."""
    if not entries:
        return "Earlier in this conversation."
    first, last = (f"{entry.time:%Y-%m-%d}" for entry in (entries[0], entries[-1]))
    days = first if first == last else f"{first} to {last}"
    how = "" if brief else ": recall a reference for the exact words"
    return f"Earlier ({days}; {len(entries)} entries, archived{how})."


def _asked(entries: Sequence[SummaryEntry], longest: int, room: int, count: CountTokens) -> tuple[list[str], int]:
    """The user's first and last message of a chat with a model: where it began, and what it was about in the end."""
    speakers = {entry.speaker for entry in entries}
    if not speakers <= {"user", "assistant", "tool", "system"}:
        return [], room
    questions = [entry for entry in entries if entry.by_user and entry.text.strip()]
    lines: list[str] = []
    for label, entry in zip(("First asked", "Last asked"), (*questions[:1], *questions[1:][-1:]), strict=False):
        line = f"{label}: “{_cut(' '.join(entry.text.split()), longest)}” [{entry.ref}]"
        tokens = count(line) + 1
        if tokens <= room:
            lines.append(line)
            room -= tokens
    return lines, room


# ── choice of lines ──


def _chosen_lines(
    entries: Sequence[SummaryEntry], room: int, count: CountTokens, focus: Focus, asked: str, *, brief: bool
) -> list[str]:
    """Lines of the most weight per token, in chronological order, under their days; none that `asked` has."""
    found = (unit for unit in units_of(entries, LONGEST_LINE) if unit.shown.removesuffix(" …").casefold() not in asked)
    units = _heaviest(_focused(found, focus))
    if not units or room <= 0:
        return []
    has_own = any(entries[unit.turn].by_user for unit in units)
    bounded = {n: room * UNVERIFIED_SHARE for n, entry in enumerate(entries) if entry.unverified and has_own}
    choice = _Choice(units, [_day(entries[unit.turn], brief=brief) for unit in units], count, bounded)
    lines: list[str] = []
    target = room
    for _ in range(ROUNDS):  # lines together take fewer tokens than each by itself
        longer = _set(choice.units(target), entries, brief=brief)
        used = count("\n".join(longer)) + 1
        if used > room:
            break
        lines, target = longer, target + (room - used)
    return lines


class _Choice:
    """Chooses units for a number of tokens."""

    def __init__(
        self, units: Sequence[Unit], days: Sequence[str], count: CountTokens, bounded: Mapping[int, float]
    ) -> None:
        """`bounded`: the tokens that the units of some turns may take together."""
        self._units = units
        self._days = [day[:10] for day in days]
        self._bounded = bounded
        self._weights = _weights(units)
        self._costs = [count(unit.shown) + 1 for unit in units]
        self._names = {unit.speaker: count(f"{unit.speaker}: ") + 1 for unit in units}
        self._headings = {day[:10]: count(day) + 1 for day in days}
        alone = [(-self._gain(n, Counter()), n) for n in range(len(units))]
        heapq.heapify(alone)
        self._alone = alone  # units by what each adds to nothing, the same in every round

    def units(self, room: int) -> list[Unit]:
        """The units that are worth the most in so many tokens, in chronological order."""
        chosen: list[int] = []
        seen: Counter[str] = Counter()
        days, turns = set[str](), set[int]()
        queue, bounded_room = self._alone.copy(), max(self._bounded.values(), default=0.0)
        while queue:
            _, n = heapq.heappop(queue)
            current = self._gain(n, seen)
            if queue and current < -queue[0][0] - 1e-9:
                heapq.heappush(queue, (-current, n))
                continue
            if current <= 0:
                break
            unit, day = self._units[n], self._days[n]
            tokens = self._costs[n] + (0 if unit.turn in turns else self._names[unit.speaker])
            tokens += 0 if day in days else self._headings[day]
            if tokens > room or (unit.turn in self._bounded and tokens > bounded_room):
                continue
            room -= tokens
            bounded_room -= tokens if unit.turn in self._bounded else 0
            chosen.append(n)
            days.add(day)
            turns.add(unit.turn)
            seen.update(unit.terms)
        return [self._units[n] for n in sorted(chosen)]

    def _gain(self, n: int, seen: Counter[str]) -> float:
        """What the unit adds to those chosen, by its tokens."""
        unit = self._units[n]
        new = sum(self._weights[term] * AGAIN ** min(seen[term], 3) for term in unit.terms)
        return unit.factor * new / (self._costs[n] + self._names[unit.speaker]) ** LENGTH


def _day(entry: SummaryEntry, *, brief: bool) -> str:
    """The heading of a day; with a reference where there is room for that."""
    return f"{entry.time:%Y-%m-%d}" if brief else f"{entry.time:%Y-%m-%d} [{entry.ref}]"


def _set(units: Sequence[Unit], entries: Sequence[SummaryEntry], *, brief: bool) -> list[str]:
    """The lines of chosen units: a heading for each day with the reference of its first turn, a line for each turn."""
    lines: list[str] = []
    day, speaker, together = "", "", 0
    for unit in units:
        if (current := f"{unit.time:%Y-%m-%d}") != day:
            day, speaker = current, ""
            lines.append(_day(entries[unit.turn], brief=brief))
        if unit.speaker == speaker and together < MOST_TOGETHER:
            lines[-1] += f" {unit.shown}"
            together += 1
        else:
            lines.append(f"{unit.speaker}: {unit.shown}")
            speaker, together = unit.speaker, 1
    return lines


def _focused(units: Iterable[Unit], focus: Focus) -> Iterator[Unit]:
    return (replace(unit, factor=unit.factor * focus.factor(unit.terms)) for unit in units)


def _heaviest(units: Iterable[Unit]) -> list[Unit]:
    """The units of the most weight by themselves, in their order, each text once."""
    different = {unit.shown.casefold(): unit for unit in units}
    best = heapq.nlargest(MOST_UNITS, different.values(), key=lambda unit: (unit.factor * unit.density, -unit.turn))
    return sorted(best, key=lambda unit: (unit.turn, unit.place))


def _weights(units: Sequence[Unit]) -> dict[str, float]:
    """What each term is worth: rare words of the language and of the conversation, figures and names the most."""
    counts = Counter(term for unit in units for term in unit.terms)
    own = {term: weight for unit in units for term, weight in unit.terms.items()}
    return {
        term: own[term] * math.log(1 + len(units) / number) ** IDF * (1 if number > 1 else ONCE)
        for term, number in counts.items()
    }


# ── earlier summaries, and facts ──


def _carried(before: Sequence[str], limit: int, longest: int, count: CountTokens, focus: Focus) -> list[str]:
    """Lines of earlier summaries within `limit` tokens: questions first, then those of most weight."""
    room = limit - count(_BEFORE) - 1
    earlier = [line for text in before for line in text.split("\n") if line and not _is_frame(line)]
    weighed = {
        line: sum(unit.factor * sum(unit.terms.values()) for unit in _focused(_line_units(line), focus))
        for line in earlier
    }
    ranked = sorted(
        range(len(earlier)),
        key=lambda n: (_ASK.match(earlier[n]) is None, -weighed[earlier[n]] / max(1, count(earlier[n])) ** LENGTH, -n),
    )
    chosen: dict[int, str] = {}
    for n in ranked:
        reference = _REFERENCE.search(earlier[n])
        text = _REFERENCE.sub("", earlier[n]).strip()
        line = f"{_cut(text, longest)} {reference.group()}" if reference else _cut(text, longest)
        tokens = count(line) + 1
        if tokens <= room and line not in chosen.values():
            chosen[n] = line
            room -= tokens
    return [_BEFORE, *(chosen[n] for n in sorted(chosen))] if chosen else []


def _is_frame(line: str) -> bool:
    return _HEADS.match(line) is not None or line.startswith(_FACT_LINES)


def _line_units(line: str) -> list[Unit]:
    entry = SummaryEntry("", "", by_user=False, time=datetime.min, text=line)
    return list(units_of([entry], LONGEST_LINE * 2))


def _facts(ranked: Iterable[str], shown: str, room: int, count: CountTokens) -> list[str]:
    """A line of facts that no other line holds, as many as there is room for."""
    line = ""
    for fact in ranked:
        if len(fact) > 120 or fact in line or fact in shown:
            continue
        longer = f"{line} · {fact}" if line else _FACTS + fact
        if count(longer) + 1 > room:
            break
        line = longer
    return [line] if line else []


def _ranked_facts(entries: Sequence[SummaryEntry], before: Sequence[str], focus: Focus) -> Iterable[str]:
    """Figures, dates, addresses and paths, those of earlier summaries included: first those on lines about the focus,
    then the most frequent."""
    counts: Counter[str] = Counter()
    for line in (line for text in before for line in text.split("\n")):
        for prefix in _FACT_LINES:
            if line.startswith(prefix):
                counts.update(line.removeprefix(prefix).split(" · "))
    texts = [*before, *(entry.text[:20_000] for entry in entries[-MOST_TURNS:])]
    for text in texts:
        counts.update(_facts_in(text))
    wanted = Counter(fact for line in focus.lines_of(texts) for fact in _facts_in(line)) if focus else Counter[str]()
    return dict.fromkeys(fact for fact, _ in (*wanted.most_common(MOST_FACTS), *counts.most_common(MOST_FACTS)))


def _facts_in(text: str) -> Iterator[str]:
    for kind in _KINDS:
        yield from entities_in(kind, text)
    yield from (match.group() for match in _HASH.finditer(text))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
