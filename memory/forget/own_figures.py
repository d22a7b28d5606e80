"""Digests, figures, times and names of files that this program writes for itself. Nobody said them, whatever they
hold."""

import re
from typing import Final

from foundation.paths import Workspace
from memory.forgotten.fingerprints import Fingerprints

_DIGEST: Final = rb"(?<![0-9A-Za-z])[0-9a-f]{16,128}(?![0-9A-Za-z])"
_OF_A_FIELD: Final = rb'(?<=[^\\]":)(?:-?[0-9]+(?:\.[0-9]+)?|true|false|null)(?=[,}])'
_IN_A_LIST: Final = rb"(?<=[\[,])[0-9]+(?=[,\]])"
_SUM_OF_A_LINE: Final = rb"^[0-9a-f]{8}(?= \{)"
_FORMAT_OF_A_MIRROR: Final = rb"---\nformat: [0-9]+\n(?=id: \")"
_TIME_OF_A_MIRROR: Final = rb"(?<=\n)created: [0-9T:.-]+Z\n---\n"
_TIME_OF_A_TURN: Final = rb"(?<=\n## )[0-9-]{10} [0-9:]{5}(?= \xc2\xb7 )"
DIGESTS: Final = re.compile(_DIGEST)
FIGURES: Final = re.compile(b"|".join((_DIGEST, _OF_A_FIELD, _IN_A_LIST, _SUM_OF_A_LINE)), re.MULTILINE)
"""Digests, and the numbers of JSON."""
MIRRORS: Final = re.compile(b"|".join((_FORMAT_OF_A_MIRROR, _TIME_OF_A_MIRROR, _TIME_OF_A_TURN)))
"""The format and the times of mirrors: no text in them can look like a heading (memory.cold.mirrors.escapes)."""
DATABASE: Final = re.compile(b"|".join((FIGURES.pattern, MIRRORS.pattern)), re.MULTILINE)
_FIELD_OF_A_JOB: Final = rb"\"[a-z_ ]+\":"
_STEPS_OF_A_JOB: Final = rb"(?<=\"done\":)\[[a-z \",]*\]"
_FILE_OF_A_RECEIPT: Final = rb"(?<=\")\.palimpsest/[a-z.-]+(?: \(values\))?(?=\")"
JOBS: Final = re.compile(
    b"|".join((_STEPS_OF_A_JOB, FIGURES.pattern, _FIELD_OF_A_JOB, _FILE_OF_A_RECEIPT)), re.MULTILINE
)
"""Those of JSON, and in the journal of forgetting the names of its fields and steps, and of files of the program."""

_FIXED: Final = frozenset(
    {"cold.db", "cold.db-wal", "cold.db-shm", "cold.db-writers", "config.yaml", "damaged", "checkpoints"}
    | {"blobs", "drafts", "forgotten", "forgotten.jsonl", "tombstones.jsonl", "locations.json", "backup.json"}
    | {"sync.json", "knowledge", "log.txt", "pack-cache", "packs", "pages", "pasted-images"}
    | {"postings", "prompt-caches", "prompt-history.jsonl", "secret.copy", "secret.key"}
    | {"system.last-good.yaml", "upkeep.json"}
    | {"vectors", "versions", "objects", "head", "manifest", "workspace.id"}
)
"""Names of files and folders below the state that every workspace may have."""
_RECORDS: Final = (".json", ".jsonl", "manifest")
_TYPED: Final = ("prompt-history", "drafts/")
_COLUMNS: Final = {("entries", "meta"), ("entries", "sent"), ("epochs", "state"), ("requests", "state")}
"""JSON that the program makes; texts in it are in strings."""


def figures_of_file(space: Workspace, name: str) -> re.Pattern[bytes] | None:
    """What in the bytes of a file, by its relative name, are digests and figures; None where it is a person's text."""
    if name.startswith(f"{space.conversations.name}/"):
        return MIRRORS
    own = name.removeprefix(f"{space.state.name}/")
    if own == name or own.startswith(_TYPED):
        return None
    if own in {space.database.name, f"{space.database.name}-wal"}:  # its values are looked through besides
        return DATABASE
    if own.startswith(f"{space.forgotten.name}/") and own.endswith(".json"):
        return JOBS
    return FIGURES if own.endswith(_RECORDS) else None


def without_own_names(space: Workspace, name: str) -> str:
    """Of the relative name of a file or folder what is no fixed name of the program's: "" for `.palimpsest/cold.db`."""
    top, *parts = name.split("/")
    if top not in {space.state.name, space.conversations.name}:
        return name
    while parts and parts[0] in _FIXED:
        del parts[0]
    return "/".join(parts)


def figures_of_column(table: str, column: str) -> re.Pattern[bytes] | None:
    """The same of a column of the database."""
    if table.startswith("sync_"):
        return DIGESTS
    if (table, column) == ("mirrors", "head"):
        return MIRRORS
    return FIGURES if (table, column) in _COLUMNS or column == "cost" else None


def holds_said(prints: Fingerprints, data: bytes, figures: re.Pattern[bytes] | None) -> bool:
    """Whether the data holds any of the words, but as a part of digests and figures."""
    return prints.holds(data) and (figures is None or prints.holds(without(prints, data, figures)))


def without(prints: Fingerprints, data: bytes, figures: re.Pattern[bytes]) -> bytes:
    """The data without its digests and figures. A digest that is a word as it stands was said: a key, a commit."""

    def blank(match: re.Match[bytes]) -> bytes:
        token = match[0]
        is_said = DIGESTS.fullmatch(token) and any(span == (0, len(token)) for span in prints.spans(token))
        return token if is_said else b"\0" * len(token)

    return figures.sub(blank, data)
