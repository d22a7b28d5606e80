"""Packs that the index does not know: left by an archiving that was cut short, or by a database that is lost."""

from collections.abc import Collection
from pathlib import Path

SUFFIX = ".pages"


def strangers(folder: Path, known: Collection[str]) -> list[Path]:
    """The packs in `folder` that are none of the known, by name."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.name not in known)


def index_lost(database: Path, count: int) -> str:
    """What to say where there are `count` packs, and a store that knows none of them."""
    packs = "1 pack of archived pages stands" if count == 1 else f"{count:,} packs of archived pages stand"
    return (
        f"{packs} in this workspace, and its database {database} knows none of them: it is new, or another. "
        "What was archived cannot be found until the database is brought back from a backup; "
        "`palimpsest check` names the packs. Nothing of them is deleted."
    )
