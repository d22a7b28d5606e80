"""Tags of entries: `=type:decision`, `=money:usd120`, or the kind alone, `=money`.

A tag is a term that begins with `=`, which no word's term does. Tags are therefore stored and indexed with the words.
An entry's tags come from its meta (type, concepts, files) and from the entities that its text names.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from foundation.text.folding import LONGEST, fold

TAG_PREFIX = "="
TYPE, CONCEPT, FILE = "type", "concept", "file"
DAY = "day"
"""The kind of a day, month or year that an entry speaks of, relative dates resolved (dates/day_values.py)."""

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_SLASHES = re.compile(r"[\\/]+")
_MOST_PARTS = 4
_META_FIELDS = ("type", "concepts", "files")
_MOST_VALUES = 64  # concepts or files of one entry
_NOBODY = frozenset({"user", "assistant", "tool", "system", "offline"})


@lru_cache(maxsize=1 << 12)
def tag(kind: str, value: str = "") -> str:
    """The tag of a kind, or of one value of it: folded, white space as `_`, 64 characters at most."""
    if not value:
        return f"{TAG_PREFIX}{kind}"
    folded = _BLANKS.sub("_", fold(value[: 4 * LONGEST]).strip())[:LONGEST]
    return f"{TAG_PREFIX}{kind}:{folded}"


def path_ends(path: str) -> tuple[str, ...]:
    """The suffixes of a path, of four parts at most: `a/src/http.py` → `http.py`, `src/http.py`, `a/src/http.py`."""
    parts = [part for part in _SLASHES.split(path) if part and part not in {".", "..", "~"}][-_MOST_PARTS:]
    return tuple("/".join(parts[-count:])[-LONGEST:] for count in range(1, len(parts) + 1))


def entry_tags(
    text: str, speaker: str = "", meta: Mapping[str, Any] | None = None, at: datetime | None = None
) -> frozenset[str]:
    """The tags of an entry. Its speaker gives a `=person:` tag, but not the bare `=person`, which is for entries that
    name somebody. `at` is its time, from which its relative dates count; without it, it has no `=day:` tags."""
    from foundation.text.entities.rules import entities  # its lists and patterns are loaded with the first text

    tags = set(_meta_tags(meta)) if meta else set[str]()
    if at is not None:
        from foundation.text.dates.day_values import entry_day_values

        tags |= {tag(DAY, value) for value in entry_day_values(text, at)}
    for kind, value in entities(text):
        tags |= {tag(kind), tag(kind, value)}
    if speaker and speaker.casefold() not in _NOBODY:
        tags.add(tag("person", speaker))
    return frozenset(tags)


def _meta_tags(meta: Mapping[str, Any]) -> Iterator[str]:
    """Skips values that are not text: meta may come from an import. The fields of an imported line are under
    `imported`."""
    imported = meta.get("imported")
    if isinstance(imported, Mapping):
        yield from _meta_tags({name: cast("Mapping[str, Any]", imported).get(name) for name in _META_FIELDS})
    if isinstance(type_ := meta.get("type"), str) and type_.strip():
        yield tag(TYPE, type_)
    for concept in _texts(meta.get("concepts")):
        yield tag(CONCEPT, concept)
    for path in _texts(meta.get("files")):
        yield tag(FILE)
        yield from (tag(FILE, end) for end in path_ends(path))


def _texts(value: object) -> list[str]:
    """The texts of a list, or a single text as a list."""
    values = cast("list[object]", value) if isinstance(value, list | tuple) else [value]
    return [item for item in values[:_MOST_VALUES] if isinstance(item, str) and item.strip()]
