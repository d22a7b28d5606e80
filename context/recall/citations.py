"""Citations in a message: `[House · Ann · 2026-03-14 · e_4kx7…]` recalls that passage first and whole."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.tokens import MessageCounter, fit_lines
from foundation.citations import cited_refs, remove_citations
from foundation.errors import PalimpsestError
from foundation.privacy import TextSource, clear
from foundation.trust import Citation, Trust
from memory.search import Hit
from models.fence import SAMPLE_NONCE
from models.recalled import RecalledSpan, recalled_block

MOST_CITED = 20
"""Maximum number of references resolved for one message."""
MOST_WHOLE = 8
"""Maximum number of whole passages that offline reads for one message."""


class CitablePassage(Protocol):
    """A whole passage with its citation, as `Memory.recall` returns it."""

    @property
    def text(self) -> str: ...

    @property
    def trust(self) -> Trust: ...

    @property
    def citation(self) -> Citation: ...

    @property
    def unverified(self) -> bool: ...


class CitedMessage(Struct, frozen=True):
    """A message's text without its resolved citations, and the cited passages in order."""

    text: str
    passages: tuple[CitablePassage, ...] = ()


def resolve_citations(text: str, recall: Callable[[str], Sequence[CitablePassage]]) -> CitedMessage:
    """Resolves the citations in a message. Unknown references stay text; damaged or deleted passages are skipped."""
    resolved: dict[str, Sequence[CitablePassage]] = {}
    for ref in cited_refs(text)[:MOST_CITED]:
        try:
            resolved[ref] = recall(ref)
        except PalimpsestError:
            continue
    passages = (passage for group in resolved.values() for passage in group)
    unique = {
        (passage.citation.ref, passage.citation.conversation, passage.citation.lines): passage for passage in passages
    }
    return CitedMessage(remove_citations(text, resolved.keys()), tuple(unique.values()))


def cited_parts(passages: Sequence[CitablePassage], tokens: int, counting: MessageCounter) -> tuple[RecalledSpan, ...]:
    """The cited passages, whole where all fit `tokens`; otherwise the longest are truncated, with a reference."""
    parts = [
        _part(passage, clear(passage.text.strip(), TextSource.OTHER), rank) for rank, passage in enumerate(passages)
    ]
    costs = [counting.text(recalled_block([part])) for part in parts]
    room, chosen = tokens, dict[int, RecalledSpan]()
    shortest_first = sorted(range(len(parts)), key=costs.__getitem__)
    for index, n in enumerate(shortest_first):  # long passages share the room that short ones leave
        share = room // (len(parts) - index)
        part = parts[n] if costs[n] <= share else _cut(parts[n], share, counting)
        if part.text:
            chosen[n] = part
            room -= counting.text(recalled_block([part]))
    return tuple(chosen[n] for n in sorted(chosen))


def whole_passages(
    recalled: Sequence[RecalledSpan],
    hits: Sequence[Hit],
    recall: Callable[[str], Sequence[CitablePassage]],
    asked: Mapping[str, str],
) -> tuple[RecalledSpan, ...]:
    """The whole passages of recalled parts and then of hits, best first, under the same citations.

    Notes are left out: a recalled part has all of a note. Passages that cannot be read are skipped. `asked`: the
    questions that entries answer, by the reference of the entry.
    """
    best_first = [(part.citation, part.time) for part in sorted(recalled, key=lambda part: part.rank)]
    cited = {
        citation.ref: (citation, time) for citation, time in (*best_first, *((hit.citation, hit.time) for hit in hits))
    }
    found: list[RecalledSpan] = []
    for ref, (citation, time) in cited.items():
        if citation.kind == "memory" or len(found) == MOST_WHOLE:
            continue
        try:
            passages = recall(ref)
        except PalimpsestError:
            continue
        found += [
            replace(
                _part(passage, clear(passage.text.strip(), TextSource.OTHER), len(found)),
                cited=False,
                time=time,
                asked=clear(asked.get(ref, ""), TextSource.OTHER),
            )
            for passage in passages[:1]
        ]
    return tuple(found)


def _part(passage: CitablePassage, text: str, rank: int) -> RecalledSpan:
    cited, trust, own = passage.citation, passage.trust, passage.unverified
    return RecalledSpan(text, cited, trust, 1.0, cited.time, rank, cited=True, nonce=SAMPLE_NONCE, unverified=own)


def _cut(part: RecalledSpan, tokens: int, counting: MessageCounter) -> RecalledSpan:
    frame = counting.text(recalled_block([replace(part, text="")]))
    text, _ = fit_lines(part.text, tokens - frame, counting, f"… (the rest: recall {_ref(part.citation)})")
    return replace(part, text=text)


def _ref(citation: Citation) -> str:
    return f"{citation.ref}#L{citation.lines[0]}-L{citation.lines[1]}" if citation.lines else citation.ref
