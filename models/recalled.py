"""Recalled passages as a model reads them: one block, a label for adjacent passages, and the
passages with who said them.

    <palimpsest-recalled-bcdfghjk trust="exact">
    [Trip planning · 2026-03-14 · e_4kx7m2p0q9ab]
    Ann: The ferry leaves at 09:40.
    Ben, superseded on 2026-05-01: I booked two seats.
    … Ann: Then we need a taxi.
    </palimpsest-recalled-bcdfghjk>

Labels cost tokens that passages could have: about 15 for each day of a conversation, 3 for each passage. What stands at
the beginning of a line is ours: a passage goes on after a blank, and nothing in it looks like a label (models.fence).
"""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from msgspec import Struct

from foundation.clock import iso
from foundation.trust import Citation, Trust
from models.fence import fence_text, label, neutralise, reference

LEFT_BRANCH = "on a branch that was left"
UNVERIFIED_LABEL = "unverified"
_LONGEST_NAME = 40  # characters of who said it
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # as str.splitlines has it


class RecalledSpan(Struct, frozen=True, tag="recalled"):
    """A span that memory brought back, with its address.

    `rank` is its place among what was recalled with it, 0 for the best; `follows` says that it came right after the
    part before it; `superseded` is the day on which a newer memory said otherwise, "" where none did. `cited`: the
    message itself names it, so that its reference stands over it, and over nothing else. `nonce` is what its block's
    tags carry. `likelihood`, 0 to 1, is that it serves the message. `beside` is the reference of the more relevant
    passage that it stands next to in one run of turns. `off_branch`: it is on a branch that the conversation left.
    `dates` are the offsets behind its relative dates, and these dates written out: what a model reads beside the text.
    `unverified`: the assistant's own answer, for which nothing was recalled and no tool ran. `guide`: the line behind
    its block, which says what to do with the passages. `is_dated`: it is of the date that the message names.
    `asked`: the question right before it, which it answers.
    """

    text: str
    citation: Citation
    trust: Trust
    score: float = 0.0
    time: datetime | None = None
    rank: int = 0
    follows: bool = False
    superseded: str = ""
    cited: bool = False
    nonce: str = ""
    likelihood: float = 0.0
    beside: str = ""
    off_branch: bool = False
    dates: tuple[tuple[int, str], ...] = ()
    unverified: bool = False
    guide: str = ""
    is_dated: bool = False
    asked: str = ""

    @property
    def trust_label(self) -> str:
        """The trust that a model reads."""
        return UNVERIFIED_LABEL if self.unverified else self.trust.value


def recalled_block(parts: Sequence[RecalledSpan]) -> str:
    """The block of recalled passages that a model reads."""
    if not parts:
        return ""
    trusts = {part.trust_label for part in parts}
    about = f' trust="{parts[0].trust_label}"' if len(trusts) == 1 else ""
    lines = [passage_lines(parts[0], None, mixed=len(trusts) > 1)]
    lines += [passage_lines(part, before, mixed=len(trusts) > 1) for before, part in pairwise(parts)]
    block = fence_text("recalled", "\n".join(lines), parts[0].nonce, about=about)
    return f"{block}\n{parts[0].guide}" if parts[0].guide else block


def passage_lines(part: RecalledSpan, before: RecalledSpan | None, *, mixed: bool = False) -> str:
    """The lines that a part adds to a block after `before`. `mixed`: the parts of the block differ in trust."""
    text = _LINE_END.sub(r"\g<0> ", _with_dates(neutralise(part.text), part.dates))
    line = f"{_speaker_prefix(part)}{text}"
    if before is None or shared_label(before) != shared_label(part):
        return f"{_label(part, mixed=mixed)}\n{line}"
    return line if part.follows else f"… {line}"


def by_relevance(parts: Sequence[RecalledSpan]) -> tuple[RecalledSpan, ...]:
    """Most relevant first, each followed by the passages beside it in their order."""
    ranks = {part.citation.ref: part.rank for part in parts if not part.beside}
    return tuple(sorted(parts, key=lambda part: (ranks.get(part.beside, part.rank), bool(part.beside))))


def shared_label(part: RecalledSpan) -> tuple[str, str, str, str]:
    """The conversation, day and trust that passages under one label share."""
    cited = part.citation
    where = cited.conversation if cited.kind == "entry" and cited.conversation else cited.ref
    if part.cited:
        where = _where(cited)
    return where, cited.place, _day(part), part.trust_label


def _with_dates(text: str, dates: Sequence[tuple[int, str]]) -> str:
    """The text with each date behind its phrase: `yesterday (7 May 2023)`, 昨天（2023年5月7日）."""
    for end, date in reversed([pair for pair in dates if pair[0] <= len(text)]):  # less where words were forgotten
        text = f"{text[:end]} ({date}){text[end:]}" if date.isascii() else f"{text[:end]}（{date}）{text[end:]}"
    return text


def _speaker_prefix(part: RecalledSpan) -> str:
    name = label(part.citation.speaker, _LONGEST_NAME)
    superseded = f"superseded on {part.superseded}" if part.superseded else ""
    details = ", ".join(detail for detail in (name, superseded, LEFT_BRANCH if part.off_branch else "") if detail)
    return (
        neutralise(f"{details}: ") if details else " "
    )  # a name cut short and our colon may make a marker: ### System:


def _day(part: RecalledSpan) -> str:
    time = part.time or part.citation.time
    return iso(time)[:10] if time else ""


def _label(part: RecalledSpan, *, mixed: bool) -> str:
    cited = part.citation
    source = ", ".join(part_text for part_text in (cited.title, cited.place) if part_text)
    details = (label(source), _day(part), _where(cited), part.trust_label if mixed else "")
    return "[" + " · ".join(part_text for part_text in details if part_text) + "]"


def _where(cited: Citation) -> str:
    ref = reference(cited.ref)
    return f"{ref}#L{cited.lines[0]}-L{cited.lines[1]}" if cited.lines else ref
