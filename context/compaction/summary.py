"""Extractive summary of older turns: their own sentences, each with its entry. No model is called.

It keeps the first and the last question, decisions, open points, and the names, figures, dates and paths mentioned.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from context.sources.conditions import found
from foundation.text.folding import UNSPACED
from foundation.text.sentences import is_question, sentences

CountTokens = Callable[[str], int]

LONGEST_LINE = 220  # characters
MOST_SENTENCES = 4000  # looked at in one compaction
CARRIED_SHARE = 0.4  # of the summary, for what earlier ones said
FACTS_SHARE = 0.25  # of the summary, for names and figures

_DECIDED = re.compile(
    r"\b(?:decid\w+|agree[ds]?|settled|we(?:'ll| will)|let's|going (?:with|to)|chose|chosen|picked|booked|confirmed"
    r"|fixed|done|resolved|instead of|must|always|never|prefer\w*)\b|决定|同意|确定|选择|改用|已经|完成|订好|必须|不要",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:todo|to do|remind|still|pending|waiting|need(?:s)? to|have to|don't forget|later|next|unresolved"
    r"|open question|tomorrow|deadline|due|follow up)\b|待办|记得|提醒|还没|尚未|需要|下一步|明天|截止|之后",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][\w'-]{2,30}(?: [A-Z][\w'-]{1,30}){0,3}")
_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9,.:]{0,20}(?![\w])")
_HASH = re.compile(r"\b(?=[0-9a-f]{0,39}[0-9])[0-9a-f]{7,64}\b")
_REFERENCE = re.compile(r"\[[^\[\]\s]{1,80}\]$")
_ASK = re.compile(r"(?:First|Last) asked")
_BEFORE = "Before that:"
_FACTS = "Spoken of: "
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SHORTEST = 8  # columns of a sentence that says something: a Chinese character fills two
_KINDS = ("flight_number", "date", "money", "email", "url", "file_path")


class SummaryEntry(Struct, frozen=True):
    """An entry to be summarised: its id, speaker, time and text."""

    ref: str
    speaker: str
    asked: bool  # a user's own message
    time: datetime
    text: str


class _Line(Struct, frozen=True):
    place: int
    ref: str
    speaker: str
    asked: bool
    text: str
    weight: float  # of the sentence by itself
    recency: float


def summarise(said: Sequence[SummaryEntry], limit: int, count: CountTokens, *, before: Sequence[str] = ()) -> str:
    """Summarises the entries in at most `limit` tokens. `before`: texts of earlier summaries that this one replaces.

    Gives at least its first line, however small the limit.
    """
    head = _heading(said)
    lines = [head]
    longest = max(60, min(LONGEST_LINE, limit))
    carried = _carried(before, int(limit * CARRIED_SHARE), longest, count)
    room = limit - count(head) - sum(count(line) + 1 for line in carried)
    asks = [one for one in said if one.asked and one.text.strip()]
    if asks:
        room = _add(lines, _ask("First asked", asks[0], longest), room, count)
        if len(asks) > 1:
            room = _add(lines, _ask("Last asked", asks[-1], longest), room, count)
    facts_room = int(room * FACTS_SHARE)
    told = list(_scored(said, longest))
    room -= facts_room
    decided = [line for line in told if _DECIDED.search(line.text)]
    room -= _section(lines, "Decided:", decided, room // 2, count)
    used = set(lines)
    open_lines = [line for line in told if _is_open(line) and _shown(line) not in used]
    room -= _section(lines, "Open:", open_lines, room // 2, count)
    used = set(lines)
    rest = [line for line in told if line.weight >= 1 and _shown(line) not in used]
    room -= _section(lines, "Said:", rest, room, count)
    _add(lines, _facts(said, before, room + facts_room, count), room + facts_room, count)
    return "\n".join([*lines, *carried])


def _heading(said: Sequence[SummaryEntry]) -> str:
    if not said:
        return "Earlier in this conversation."
    first, last = (f"{one.time:%Y-%m-%d}" for one in (said[0], said[-1]))
    days = first if first == last else f"{first} to {last}"
    return f"Earlier ({days}; {len(said)} entries, archived: recall a reference for the exact words)."


def _ask(label: str, one: SummaryEntry, longest: int) -> str:
    return f"{label}: “{_cut(' '.join(one.text.split()), longest)}” [{one.ref}]"


def _section(lines: list[str], title: str, found: Iterable[_Line], most: int, count: CountTokens) -> int:
    """Adds the best lines that fit `most` tokens, in chronological order; gives their tokens."""
    chosen: list[_Line] = []
    used = count(title) + 1
    for line in sorted(found, key=lambda line: -(line.weight + line.recency)):
        tokens = count(_shown(line)) + 1
        if used + tokens <= most:
            chosen.append(line)
            used += tokens
    if not chosen:
        return 0
    lines.append(title)
    lines += [_shown(line) for line in sorted(chosen, key=lambda line: line.place)]
    return used


def _carried(before: Sequence[str], most: int, longest: int, count: CountTokens) -> list[str]:
    """Lines of earlier summaries in `most` tokens: questions and decisions first, then the newest."""
    room = most - count(_BEFORE) - 1
    found = [line for text in before for line in text.split("\n") if _REFERENCE.search(line)]
    ranked = sorted(
        range(len(found)), key=lambda n: (_ASK.match(found[n]) is None, -bool(_DECIDED.search(found[n])), -n)
    )
    kept: dict[int, str] = {}
    for n in ranked:
        reference = _REFERENCE.search(found[n])
        words = _REFERENCE.sub("", found[n]).strip()
        line = f"{_cut(words, longest)} {reference.group()}" if reference else words
        tokens = count(line) + 1
        if tokens <= room and line not in kept.values():
            kept[n] = line
            room -= tokens
    return [_BEFORE, *(kept[n] for n in sorted(kept))] if kept else []


def _add(lines: list[str], line: str, room: int, count: CountTokens) -> int:
    tokens = count(line) + 1
    if not line or tokens > room:
        return room
    lines.append(line)
    return room - tokens


def _scored(said: Sequence[SummaryEntry], longest: int) -> Iterator[_Line]:
    seen: set[str] = set()
    place = 0
    for n, one in enumerate(said):
        for sentence in _sentences(one.text):
            key = sentence.casefold()
            if key in seen:
                continue
            seen.add(key)
            place += 1
            if place > MOST_SENTENCES:
                return
            shown = _cut(sentence, longest)
            yield _Line(place, one.ref, one.speaker, one.asked, shown, _weight(sentence, one), n / len(said))


def _sentences(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        line = " ".join(sentence.text.split())
        columns = len(line) + len(_UNSPACED.findall(line)) if len(line) < _SHORTEST else len(line)
        if columns >= _SHORTEST and any(character.isalnum() for character in line):
            yield line


def _weight(sentence: str, one: SummaryEntry) -> float:
    score = 1.0 if one.asked else 0.0
    score += 3.0 if _DECIDED.search(sentence) else 0.0
    score += 2.0 if _OPEN.search(sentence) else 0.0
    score += 1.5 if _NUMBER.search(sentence) else 0.0
    score += 1.0 if _NAME.search(sentence) else 0.0
    score += 1.0 if "?" in sentence or "？" in sentence else 0.0
    if len(sentence) > LONGEST_LINE:
        score -= 1.5
    return score


def _is_open(line: _Line) -> bool:
    return bool(_OPEN.search(line.text)) or (line.asked and is_question(line.text))


def _facts(said: Sequence[SummaryEntry], before: Sequence[str], room: int, count: CountTokens) -> str:
    """Names, figures, dates and paths, the most frequent first, those of earlier summaries included."""
    seen: Counter[str] = Counter()
    told = [line for text in before for line in text.split("\n") if line.startswith(_FACTS)]
    seen.update(fact for line in told for fact in line.removeprefix(_FACTS).split(" · "))
    for one in said:
        text = one.text[:20_000]
        for kind in _KINDS:
            seen.update(found(kind, text))
        seen.update(match.group() for match in _NAME.finditer(text))
        seen.update(match.group() for match in _HASH.finditer(text))
        seen.update(number for number in (m.group().rstrip(".,:") for m in _NUMBER.finditer(text)) if len(number) > 2)
    line = ""
    for fact, _ in seen.most_common(60):
        if len(fact) > 120 or fact in line:
            continue
        longer = f"{line} · {fact}" if line else _FACTS + fact
        if count(longer) + 1 > room:
            break
        line = longer
    return line


def _shown(line: _Line) -> str:
    return f"- {line.speaker}: {line.text} [{line.ref}]"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
