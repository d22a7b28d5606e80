"""One peer in a process of its own, spoken to in JSON lines: run by its own Python, with nothing of ours imported.

    PYTHON server.py memsearch|mem0|chromadb FOLDER MODEL

FOLDER is where its stores may lie, MODEL a folder that sentence-transformers loads. A line in, a line out:

    {"open": NAME}                          a store of that name, empty             {"ok": true}
    {"add": [{"id": …, "text": …}, …]}      what it is to remember                  {"ok": true}
    {"ask": TEXT, "most": N}                the ids of what it finds, best first    {"ids": […], "ms": …}

Each is driven as its own documentation says. The first line out is `{"ready": VERSION}`; `{"error": …}` stands for any
other, and ends the run.
"""

import asyncio
import json
import logging
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

DISTRIBUTIONS = {"memsearch": "memsearch", "mem0": "mem0ai", "chromadb": "chromadb"}
DIMENSIONS = 384  # of all-MiniLM-L6-v2


class MemSearchPeer:
    """A Markdown file a turn, indexed from its folder, as memsearch has memories; hybrid search (dense, BM25, RRF)."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder, self._model = folder, model

    def open(self, name: str) -> None:
        from memsearch import MemSearch

        self._notes = self._folder / f"{name}-notes"
        self._notes.mkdir(parents=True)
        database = self._folder / f"{name}.db"
        self._peer = MemSearch(
            [str(self._notes)], embedding_provider="local", embedding_model=self._model, milvus_uri=str(database)
        )

    def add(self, some: list[dict[str, str]]) -> None:
        self._ids = {f"{number:06}.md": each["id"] for number, each in enumerate(some)}
        for (name, _), each in zip(self._ids.items(), some, strict=True):
            (self._notes / name).write_text(each["text"], "utf-8")
        report = asyncio.run(self._peer.index_with_report())
        if report.failed_files:
            raise RuntimeError(f"{len(report.failed_files)} files were not indexed: {report.failed_files[0].error}")

    def ask(self, text: str, most: int) -> list[str]:
        found = asyncio.run(self._peer.search(text, top_k=most))
        return [self._ids[Path(each["source"]).name] for each in found]


class Mem0Peer:
    """Texts added as they are (`infer=False`: no language model), searched by their vectors in its own local Qdrant."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder, self._model = folder, model

    def open(self, name: str) -> None:
        from mem0 import Memory

        config = {
            "embedder": {"provider": "huggingface", "config": {"model": self._model, "embedding_dims": DIMENSIONS}},
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(self._folder / name),
                    "collection_name": name,
                    "embedding_model_dims": DIMENSIONS,
                    "on_disk": True,
                },
            },
            "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}},
            "history_db_path": str(self._folder / f"{name}-history.db"),
        }
        self._peer = Memory.from_config(config)

    def add(self, some: list[dict[str, str]]) -> None:
        for each in some:
            self._peer.add(each["text"], user_id="one", metadata={"turn": each["id"]}, infer=False)

    def ask(self, text: str, most: int) -> list[str]:
        found = self._peer.search(text, filters={"user_id": "one"}, top_k=most, threshold=0.0)
        return [each["metadata"]["turn"] for each in found["results"]]


class ChromaPeer:
    """A collection that embeds documents by a function of ours, over the same model."""

    def __init__(self, folder: Path, model: str) -> None:
        import chromadb
        from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

        self._client = chromadb.PersistentClient(str(folder / "chroma"))
        self._function = SentenceTransformerEmbeddingFunction(model_name=model)

    def open(self, name: str) -> None:
        self._peer: Any = self._client.create_collection(
            name, embedding_function=self._function, metadata={"hnsw:space": "cosine"}
        )

    def add(self, some: list[dict[str, str]]) -> None:
        for start in range(0, len(some), 500):
            part = some[start : start + 500]
            self._peer.add(ids=[each["id"] for each in part], documents=[each["text"] for each in part])

    def ask(self, text: str, most: int) -> list[str]:
        return self._peer.query(query_texts=[text], n_results=min(most, self._peer.count()))["ids"][0]


PEERS = {"memsearch": MemSearchPeer, "mem0": Mem0Peer, "chromadb": ChromaPeer}


def main(name: str, folder: str, model: str) -> int:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what a peer prints itself must not get among the answers
    os.dup2(2, 1)
    os.environ |= {"HF_HUB_OFFLINE": "1", "MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False"}
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "MEM0_DIR": folder, "HOME": folder}
    logging.disable(logging.CRITICAL)

    def say(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        peer = PEERS[name](Path(folder), model)
        say({"ready": version(DISTRIBUTIONS[name])})
        for line in sys.stdin:
            say(answered(peer, json.loads(line)))
    except Exception as error:  # the edge of a process: whoever started it tells a person
        say({"error": f"{type(error).__name__}: {error}"})
        return 1
    return 0


def answered(peer: Any, asked: dict[str, Any]) -> dict[str, Any]:
    if "ask" in asked:
        began = time.perf_counter()
        ids = peer.ask(asked["ask"], asked["most"])
        return {"ids": ids, "ms": (time.perf_counter() - began) * 1000}
    if "open" in asked:
        peer.open(asked["open"])
    else:
        peer.add(asked["add"])
    return {"ok": True}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
