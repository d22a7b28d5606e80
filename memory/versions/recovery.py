"""Versions that are found again in their contents, where the end of the list is lost.

A content is of a file that holds it now, or of the file of the content that it was stored as a difference from. What
may be of several files, or of none, is left.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from foundation.files import list_files, list_folders, read_bytes
from memory.errors import Damaged
from memory.versions.cause import Author
from memory.versions.manifest import Version
from memory.versions.objects import MOST_BYTES, Objects, content_name

_REASON = "found by check --repair"
_COPY_DIGITS: Final = 12  # of the SHA-256, at the end of the name of a copy


def found_again(
    objects: Objects, versions: Sequence[Version], files: Mapping[str, bytes], number: int
) -> list[Version]:
    """Sound contents that no version names, as versions from that number on, in the order in which they were stored.

    `files` are the files as they are, by their relative names: their own texts come last. Raises OSError.
    """
    bases = dict[str, str]()
    for name in objects.names():
        with suppress(Damaged):
            bases[name] = objects.base_of(name)
    now = {content_name(body) for body in files.values()}
    paths = _paths(bases, versions, files)
    known = {version.sha256 for version in versions}
    found = [name for name in bases if name not in known and len(paths.get(name, ())) == 1 and objects.is_sound(name)]
    found.sort(key=lambda name: (name in now, objects.stored_ns(name)))
    return [
        Version(
            number=number + place,
            path=min(paths[name]),
            time_ms=objects.stored_ns(name) // 10**6,
            author=Author.PROGRAM,
            reason=_REASON,
            sha256=name,
            size=len(objects.get(name)),
        )
        for place, name in enumerate(found)
    ]


def copy_with(folder: Path, sha256: str) -> bytes:
    """The bytes of a copy from before a write, in a folder below this one. Raises FileNotFoundError."""
    ending = f"-{sha256[:_COPY_DIGITS]}.md"
    for copies in list_folders(folder):
        for path in list_files(copies):
            if path.name.endswith(ending) and content_name(body := read_bytes(path, most=MOST_BYTES)) == sha256:
                return body
    raise FileNotFoundError(ending)


def _paths(bases: Mapping[str, str], versions: Sequence[Version], files: Mapping[str, bytes]) -> dict[str, set[str]]:
    """The files that each content may be of."""
    paths = dict[str, set[str]]()
    for version in versions:
        paths.setdefault(version.sha256, set()).add(version.path)
    for path, body in files.items():
        paths.setdefault(content_name(body), set()).add(path)
    is_new = True
    while is_new:
        is_new = False
        for name, base in bases.items():
            if base:
                ours, theirs = paths.setdefault(name, set()), paths.setdefault(base, set())
                is_new = is_new or ours != theirs
                ours |= theirs
                theirs |= ours
    return paths
