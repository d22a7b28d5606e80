"""What an entry is marked with: its type, concepts and files as its meta says, and what its text names by rules."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from foundation.text.tags import CONCEPT, FILE, TYPE, mark, path_ends

_TOLD = ("type", "concepts", "files")
_MOST_TOLD = 64  # concepts or files of one entry
_NOBODY = frozenset({"user", "assistant", "tool", "system", "offline"})


def marks(text: str, speaker: str = "", meta: Mapping[str, Any] | None = None) -> frozenset[str]:
    """The marks of an entry, each once. Who says it is a person of it, and does not make it one that names somebody."""
    from foundation.text.entities.rules import entities  # its lists and patterns wait until there is a text

    found = set(_of_meta(meta)) if meta else set[str]()
    for kind, value in entities(text):
        found |= {mark(kind), mark(kind, value)}
    if speaker and speaker.casefold() not in _NOBODY:
        found.add(mark("person", speaker))
    return frozenset(found)


def _of_meta(meta: Mapping[str, Any]) -> Iterator[str]:
    """Meta comes from imports as well: what is no text there is passed over. An imported line's own words for these
    stand one deeper, under `imported`."""
    imported = meta.get("imported")
    if isinstance(imported, Mapping):
        yield from _of_meta({name: cast("Mapping[str, Any]", imported).get(name) for name in _TOLD})
    if isinstance(said := meta.get("type"), str) and said.strip():
        yield mark(TYPE, said)
    for concept in _texts(meta.get("concepts")):
        yield mark(CONCEPT, concept)
    for path in _texts(meta.get("files")):
        yield mark(FILE)
        yield from (mark(FILE, end) for end in path_ends(path))


def _texts(told: object) -> list[str]:
    """A list of texts, or one text by itself."""
    several = cast("list[object]", told) if isinstance(told, list | tuple) else [told]
    return [each for each in several[:_MOST_TOLD] if isinstance(each, str) and each.strip()]
