"""Where the characters of stretches came to stand, once their pages are drawn."""

from bisect import bisect_right
from collections.abc import Iterable

from memory.archive.keep.binding import Bound
from memory.archive.keep.passages import Part
from memory.errors import Damaged


class Places:
    """The places of one archiving. A stretch is told by the run it belongs to, and its key."""

    def __init__(self, bound: Iterable[Bound]) -> None:
        self._laid: dict[tuple[int, int], list[tuple[int, int, str, int]]] = {}
        for page in bound:
            for laid in page.laid:
                found = self._laid.setdefault((page.run, laid.key), [])
                if laid.length or not found:  # an empty stretch has one place too
                    found.append((laid.start, laid.length, page.id, laid.page_start))
        for found in self._laid.values():
            if len(found) > 1:
                found[:] = [place for place in found if place[1]]

    def of(self, run: int, key: int, start: int, length: int) -> list[Part]:
        """The stretch's `length` characters from `start`. No character is one empty part."""
        found = self._laid.get((run, key), [])
        if not length:
            return [Part(page, at, 0) for _, _, page, at in found[:1]]
        parts: list[Part] = []
        at, end = start, start + length
        for begin, size, page, page_start in found[max(0, bisect_right(found, (start, 1 << 62)) - 1) :]:
            if begin >= end:
                break
            upto = min(end, begin + size)
            if begin <= at < upto:
                parts.append(Part(page, page_start + at - begin, upto - at))
                at = upto
        if at != end:
            raise Damaged("A text has no place", f"{end - at} characters of a text came to stand on no page.")
        return parts
