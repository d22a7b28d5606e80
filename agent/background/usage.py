"""Each use of a file that was added adds one to its count: recalled into a request, or cited in an answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from models.messages import RecalledSpan

if TYPE_CHECKING:
    from memory.memory import Memory

PAGE = "page"  # the kind of a citation of what was archived


def use_recalled(memory: "Memory", recalled: Iterable[RecalledSpan]) -> None:
    """What was recalled went into a request."""
    if used := _conversations(part for part in recalled if part.citation.kind == PAGE):
        memory.knowledge.used(used)


def use_cited(memory: "Memory", answer: str, recalled: Iterable[RecalledSpan]) -> None:
    """The answer names these among what was recalled for it, by reference or by name."""
    pages = [part for part in recalled if part.citation.kind == PAGE]
    if used := _conversations(part for part in pages if _named(part, answer)):
        memory.knowledge.used(used)


def _named(part: RecalledSpan, answer: str) -> bool:
    name = part.citation.title.rpartition("/")[2]
    return part.citation.ref in answer or bool(name and name in answer)


def _conversations(parts: Iterable[RecalledSpan]) -> list[str]:
    return list(dict.fromkeys(part.citation.conversation for part in parts if part.citation.conversation))
