"""The versions of one note file as a graph, and the text that they make together.

A version names those that it was made from. The heads are those that no other was made from. Where there are several,
the text is their three-way merge in the order of their clocks: it follows from the versions alone, so that all devices
that know the same versions show the same text. It is no version itself until somebody edits it.

A deleted file is an empty head. It deletes all or nothing: where the other heads hold an edit that it was made without
knowing, it is left out of the merge, and the edited text stays whole.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from foundation.clock import from_ms
from memory.cold.sync_clock import TICKS
from memory.hot.merge import is_empty
from memory.hot.swap import merge_or_append
from memory.sync.note_store import NoteVersion

_MOST_MERGES: Final = 100  # of one text: a forged graph could need any number


def heads_of(versions: Iterable[NoteVersion]) -> list[NoteVersion]:
    """The versions that no other was made from, in the order of their clocks."""
    versions = list(versions)
    replaced = {parent for version in versions for parent in version.parents}
    return sorted((version for version in versions if version.id not in replaced), key=_order)


def merged_text(versions: Iterable[NoteVersion]) -> str:
    """The text of all heads together. Lines that two of them changed are kept as both, the later ones in an entry."""
    return _GraphMerge({version.id: version for version in versions}).text()


class _GraphMerge:
    """One merge of all heads. The base of two of them is what the versions above both make together: where these are
    several, too, that is the text which both edits were made from, and in it both find what they changed."""

    def __init__(self, known: Mapping[str, NoteVersion]) -> None:
        self._known = known
        self._texts: dict[tuple[str, ...], str] = {}
        self._left = _MOST_MERGES

    def text(self, of: Collection[str] | None = None) -> str:
        """The text that these versions make, or all of them; with each, those above it are among them."""
        heads = heads_of(self._known.values() if of is None else [self._known[id_] for id_ in of])
        key = tuple(head.id for head in heads)
        if key not in self._texts:
            self._texts[key] = self._merged(heads)
        return self._texts[key]

    def _merged(self, heads: Sequence[NoteVersion]) -> str:
        kept = [head for head in heads if not is_empty(head.text)]
        if not kept:
            return heads[0].text if heads else ""
        text, seen = kept[0].text, _with_ancestors(kept[0].id, self._known)
        for head in kept[1:]:
            own = _with_ancestors(head.id, self._known)
            base = self._base(own & seen)
            text = merge_or_append(base, text, head.text, from_ms(head.clock // TICKS))
            seen |= own
        deletions = (head for head in heads if is_empty(head.text))
        return next((each.text for each in deletions if self._deletes(each, text, seen)), text)

    def _deletes(self, deletion: NoteVersion, text: str, seen: Collection[str]) -> bool:
        """Whether the text of the versions seen is what the deletion was made from: nobody edited it meanwhile."""
        return text == self._base(_with_ancestors(deletion.id, self._known) & {*seen})

    def _base(self, shared: Collection[str]) -> str:
        self._left -= 1
        if shared and self._left < 0:
            return max((self._known[id_] for id_ in shared), key=_order).text
        return self.text(shared)


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
