"""Citations in a message: `[House · Ann · 2026-03-14 · e_4kx7…]` brings that passage first and whole."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.tokens import MessageCounter, fit_lines
from foundation.citations import cited_refs, remove_citations
from foundation.errors import PalimpsestError
from foundation.privacy import TextSource, clear
from foundation.trust import Citation, Trust
from models.fence import SAMPLE_NONCE
from models.recalled import RecalledSpan, recalled_block

MOST_CITED = 20
"""References of one message that are looked up."""


class CitablePassage(Protocol):
    """A whole passage with its citation, as `Memory.recall` gives it."""

    @property
    def text(self) -> str: ...

    @property
    def trust(self) -> Trust: ...

    @property
    def citation(self) -> Citation: ...


class CitedMessage(Struct, frozen=True):
    """A message's text without the citations that resolve, and the cited passages, in order."""

    words: str
    passages: tuple[CitablePassage, ...] = ()


def resolve_citations(text: str, recall: Callable[[str], Sequence[CitablePassage]]) -> CitedMessage:
    """Resolves the citations in a message. Brackets that name nothing stay text; damaged or deleted passages are
    skipped."""
    found: dict[str, Sequence[CitablePassage]] = {}
    for ref in cited_refs(text)[:MOST_CITED]:
        try:
            found[ref] = recall(ref)
        except PalimpsestError:
            continue
    passages = (passage for several in found.values() for passage in several)
    each = {(one.citation.ref, one.citation.conversation, one.citation.lines): one for one in passages}
    return CitedMessage(remove_citations(text, found.keys()), tuple(each.values()))


def cited_parts(passages: Sequence[CitablePassage], tokens: int, counting: MessageCounter) -> tuple[RecalledSpan, ...]:
    """The cited passages, whole where `tokens` hold them all; else the longest are cut, with a reference."""
    whole = [_part(one, clear(one.text.strip(), TextSource.OTHER), rank) for rank, one in enumerate(passages)]
    costs = [counting.text(recalled_block([part])) for part in whole]
    room, parts = tokens, dict[int, RecalledSpan]()
    for at, n in enumerate(sorted(range(len(whole)), key=costs.__getitem__)):  # what the short leave is the long ones'
        share = room // (len(whole) - at)
        part = whole[n] if costs[n] <= share else _cut(whole[n], share, counting)
        if part.text:
            parts[n] = part
            room -= counting.text(recalled_block([part]))
    return tuple(parts[n] for n in sorted(parts))


def _part(passage: CitablePassage, text: str, rank: int) -> RecalledSpan:
    return RecalledSpan(
        text, passage.citation, passage.trust, 1.0, passage.citation.time, rank, cited=True, nonce=SAMPLE_NONCE
    )


def _cut(part: RecalledSpan, tokens: int, counting: MessageCounter) -> RecalledSpan:
    frame = counting.text(recalled_block([replace(part, text="")]))
    text, _ = fit_lines(part.text, tokens - frame, counting, f"… (the rest: recall {_ref(part.citation)})")
    return replace(part, text=text)


def _ref(citation: Citation) -> str:
    return f"{citation.ref}#L{citation.lines[0]}-L{citation.lines[1]}" if citation.lines else citation.ref
