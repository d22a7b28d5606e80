"""Vectors for a large store without a model: real ones, or random ones, each entry's a little beside one of them."""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from foundation.paths import Workspace
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.search.vectors import embedders as store_info
from memory.search.vectors.embedders import CANARY, VectorStoreInfo
from memory.search.vectors.segment import VectorRows
from memory.search.vectors.similarity import inverse_lengths, quantised
from memory.search.vectors.store import VectorStore

NAME = "benchmark: perturbed"
DIMENSIONS = 384
_AT_ONCE = 100_000
_NOISE = 0.5  # the length of what is added to a vector of length 1


class PerturbedEmbedder:
    """Gives each text one of the vectors, with something added: the same for the same text, whatever it means."""

    name = NAME
    remote = False

    def __init__(self, path: Path | None) -> None:
        """Real vectors are an .npy of (n, dimensions)."""
        chance = np.random.default_rng(4)
        real = np.load(path) if path else chance.standard_normal((4096, DIMENSIONS))
        self._real = _unit(real.astype("f4"))

    @property
    def dimensions(self) -> int:
        return self._real.shape[1]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.concatenate([self.some(crc32(text.encode()), 1) for text in texts])

    def some(self, seed: int, count: int) -> NDArray[np.float32]:
        chance = np.random.default_rng(seed)
        places = chance.integers(0, len(self._real), count)
        noise = chance.standard_normal((count, self.dimensions), "f4") * np.float32(_NOISE / self.dimensions**0.5)
        return _unit((self._real[places] + noise).astype("f4"))

    def close(self) -> None:
        """Nothing to close."""


def fill_vectors(workspace: Workspace, cold: ColdStore, embedder: PerturbedEmbedder) -> float:
    """A vector for each entry that has none; the size of all in MB."""
    folder, last = store_info.folder_for(workspace.vectors, NAME), cold.last_change()
    store = VectorStore(folder, embedder.dimensions)
    entries = np.array(cold.read(lambda db: fetch(db, "SELECT entry FROM terms ORDER BY entry")), "i8").reshape(-1)
    entries = entries[~store.has(entries)]
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        vectors = quantised(embedder.some(int(some[0]), len(some)))
        zeros = np.zeros(len(some), "u8")
        store.put(VectorRows(some, zeros, zeros.astype("u2"), inverse_lengths(vectors), vectors))
    canary = [float(number) for number in embedder.embed([CANARY])[0]]
    about = VectorStoreInfo(name=NAME, dimensions=embedder.dimensions, canary=canary, covered=last, swept=last)
    store_info.write(folder, store_info.seen_now(about, cold))
    return round(store.bytes / 1e6, 1)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
