"""Packs that the index does not know: left by an archiving that was cut short, or by a database that is lost."""

from collections.abc import Collection
from pathlib import Path

from foundation.files import list_files
from foundation.program import PROGRAM

SUFFIX = ".pages"


def strangers(folder: Path, known: Collection[str]) -> list[Path]:
    """The packs in `folder` that are none of the known, by name."""
    return [path for path in list_files(folder, f"*{SUFFIX}") if path.name not in known]


def stranger_names(names: Collection[str], known: Collection[str]) -> list[str]:
    """The packs among these names that are none of the known."""
    return sorted(name for name in names if name.endswith(SUFFIX) and name not in known)


def index_lost(database: Path, count: int) -> str:
    """What to say where there are `count` packs, and a store that knows none of them."""
    packs = "1 pack of archived pages stands" if count == 1 else f"{count:,} packs of archived pages stand"
    return (
        f"{packs} in this workspace, and its database {database} knows none of them: it is new, or another. "
        f"`{PROGRAM} check --repair` builds its index again from the packs and what stands beside them; where there is "
        "a backup of the database, it has more than that. Nothing of the packs is deleted."
    )
