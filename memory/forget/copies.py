"""Copies of texts: versions, checkpoints, drafts, typed prompts, mirrors, and what is kept for other devices."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import apsw
from msgspec import Struct

from foundation.files import read_bytes, status
from memory.errors import Damaged
from memory.forget.scan import CONTENTS, files_below, is_ours, scan_workspace, values_of
from memory.forget.work import ForgetWork
from memory.memory import Memory
from memory.versions.objects import Objects

_LARGEST: Final = 2**24  # bytes of a file that is looked through for the ways in which a phrase is written
_OTHER_TABLES: Final = ("entries", "terms")  # their words are found by themselves
_BINARY: Final = ("cold.db", "packs/", "pack-cache/", "pages/", "knowledge/", "postings/", "vectors/", "prompt-caches/")
_KINDS: Final = (
    ("versions/objects/", "earlier versions of your files"),
    ("versions/manifest", "file names in the versions"),
    ("versions/", "copies from before a change"),
    ("checkpoints/", "checkpoints of files that tools changed"),
    ("drafts/", "drafts"),
    ("prompt-history", "typed prompts"),
    ("conversations/", "mirrors of conversations"),
    ("memory/archive/", "archived texts"),
    ("cold.db", "rows of the database, such as an old title or label"),
    ("postings/", "the index"),
    ("vectors/", "the index"),
    ("damaged/", "copies saved by repairs"),
    ("log.txt", "the log"),
)


def look_at_copies(memory: Memory, look: Callable[[bytes], object]) -> None:
    """Calls `look` with all texts that this program keeps besides the entries and the notes themselves."""
    space = memory.workspace
    state = f"{space.state.name}/"
    for path in files_below(space.root):
        name = path.relative_to(space.root).as_posix()
        own = name.removeprefix(state)
        if not is_ours(space, name) or (own != name and own.startswith((*_BINARY, *CONTENTS))):
            continue
        look(name.encode("utf-8", "surrogateescape"))
        with suppress(OSError):
            if (found := status(path)) is not None and found.st_size <= _LARGEST:
                look(read_bytes(path))
    for folder in CONTENTS:
        contents = Objects(space.state / folder, "content")
        for name in contents.names():
            with suppress(Damaged, OSError):
                look(contents.get(name))

    def look_at_values(db: apsw.Connection) -> None:
        for _, _, batch in values_of(db, beside=_OTHER_TABLES):
            look(batch)

    memory.cold.read(look_at_values)


class Copies(Struct, frozen=True):
    """Where words are: kinds of copies, for a person, and relative names of files that Palimpsest does not write."""

    kinds: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def find_copies(work: ForgetWork) -> Copies:
    """The look that ends a job, made before it."""
    found = scan_workspace(work)
    state = f"{work.workspace.state.name}/"
    kinds = (
        next((kind for begin, kind in _KINDS if name.removeprefix(state).startswith(begin)), name)
        for name in found.found
    )
    return Copies(tuple(dict.fromkeys(kinds)), found.others)
