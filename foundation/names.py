"""Grammars of names from a database, manifest, listing or setting that become part of a path.

A name that does not fit its grammar was written by no version of this program. Readers check it with `Grammar.fits`,
and decide how to refuse it (memory.names raises `ForgedName`).
"""

import re

from msgspec import Struct

_STEM = "[0-9A-Za-z_][0-9A-Za-z_-]{0,79}"
_WINDOWS_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


class Grammar(Struct, frozen=True):
    """One kind of name: `noun` for a person, and the pattern that the whole name fits."""

    noun: str
    pattern: re.Pattern[str]

    def fits(self, value: object) -> bool:
        """Whether the value is such a name: one plain component of a path, on every system."""
        return isinstance(value, str) and bool(self.pattern.fullmatch(value)) and not _WINDOWS_DEVICE.fullmatch(value)


def _grammar(noun: str, pattern: str) -> Grammar:
    return Grammar(noun, re.compile(pattern, re.ASCII))


PACK = _grammar("the name of a pack", rf"{_STEM}\.pages")
ARCHIVE_FILE = _grammar(
    "the name of a file of the archive",
    rf"{_STEM}(\.pages|\.parity|(\.[1-9][0-9]{{0,3}})?\.manifest)|workspace\.id|deleted\.ids",
)
PAGE = _grammar("the id of a page", r"pg_[0-9a-z]{1,40}")
OWNER = _grammar("the name of a writer", r"w_[0-9a-z]{1,40}")
TOKEN = _grammar("the token of a deleted conversation", r"[0-9a-f]{64}")
PICTURE = _grammar("the name of a kept picture", r"[0-9a-f]{64}\.[0-9a-z]{1,8}")
VECTORS_FOLDER = _grammar("the folder of an embedder's vectors", r"[0-9a-f]{16}")
WORKSPACE_ID = _grammar("the id of a workspace", r"[0-9a-f]{32}")
DRAFT = _grammar("the name of a draft", r"[0-9A-Za-z_-]{1,100}")
MIRROR = _grammar("the name of a mirror", r"[0-9a-z_][0-9a-z_-]{0,99}\.md")
BACKUP_FILE = _grammar(
    "the name of a file of a backup", r"[0-9a-f]{64}\.piece|[0-9]{8}T[0-9]{9}Z-[0-9a-f]{8}\.snapshot"
)
SEGMENT = _grammar("the name of a segment", r"d_[0-9a-z]{12}-[0-9]{8}-[0-9a-f]{16}\.segment(\.age)?")
