"""A mark: a term that says what an entry is or holds, `=type:decision`, `=money:usd120`, or the bare kind `=money`.

No word's term begins with `=`, so marks lie in the same rows and postings as words and are never taken for one.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from foundation.text.folding import LONGEST, fold

MARK = "="
TYPE, CONCEPT, FILE = "type", "concept", "file"

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_SLASHES = re.compile(r"[\\/]+")
_MOST_PARTS = 4
_TOLD = ("type", "concepts", "files")
_MOST_TOLD = 64  # concepts or files of one entry
_NOBODY = frozenset({"user", "assistant", "tool", "system", "offline"})


@lru_cache(maxsize=1 << 14)
def mark(kind: str, value: str = "") -> str:
    """The mark of a kind, or of one value of it: folded, blanks as `_`, 64 characters at most."""
    if not value:
        return f"{MARK}{kind}"
    folded = _BLANKS.sub("_", fold(value[: 4 * LONGEST]).strip())[:LONGEST]
    return f"{MARK}{kind}:{folded}"


def path_ends(path: str) -> tuple[str, ...]:
    """`a/src/http.py` → `http.py`, `src/http.py`, `a/src/http.py`: each end of a path, of four parts at most."""
    parts = [part for part in _SLASHES.split(path) if part and part not in {".", "..", "~"}][-_MOST_PARTS:]
    return tuple("/".join(parts[-some:])[-LONGEST:] for some in range(1, len(parts) + 1))


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
