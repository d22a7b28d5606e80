"""What an entry is marked with: its type, concepts and files as its meta says, and what its text names by rules."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from memory.search.words.marking import CONCEPT, FILE, TYPE, mark, path_ends

_MOST_TOLD = 64  # concepts or files of one entry


def marks(text: str, speaker: str = "", meta: Mapping[str, Any] | None = None) -> frozenset[str]:
    """The marks of an entry, each once."""
    return frozenset(_of_meta(meta)) if meta else frozenset()


def _of_meta(meta: Mapping[str, Any]) -> Iterator[str]:
    """Meta comes from imports as well: what is no text there is passed over."""
    if isinstance(said := meta.get("type"), str) and said.strip():
        yield mark(TYPE, said)
    for concept in _texts(meta.get("concepts")):
        yield mark(CONCEPT, concept)
    for path in _texts(meta.get("files")):
        yield from (mark(FILE, end) for end in path_ends(path))


def _texts(told: object) -> list[str]:
    """A list of texts, or one text by itself."""
    several = cast("list[object]", told) if isinstance(told, list | tuple) else [told]
    return [each for each in several[:_MOST_TOLD] if isinstance(each, str) and each.strip()]
