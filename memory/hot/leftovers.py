"""Files that a write left beside a person's file because the program was cut off in the middle of it."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from foundation.files import NotUtf8, exists, is_file, list_files, read_bytes, remove
from foundation.files.atomic_exchange import ASIDE, place_if_free
from memory.hot.edits import appended, entry
from memory.hot.exposed import Exposed
from memory.hot.merge import union
from memory.hot.parse import lines_of
from memory.hot.racing import SWAP, Keep, decode, digest, write

CUT_OFF_HEADING = "Kept from a write that was cut off"


def tidy(folder: Path, keep: Keep, moment: datetime) -> list[Path]:
    """Settles every leftover in the folder, so that no word is only there; gives the files that it settled."""
    settled: list[Path] = []
    for leftover in list_files(folder, ".*.md.*"):
        path = folder / leftover.name[1 : leftover.name.index(".md.") + 3]
        if leftover.suffix not in (SWAP, ASIDE) or (exists(path) and not is_file(path)):
            continue
        _settle(path, leftover, keep, moment)
        settled.append(path)
    return settled


def _settle(path: Path, leftover: Path, keep: Keep, moment: datetime) -> None:
    body = read_bytes(leftover)
    if not exists(path) and place_if_free(leftover, path):  # cut off between moving it aside and putting ours there
        remove(leftover)
        return
    if leftover.suffix == ASIDE or digest(body) not in leftover.name.split("."):  # a person's words came out
        with suppress(NotUtf8):
            theirs = decode(leftover, body)
            write(path, lambda text: _with_lines(text, theirs, moment), keep, moment, Exposed())
    keep(leftover, body)


def _with_lines(text: str, other: str, moment: datetime) -> str:
    """The text, and as an entry of its own those lines of the other that it lacks."""
    ours, theirs = lines_of(text), lines_of(other)
    if len(ours) + len(theirs) > 20_000:
        known = set(ours)
        extra = [line for line in theirs if line not in known]
    else:
        joined = union(ours, theirs)
        extra = [line for line in joined if line not in set(ours)]
    words = "".join(extra).strip()
    return appended(text, entry(moment, CUT_OFF_HEADING, words, None)) if words else text
