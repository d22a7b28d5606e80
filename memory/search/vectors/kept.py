"""Embedders with the folders of what they made, each opened once in a process."""

import time
from pathlib import Path
from threading import RLock

from msgspec import Struct

from foundation.files import list_folders, remove_tree, scan, status
from foundation.names import VECTORS_FOLDER
from memory.search.vectors import about as abouts
from memory.search.vectors.about import About
from memory.search.vectors.embedding import Embedding, Opens
from memory.search.vectors.store import VectorStore
from models.embed.port import Embedder

UNUSED_S = 24 * 3600.0  # another process of the workspace may still be set to the old embedder


class Kept(Struct, frozen=True):
    """An embedder, and what it made."""

    embedder: Embedder
    store: VectorStore
    about: About


class Keepers:
    """Safe to call from any thread."""

    def __init__(self, root: Path, embedding: Embedding) -> None:
        self.root = root
        self._embedding = embedding
        self._lock = RLock()
        self._embedders: dict[Opens, Embedder | None] = {}
        self._stores: dict[tuple[Path, int], VectorStore] = {}

    def embedder(self) -> Embedder | None:
        """The one that is set. Raises PalimpsestError where it cannot be opened."""
        return self._opened(self._embedding.now)

    def now(self) -> Kept | None:
        """None where no embedder is set, or it made nothing yet. Raises as `embedder` does."""
        return self._kept(self._embedding.now)

    def before(self) -> Kept | None:
        """The same of the one that was set until now."""
        return self._kept(self._embedding.before)

    def folder(self, embedder: Embedder) -> Path:
        return abouts.folder_for(self.root, embedder.name)

    def store(self, folder: Path, dimensions: int) -> VectorStore:
        with self._lock:
            return self._stores.setdefault((folder, dimensions), VectorStore(folder, dimensions))

    def stores(self) -> list[VectorStore]:
        """Of every folder there is, whoever made it."""
        return [self.store(folder, about.dimensions) for folder in self._folders() if (about := abouts.read(folder))]

    def discard_unused(self, ours: Path) -> None:
        """The vectors of other embedders, for which nobody has made one since yesterday."""
        for folder in self._folders():
            if folder != ours and time.time() - _last_made(folder) > UNUSED_S:
                remove_tree(folder)  # Windows keeps what is mapped: the next run does it

    def close(self) -> None:
        """Closes the embedders that were opened."""
        with self._lock:
            opened, self._embedders = list(self._embedders.values()), {}
        for embedder in opened:
            if embedder is not None:
                embedder.close()

    def _kept(self, opens: Opens) -> Kept | None:
        embedder = self._opened(opens)
        if embedder is None:
            return None
        folder = self.folder(embedder)
        about = abouts.read(folder)
        return None if about is None else Kept(embedder, self.store(folder, about.dimensions), about)

    def _opened(self, opens: Opens) -> Embedder | None:
        with self._lock:
            if opens not in self._embedders:
                self._embedders[opens] = opens()
            return self._embedders[opens]

    def _folders(self) -> list[Path]:
        return [folder for folder in list_folders(self.root) if VECTORS_FOLDER.fits(folder.name)]


def _last_made(folder: Path) -> float:
    """When the newest file of vectors was written, in seconds since 1970."""
    times = [found.st_mtime for _, found in scan(folder, "vectors-*.bin")]
    if times:
        return max(times)
    return found.st_mtime if (found := status(folder)) else time.time()
