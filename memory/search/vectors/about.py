"""What is known of a folder of vectors: whose they are, and how much of the store they cover."""

import hashlib
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from foundation.files import make_private_folder, read_bytes, remove, write_atomically
from foundation.privacy import as_made
from memory.cold import ColdStore
from memory.search.vectors import passages

_FILE = "about.json"
CANARY = as_made("The lighthouse keeper wrote: 七艘白船, at 09:40, heading = 271.")
"""Embedded beside a question once a process: where its vector is another one, another model goes by the name."""
SAME = 0.98
"""Cosine of two vectors of the canary by one and the same model: builds and batches differ in the fourth digit."""


class About(Struct, frozen=True, kw_only=True):
    """`seen` is a change of the store with its operation and entry: another store has another there."""

    name: str
    dimensions: int
    canary: list[float]
    seen: tuple[int, str, int] = (0, "", 0)
    covered: int = 0  # all that changed up to here has its vectors; 0 where they were never complete
    swept: int = 0  # what was removed up to here is gone from the files


def folder_for(root: Path, name: str) -> Path:
    """One an embedder, and one a way of cutting texts."""
    return root / hashlib.sha256(f"{name}\n{passages.VERSION}".encode()).hexdigest()[:16]


def read(folder: Path) -> About | None:
    """None where nothing was made there, or it cannot be read."""
    try:
        return msgspec.json.decode(read_bytes(folder / _FILE), type=About)
    except (OSError, msgspec.MsgspecError):
        return None


def write(folder: Path, about: About) -> None:
    """Raises OSError."""
    make_private_folder(folder)
    write_atomically(folder / _FILE, msgspec.json.encode(about))


def forget(folder: Path) -> None:
    remove(folder / _FILE, missing_ok=True)


def seen_now(about: About, cold: ColdStore) -> About:
    """With the store's newest change."""
    last = cold.last_change()
    return replace(about, seen=(last, *_change_at(cold, last)))


def is_of(about: About, cold: ColdStore) -> bool:
    """Whether the vectors were made of this store, and not of another that stood in its place."""
    seq, op, entry = about.seen
    return not seq or _change_at(cold, seq) == (op, entry)


def is_same_model(canary: NDArray[np.float32], about: About) -> bool:
    """Whether this vector of the canary is of the model that made the folder's."""
    return len(canary) == about.dimensions and float(canary @ np.array(about.canary, np.float32)) >= SAME


def _change_at(cold: ColdStore, seq: int) -> tuple[str, int]:
    found = cold.changes(seq - 1, 1) if seq else []
    return (found[0].op, found[0].entry) if found and found[0].seq == seq else ("", 0)
