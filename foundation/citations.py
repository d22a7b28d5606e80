"""Citations in a text: `[House · Ann · 2026-03-14 · e_4kx7…]` cites the entry that `/recall e_4kx7…` shows."""

import re
from collections.abc import Collection
from typing import Final

REFERENCE: Final = r"(?:e|pg|m)_\w+"
"""The form of the ids that we make: of an entry, a page, a note."""
PLACE: Final = r"(?P<path>[^\n\[\]#:]+\.md)(?:#L(?P<anchor>\d+)(?:-L\d+)?|:(?P<line>\d+)(?:-\d+)?)"
"""The form of a place in a note's file: `MEMORY.md#L3-L7`, `MEMORY.md:3`."""

CHAT: Final = "chat:"
"""Before the id of a conversation, in a reference to its messages."""

_CITATION = re.compile(
    rf"\[(?:(?P<alone>{REFERENCE}|[^\s\[\]]+\.md(?:#L\d+-L\d+|:\d+))"
    r"|[^\n]*? · (?P<last>[^\s\[\]·]+))\](?!\(| · )"  # as `foundation.trust.Citation` writes them: the reference last
)


def cited_refs(text: str) -> tuple[str, ...]:
    """The references of the citations in a text, each once, in order. Only the store knows whether they exist."""
    return tuple(dict.fromkeys(match["last"] or match["alone"] for match in _CITATION.finditer(text)))


def remove_citations(text: str, refs: Collection[str]) -> str:
    """The text without its citations of these references."""
    return _CITATION.sub(lambda match: " " if (match["last"] or match["alone"]) in refs else match[0], text)


def reference_in(text: str) -> str:
    """The text, or the reference of a text that is one citation."""
    return single_citation(text) or text.strip()


def single_citation(text: str) -> str:
    """The reference of a text that is one citation and nothing else; "" where it is not."""
    match = _CITATION.fullmatch(text.strip())
    return (match["last"] or match["alone"]) if match else ""
