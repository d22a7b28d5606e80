"""An embedder for tests: a text's vector counts its words. It can be down, and it counts what it is asked."""

import threading
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.embed.errors import EmbedError


class FakeEmbedder:
    remote = False

    def __init__(self, name: str = "fake", *, dimensions: int = 64, salt: str = "") -> None:
        self.name = name
        self.dimensions = dimensions
        self.salt = salt  # another salt is another model
        self.is_down = False
        self.refuses = ""  # texts that hold this are too long for it
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.is_closed = False
        self.waits = threading.Event()  # set: goes on
        self.waits.set()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.waits.wait(10)
        if self.is_down:
            raise EmbedError("No connection", "There is no server.", passing=True)
        if self.refuses and any(self.refuses in text for text in texts):
            raise EmbedError("Too long", "That is too long.", of_text=True)
        (self.questions if query else self.texts).extend(texts)
        return np.array([self.vector(text) for text in texts], np.float32).reshape(-1, self.dimensions)

    def vector(self, text: str) -> NDArray[np.float32]:
        found = np.zeros(self.dimensions, np.float32)
        for word in text.lower().split():
            found[zlib.crc32((self.salt + word.strip(".,?!")).encode()) % self.dimensions] += 1
        if not found.any():
            found[0] = 1
        return found / np.linalg.norm(found)

    def close(self) -> None:
        self.is_closed = True
