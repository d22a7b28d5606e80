"""How far the list of versions reached when it was written last, in a file beside it.

So a list that was cut, emptied or deleted is noticed, and no number is given twice. It is written after a list that
grows and before one that shrinks: a process that is killed between the two leaves one that promises too little.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from foundation.files import read_bytes, write_atomically
from foundation.typed_json import decode_json
from memory.errors import Damaged
from memory.versions.digest_line import body_of, with_digest
from memory.versions.manifest import ManifestContent


class ListHead(Struct, frozen=True, array_like=True):
    """What the list held at least: the highest number ever given, the highest in the list, and its lines.

    It is stored without a word, so that `forget` finds none there.
    """

    given: int = 0
    newest: int = 0
    lines: int = 0

    @classmethod
    def of(cls, content: ManifestContent) -> "ListHead":
        """The head of a list that holds this."""
        newest = newest_number(content)
        return cls(given=newest, newest=newest, lines=content.lines)

    def missing(self, content: ManifestContent) -> int:
        """How many versions the list lacks at its end; a line there that cannot be read is not one of them."""
        return max(0, self.lines - content.lines) if newest_number(content) < self.newest else 0


class HeadFile:
    """Reads and writes the file at `path`. Writers hold the lock of the store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> ListHead | None:
        """None before the first version, and of an earlier release. Raises Damaged, OSError."""
        try:
            line = read_bytes(self.path, owned=True)
        except FileNotFoundError:
            return None
        try:
            if (body := body_of(line)) is not None:
                return decode_json(body, ListHead)
        except msgspec.DecodeError:
            pass
        raise Damaged(
            "A file of the versions is damaged",
            f"{self.path}, which records the length of the version list, cannot be read.",
        )

    def damage(self) -> str:
        """Why it cannot be read, as a sentence; "" where it can be. Raises OSError."""
        try:
            self.read()
        except Damaged as error:
            return error.message
        return ""

    def write(self, head: ListHead) -> None:
        """Replaces it, atomically. Raises OSError."""
        write_atomically(self.path, with_digest(msgspec.json.encode(head)))


def newest_number(content: ManifestContent) -> int:
    """The highest number in the list; 0 without one."""
    return max((version.number for version in content.versions), default=0)
