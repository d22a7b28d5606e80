"""A memory with something in it, and its vectors asked."""

from pathlib import Path

import numpy as np

from memory.search.column import Column
from memory.search.vectors.similarity import Similarity
from memory.search.vectors.store import VectorStore
from memory.search.vectors.vectors import Vectors
from tests.memory.search.conversation import Talk

TOPICS = ("the boiler needs a new valve", "tea with lemon", "a ferry to lisbon", "seven white ships", "the tax form")


def everything(entries: Column) -> Column:
    return np.ones(len(entries), bool)


def nearest(found: Similarity | None, most: int = 1) -> list[int]:
    assert found is not None
    return found.nearest(most, everything)[0].tolist()


def bytes_under(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file())


def scattered(talk: Talk, count: int = 5) -> list[int]:
    drafts = [talk.draft(f"{TOPICS[number % 5]} number{number}", to=f"c{number % 3}") for number in range(count)]
    return [entry.seq for entry in talk.memory.cold.append_many(drafts) if entry]


def store_of(vectors: Vectors) -> VectorStore:
    kept = vectors.registry.now()
    assert kept is not None
    kept.store.look()
    return kept.store
