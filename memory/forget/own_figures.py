"""Digests and figures that this program writes for itself. Nobody said them, whatever digits they hold."""

import re
from typing import Final

from foundation.paths import Workspace
from memory.forgotten.fingerprints import Fingerprints

_DIGEST: Final = rb"(?<![0-9A-Za-z])[0-9a-f]{16,128}(?![0-9A-Za-z])"
_OF_A_FIELD: Final = rb'(?<=[^\\]":)-?[0-9]+(?:\.[0-9]+)?(?=[,}])'
_IN_A_LIST: Final = rb"(?<=[\[,])[0-9]+(?=[,\]])"
_SUM_OF_A_LINE: Final = rb"^[0-9a-f]{8}(?= \{)"
DIGESTS: Final = re.compile(_DIGEST)
FIGURES: Final = re.compile(b"|".join((_DIGEST, _OF_A_FIELD, _IN_A_LIST, _SUM_OF_A_LINE)), re.MULTILINE)
"""Digests, and the numbers of JSON."""

_RECORDS: Final = (".json", ".jsonl", "manifest")
_TYPED: Final = ("prompt-history", "drafts/")
_COLUMNS: Final = {("entries", "meta"), ("entries", "sent"), ("epochs", "state"), ("requests", "state")}
"""JSON that the program makes; texts in it are in strings."""


def figures_of_file(space: Workspace, name: str) -> re.Pattern[bytes] | None:
    """What in the bytes of a file, by its relative name, are digests and figures; None where it is a person's text."""
    own = name.removeprefix(f"{space.state.name}/")
    if own == name or own.startswith(_TYPED):
        return None
    is_database = own in {space.database.name, f"{space.database.name}-wal"}  # its values are looked through besides
    return FIGURES if is_database or own.endswith(_RECORDS) else None


def figures_of_column(table: str, column: str) -> re.Pattern[bytes] | None:
    """The same of a column of the database."""
    if table.startswith("sync_"):
        return DIGESTS
    return FIGURES if (table, column) in _COLUMNS or column == "cost" else None


def holds_said(prints: Fingerprints, data: bytes, figures: re.Pattern[bytes] | None) -> bool:
    """Whether the data holds any of the words, but as a part of digests and figures."""
    return prints.holds(data) and (figures is None or prints.holds(without(prints, data, figures)))


def without(prints: Fingerprints, data: bytes, figures: re.Pattern[bytes]) -> bytes:
    """The data without its digests and figures. A digest that is a word as it stands was said: a key, a commit."""

    def blank(match: re.Match[bytes]) -> bytes:
        token = match[0]
        is_said = len(token) >= 16 and any(span == (0, len(token)) for span in prints.spans(token))
        return token if is_said else b"\0" * len(token)

    return figures.sub(blank, data)
