"""Takes a change back from a file that may have been edited since: a three-way merge, or a refusal."""

from msgspec import Struct

_MOST_LINES = 100_000


class FileState(Struct, frozen=True):
    """What a file holds; `body` None is no file. `mode` are its permission bits, None where they are unknown."""

    body: bytes | None
    mode: int | None = None


class Conflict(Struct, frozen=True):
    """The change cannot be taken back; `reason` is a clause about the file."""

    reason: str


def take_back(now: FileState, before: FileState, after: FileState) -> FileState | Conflict:
    """The file as it is `now` without the change from `before` to `after`, and with every edit made since."""
    mode = before.mode if now.mode == after.mode or now.mode is None else now.mode
    if now.body in (after.body, before.body):
        return FileState(before.body, None if before.body is None else mode)
    if now.body is None:
        return Conflict("was deleted since")
    if after.body is None:
        return Conflict("was created again after it was deleted")
    if before.body is None:
        return Conflict("was created by a tool and changed since")
    binary = any(b"\0" in body for body in (now.body, after.body, before.body))
    merged = None if binary else merge_bytes(after.body, now.body, before.body)
    if merged is None:
        return Conflict("is not text and was changed since" if binary else "was changed since, in the same lines")
    return FileState(merged, mode)


def merge_bytes(base: bytes, theirs: bytes, ours: bytes) -> bytes | None:
    """What `theirs` and `ours` each made of `base`, together; None where both changed the same lines."""
    sides = [base.splitlines(keepends=True), theirs.splitlines(keepends=True), ours.splitlines(keepends=True)]
    if max(map(len, sides)) > _MOST_LINES:
        return None
    head, tail = _shared(sides)
    bases, mine, others = (side[head : len(side) - tail] for side in sides)
    from merge3 import Merge3  # loaded with the first file that was edited in between

    merged: list[bytes] = sides[0][:head]
    for region in Merge3(bases, mine, others).merge_regions():
        match region:
            case ("unchanged", int(first), int(last)):
                merged += bases[first:last]
            case ("same" | "a", int(first), int(last)):
                merged += mine[first:last]
            case ("b", int(first), int(last)):
                merged += others[first:last]
            case _:
                return None
    return b"".join(merged + sides[0][len(sides[0]) - tail :])


def _shared(sides: list[list[bytes]]) -> tuple[int, int]:
    """How many lines at the beginning, and then at the end, are the same on all sides."""
    shortest = min(map(len, sides))
    head = next((n for n, lines in enumerate(zip(*sides, strict=False)) if len(set(lines)) > 1), shortest)
    backwards = zip(*map(reversed, sides), strict=False)
    tail = next((n for n, lines in enumerate(backwards) if len(set(lines)) > 1), shortest)
    return head, min(tail, shortest - head)
