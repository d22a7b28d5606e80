"""Registry of opened embedders and their vector stores, each opened once per process.

`about.json` in a store's folder names the model of the vectors, and how much of the cold store they cover.
"""

import hashlib
import time
from pathlib import Path
from threading import RLock

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from foundation.files import (
    list_folders,
    make_private_folder,
    read_bytes,
    remove,
    remove_tree,
    scan,
    status,
    write_atomically,
)
from foundation.names import VECTORS_FOLDER
from foundation.privacy import as_made
from foundation.typed_json import decode_json
from memory.cold import ColdStore
from memory.search.embedding import EmbedderSet, Opens
from memory.search.vectors import passages
from memory.search.vectors.store import VectorStore
from models.embed.port import Embedder

_FILE = "about.json"
CANARY = as_made("The lighthouse keeper wrote: 七艘白船, at 09:40, heading = 271.")
"""Embedded with a question once per process: where its vector differs, another model answers under the name."""
SAME = 0.98
"""Cosine of two vectors of the canary by one and the same model: builds and batches differ in the fourth digit."""


class VectorStoreInfo(Struct, frozen=True, kw_only=True):
    """`seen` is a change of the store with its operation and entry: it identifies the store."""

    name: str
    dimensions: int
    canary: list[float]
    seen: tuple[int, str, int] = (0, "", 0)
    covered: int = 0  # every entry up to this change has its vectors; 0 where they were never complete
    swept: int = 0  # entries removed up to this change are purged from the files


def folder_for(root: Path, name: str) -> Path:
    """Folder of an embedder's vectors; another version of the passage splitter has another folder."""
    return root / hashlib.sha256(f"{name}\n{passages.VERSION}".encode()).hexdigest()[:16]


def read(folder: Path) -> VectorStoreInfo | None:
    """None where the folder has no readable `about.json`."""
    try:
        return decode_json(read_bytes(folder / _FILE), VectorStoreInfo)
    except (OSError, msgspec.DecodeError):
        return None


def write(folder: Path, about: VectorStoreInfo) -> None:
    """Raises OSError."""
    make_private_folder(folder)
    write_atomically(folder / _FILE, msgspec.json.encode(about))


def forget(folder: Path) -> None:
    remove(folder / _FILE, missing_ok=True)


def seen_now(about: VectorStoreInfo, cold: ColdStore) -> VectorStoreInfo:
    """The same, with the store's newest change."""
    last = cold.last_change()
    return replace(about, seen=(last, *_change_at(cold, last)))


def is_of(about: VectorStoreInfo, cold: ColdStore) -> bool:
    """Whether the vectors are of this store, and not of another that was in its place."""
    seq, op, entry = about.seen
    return not seq or _change_at(cold, seq) == (op, entry)


def is_same_model(canary: NDArray[np.float32], about: VectorStoreInfo) -> bool:
    """Whether the canary's vector is of the same model as the folder's."""
    return len(canary) == about.dimensions and float(canary @ np.array(about.canary, np.float32)) >= SAME


def _change_at(cold: ColdStore, seq: int) -> tuple[str, int]:
    found = cold.changes(seq - 1, 1) if seq else []
    return (found[0].op, found[0].entry) if found and found[0].seq == seq else ("", 0)


UNUSED_S = 24 * 3600.0  # another process of the workspace may still be set to the old embedder


class OpenedEmbedder(Struct, frozen=True):
    """An embedder, and its vectors."""

    embedder: Embedder
    store: VectorStore
    about: VectorStoreInfo


class EmbedderRegistry:
    """Safe to call from any thread."""

    def __init__(self, root: Path, embedding: EmbedderSet) -> None:
        self.root = root
        self._embedding = embedding
        self._lock = RLock()
        self._embedders: dict[Opens, Embedder | None] = {}
        self._stores: dict[tuple[Path, int], VectorStore] = {}

    def embedder(self) -> Embedder | None:
        """The configured embedder. Raises PalimpsestError where it cannot be opened."""
        return self._opened(self._embedding.now)

    def now(self) -> OpenedEmbedder | None:
        """The configured embedder with its vectors; None where there are none. Raises as `embedder` does."""
        return self._kept(self._embedding.now)

    def before(self) -> OpenedEmbedder | None:
        """The same for the previously configured embedder."""
        return self._kept(self._embedding.before)

    def folder(self, embedder: Embedder) -> Path:
        return folder_for(self.root, embedder.name)

    def store(self, folder: Path, dimensions: int) -> VectorStore:
        with self._lock:
            return self._stores.setdefault((folder, dimensions), VectorStore(folder, dimensions))

    def stores(self) -> list[VectorStore]:
        """Stores of all folders, whichever embedder made them."""
        return [self.store(folder, about.dimensions) for folder in self._folders() if (about := read(folder))]

    def discard_unused(self, ours: Path) -> None:
        """Deletes vectors of other embedders that have had no new one for a day."""
        for folder in self._folders():
            if folder != ours and time.time() - _last_made(folder) > UNUSED_S:
                remove_tree(folder)  # Windows cannot delete mapped files: the next run deletes it

    def close(self) -> None:
        """Closes the embedders that were opened."""
        with self._lock:
            opened, self._embedders = list(self._embedders.values()), {}
        for embedder in opened:
            if embedder is not None:
                embedder.close()

    def _kept(self, opens: Opens) -> OpenedEmbedder | None:
        embedder = self._opened(opens)
        if embedder is None:
            return None
        folder = self.folder(embedder)
        about = read(folder)
        return None if about is None else OpenedEmbedder(embedder, self.store(folder, about.dimensions), about)

    def _opened(self, opens: Opens) -> Embedder | None:
        with self._lock:
            if opens not in self._embedders:
                self._embedders[opens] = opens()
            return self._embedders[opens]

    def _folders(self) -> list[Path]:
        return [folder for folder in list_folders(self.root) if VECTORS_FOLDER.fits(folder.name)]


def _last_made(folder: Path) -> float:
    """Time of the newest vector file, in seconds since 1970."""
    times = [found.st_mtime for _, found in scan(folder, "vectors-*.bin")]
    if times:
        return max(times)
    return found.st_mtime if (found := status(folder)) else time.time()
