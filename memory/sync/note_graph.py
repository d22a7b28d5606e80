"""The versions of one note file as a graph, and the text that they make together.

A version names those that it was made from. The heads are those that no other was made from. Where there are several,
the text is their three-way merge in the order of their clocks: it follows from the versions alone, so that all devices
that know the same versions show the same text. It is no version itself until somebody edits it.
"""

from collections.abc import Iterable, Mapping

from foundation.clock import from_ms
from memory.cold.sync_clock import TICKS
from memory.hot.swap import merge_or_append
from memory.sync.note_store import NoteVersion


def heads_of(versions: Iterable[NoteVersion]) -> list[NoteVersion]:
    """The versions that no other was made from, in the order of their clocks."""
    versions = list(versions)
    replaced = {parent for version in versions for parent in version.parents}
    return sorted((version for version in versions if version.id not in replaced), key=_order)


def merged_text(versions: Iterable[NoteVersion]) -> str:
    """The text of all heads together. Lines that two of them changed are kept as both, the later ones in an entry."""
    known = {version.id: version for version in versions}
    heads = heads_of(known.values())
    if not heads:
        return ""
    text, seen = heads[0].text, _with_ancestors(heads[0].id, known)
    for head in heads[1:]:
        own = _with_ancestors(head.id, known)
        shared = [known[id_] for id_ in own & seen]
        base = max(shared, key=_order).text if shared else ""
        text = merge_or_append(base, text, head.text, from_ms(head.clock // TICKS))
        seen |= own
    return text


def _with_ancestors(id_: str, known: Mapping[str, NoteVersion]) -> set[str]:
    found, left = set[str](), [id_]
    while left:
        current = left.pop()
        if current in known and current not in found:
            found.add(current)
            left += known[current].parents
    return found


def _order(version: NoteVersion) -> tuple[int, str]:
    """A version's clock is above those of the versions that it was made from."""
    return version.clock, version.id
