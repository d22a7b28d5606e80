"""Two edits of one text become one. Nothing that a person wrote is dropped, and no conflict markers are left."""

from difflib import SequenceMatcher

from merge3 import Merge3
from msgspec import Struct

from memory.hot.parse import lines_of


class Merged(Struct, frozen=True):
    """The merged text; `leftover` is ours where both changed the same lines: theirs stands in the text."""

    text: str
    leftover: str = ""


def merge(base: str, theirs: str, ours: str) -> Merged:
    """What `theirs` and `ours` each made of `base`, together."""
    if theirs == base or theirs == ours:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    base_lines, their_lines, our_lines = lines_of(base), lines_of(theirs), lines_of(ours)
    text: list[str] = []
    leftover: list[str] = []
    for region in Merge3(base_lines, their_lines, our_lines).merge_regions():
        match region:
            case ("unchanged", int(first), int(last)):
                _add(text, base_lines[first:last])
            case ("same" | "a", int(first), int(last)):
                _add(text, their_lines[first:last])
            case ("b", int(first), int(last)):
                _add(text, our_lines[first:last])
            case (_, z1, z2, a1, a2, b1, b2):
                if z1 == z2:  # both added here: both stay
                    _add(text, union(their_lines[a1:a2], our_lines[b1:b2]))
                else:
                    _add(text, their_lines[a1:a2])
                    known = {*base_lines[z1:z2], *their_lines[a1:a2]}
                    leftover += [line for line in our_lines[b1:b2] if line not in known]
            case _:
                raise AssertionError(region)
    return Merged("".join(text), "".join(leftover))


def union(theirs: list[str], ours: list[str]) -> list[str]:
    """The lines of both, in order; what they share stands once."""
    lines: list[str] = []
    for _, a1, a2, b1, b2 in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        _add(lines, theirs[a1:a2])
        if theirs[a1:a2] != ours[b1:b2]:
            _add(lines, ours[b1:b2])
    return lines


def _add(text: list[str], lines: list[str]) -> None:
    """A last line that had no end must get one before another follows."""
    if text and lines and not text[-1].endswith("\n"):
        text[-1] += "\n"
    text += lines
