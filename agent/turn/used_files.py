"""Uses of files that were added to the knowledge: those that a request recalls, and those that its answer cites."""

from collections.abc import Iterable
from typing import Final

from memory.memory import Memory
from models.messages import RecalledSpan

_PAGE: Final = "page"  # the kind of a citation of an archived page


def use_recalled(memory: Memory, recalled: Iterable[RecalledSpan]) -> None:
    """Counts a use of each added file that was recalled into a request."""
    if used := _conversations(part for part in recalled if part.citation.kind == _PAGE):
        memory.knowledge.used(used)


def use_cited(memory: Memory, answer: str, recalled: Iterable[RecalledSpan]) -> None:
    """Counts a use of each recalled file that the answer cites, by reference or by name."""
    pages = [part for part in recalled if part.citation.kind == _PAGE]
    if used := _conversations(part for part in pages if _named(part, answer)):
        memory.knowledge.used(used)


def _named(part: RecalledSpan, answer: str) -> bool:
    name = part.citation.title.rpartition("/")[2]
    return part.citation.ref in answer or bool(name and name in answer)


def _conversations(parts: Iterable[RecalledSpan]) -> list[str]:
    return list(dict.fromkeys(part.citation.conversation for part in parts if part.citation.conversation))
