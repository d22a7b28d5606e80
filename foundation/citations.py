"""Citations in a text: `[House · Ann · 2026-03-14 · e_4kx7…]` names what `/recall e_4kx7…` brings back."""

import re
from collections.abc import Collection

_CITATION = re.compile(
    r"\[(?:(?P<alone>(?:e|pg|m)_\w+|[^\s\[\]]+\.md#L\d+-L\d+)"
    r"|[^\n]*? · (?P<last>[^\s\[\]·]+))\](?!\(| · )"  # as `foundation.trust.Citation` writes them: the reference last
)


def cited(text: str) -> tuple[str, ...]:
    """The references of the citations in a text, each once, in order. Whether there is such a thing only the store
    knows."""
    return tuple(dict.fromkeys(found["last"] or found["alone"] for found in _CITATION.finditer(text)))


def uncited(text: str, refs: Collection[str]) -> str:
    """The text without its citations of these references."""
    return _CITATION.sub(lambda found: " " if (found["last"] or found["alone"]) in refs else found[0], text)


def citation(text: str) -> str:
    """The reference of a text that is one citation and nothing else; "" where it is not."""
    found = _CITATION.fullmatch(text.strip())
    return (found["last"] or found["alone"]) if found else ""
