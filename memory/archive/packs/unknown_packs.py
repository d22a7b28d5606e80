"""Packs without a row in the index: left by an interrupted archiving, or by a lost database."""

from collections.abc import Collection
from pathlib import Path

from foundation.files import list_files
from foundation.program import PROGRAM

SUFFIX = ".pages"


def unknown_packs(folder: Path, known: Collection[str]) -> list[Path]:
    """Packs in `folder` that are not among the known names."""
    return [path for path in list_files(folder, f"*{SUFFIX}") if path.name not in known]


def unknown_pack_names(names: Collection[str], known: Collection[str]) -> list[str]:
    """Names of packs that are not among the known names."""
    return sorted(name for name in names if name.endswith(SUFFIX) and name not in known)


def index_lost(database: Path, count: int) -> str:
    """The warning where there are `count` packs, and the store has rows of none of them."""
    packs = "1 pack of archived pages is" if count == 1 else f"{count:,} packs of archived pages are"
    return (
        f"{packs} in this workspace, but its database {database} does not contain them: it is new or was "
        f"replaced. `{PROGRAM} check --repair` rebuilds the index from the packs; a backup of the database "
        "is more complete, if there is one. The packs are not deleted."
    )
