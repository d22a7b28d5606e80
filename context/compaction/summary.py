"""Extractive summary of older turns: their own sentences, each with its entry. No model is called.

Keeps the first and the last question, decisions, open points, and the names, figures, dates and paths mentioned.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from context.sources.conditions import entities_in
from foundation.text.folding import UNSPACED
from foundation.text.sentences import is_question, sentences

CountTokens = Callable[[str], int]

LONGEST_LINE = 220  # characters
MOST_SENTENCES = 4000  # scored in one compaction
CARRIED_SHARE = 0.4  # of the summary, for lines of earlier summaries
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
_SHORTEST = 8  # columns of a meaningful sentence: a Chinese character fills two
_KINDS = ("flight_number", "date", "money", "email", "url", "file_path")


class SummaryEntry(Struct, frozen=True):
    """An entry to be summarised."""

    ref: str
    speaker: str
    by_user: bool  # a message of the user
    time: datetime
    text: str


class _Line(Struct, frozen=True):
    index: int
    ref: str
    speaker: str
    by_user: bool
    text: str
    weight: float  # of the sentence by itself
    recency: float


def summarise(entries: Sequence[SummaryEntry], limit: int, count: CountTokens, *, before: Sequence[str] = ()) -> str:
    """Summarises the entries in at most `limit` tokens. `before`: texts of earlier summaries that this one replaces.

    Returns at least the first line, however small the limit.
    """
    head = _heading(entries)
    lines = [head]
    longest = max(60, min(LONGEST_LINE, limit))
    carried = _carried(before, int(limit * CARRIED_SHARE), longest, count)
    room = limit - count(head) - sum(count(line) + 1 for line in carried)
    questions = [entry for entry in entries if entry.by_user and entry.text.strip()]
    if questions:
        room = _append_if_fits(lines, _question_line("First asked", questions[0], longest), room, count)
        if len(questions) > 1:
            room = _append_if_fits(lines, _question_line("Last asked", questions[-1], longest), room, count)
    facts_room = int(room * FACTS_SHARE)
    scored = list(_scored(entries, longest))
    room -= facts_room
    decided = [line for line in scored if _DECIDED.search(line.text)]
    room -= _section(lines, "Decided:", decided, room // 2, count)
    used = set(lines)
    open_lines = [line for line in scored if _is_open(line) and _shown(line) not in used]
    room -= _section(lines, "Open:", open_lines, room // 2, count)
    used = set(lines)
    remaining = [line for line in scored if line.weight >= 1 and _shown(line) not in used]
    room -= _section(lines, "Said:", remaining, room, count)
    _append_if_fits(lines, _facts(entries, before, room + facts_room, count), room + facts_room, count)
    return "\n".join([*lines, *carried])


def _heading(entries: Sequence[SummaryEntry]) -> str:
    if not entries:
        return "Earlier in this conversation."
    first, last = (f"{entry.time:%Y-%m-%d}" for entry in (entries[0], entries[-1]))
    days = first if first == last else f"{first} to {last}"
    return f"Earlier ({days}; {len(entries)} entries, archived: recall a reference for the exact words)."


def _question_line(label: str, entry: SummaryEntry, longest: int) -> str:
    return f"{label}: “{_cut(' '.join(entry.text.split()), longest)}” [{entry.ref}]"


def _section(lines: list[str], title: str, candidates: Iterable[_Line], limit: int, count: CountTokens) -> int:
    """Appends the best lines that fit `limit` tokens, in chronological order; returns their tokens."""
    chosen: list[_Line] = []
    used_tokens = count(title) + 1
    for line in sorted(candidates, key=lambda line: -(line.weight + line.recency)):
        tokens = count(_shown(line)) + 1
        if used_tokens + tokens <= limit:
            chosen.append(line)
            used_tokens += tokens
    if not chosen:
        return 0
    lines.append(title)
    lines += [_shown(line) for line in sorted(chosen, key=lambda line: line.index)]
    return used_tokens


def _carried(before: Sequence[str], limit: int, longest: int, count: CountTokens) -> list[str]:
    """Lines of earlier summaries within `limit` tokens: questions and decisions first, then the newest."""
    room = limit - count(_BEFORE) - 1
    earlier = [line for text in before for line in text.split("\n") if _REFERENCE.search(line)]
    ranked = sorted(
        range(len(earlier)), key=lambda n: (_ASK.match(earlier[n]) is None, -bool(_DECIDED.search(earlier[n])), -n)
    )
    chosen: dict[int, str] = {}
    for n in ranked:
        reference = _REFERENCE.search(earlier[n])
        text = _REFERENCE.sub("", earlier[n]).strip()
        line = f"{_cut(text, longest)} {reference.group()}" if reference else text
        tokens = count(line) + 1
        if tokens <= room and line not in chosen.values():
            chosen[n] = line
            room -= tokens
    return [_BEFORE, *(chosen[n] for n in sorted(chosen))] if chosen else []


def _append_if_fits(lines: list[str], line: str, room: int, count: CountTokens) -> int:
    """Appends the line where it fits; returns the room that remains."""
    tokens = count(line) + 1
    if not line or tokens > room:
        return room
    lines.append(line)
    return room - tokens


def _scored(entries: Sequence[SummaryEntry], longest: int) -> Iterator[_Line]:
    seen: set[str] = set()
    index = 0
    for n, entry in enumerate(entries):
        for sentence in _sentences(entry.text):
            key = sentence.casefold()
            if key in seen:
                continue
            seen.add(key)
            index += 1
            if index > MOST_SENTENCES:
                return
            shown = _cut(sentence, longest)
            yield _Line(
                index, entry.ref, entry.speaker, entry.by_user, shown, _weight(sentence, entry), n / len(entries)
            )


def _sentences(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        line = " ".join(sentence.text.split())
        columns = len(line) + len(_UNSPACED.findall(line)) if len(line) < _SHORTEST else len(line)
        if columns >= _SHORTEST and any(character.isalnum() for character in line):
            yield line


def _weight(sentence: str, entry: SummaryEntry) -> float:
    score = 1.0 if entry.by_user else 0.0
    score += 3.0 if _DECIDED.search(sentence) else 0.0
    score += 2.0 if _OPEN.search(sentence) else 0.0
    score += 1.5 if _NUMBER.search(sentence) else 0.0
    score += 1.0 if _NAME.search(sentence) else 0.0
    score += 1.0 if "?" in sentence or "？" in sentence else 0.0
    if len(sentence) > LONGEST_LINE:
        score -= 1.5
    return score


def _is_open(line: _Line) -> bool:
    return bool(_OPEN.search(line.text)) or (line.by_user and is_question(line.text))


def _facts(entries: Sequence[SummaryEntry], before: Sequence[str], room: int, count: CountTokens) -> str:
    """Names, figures, dates and paths, the most frequent first, those of earlier summaries included."""
    counts: Counter[str] = Counter()
    fact_lines = [line for text in before for line in text.split("\n") if line.startswith(_FACTS)]
    counts.update(fact for line in fact_lines for fact in line.removeprefix(_FACTS).split(" · "))
    for entry in entries:
        text = entry.text[:20_000]
        for kind in _KINDS:
            counts.update(entities_in(kind, text))
        counts.update(match.group() for match in _NAME.finditer(text))
        counts.update(match.group() for match in _HASH.finditer(text))
        counts.update(number for number in (m.group().rstrip(".,:") for m in _NUMBER.finditer(text)) if len(number) > 2)
    line = ""
    for fact, _ in counts.most_common(60):
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
