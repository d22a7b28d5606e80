"""Peers side by side: which there are, and what each finds. One that is not there, or fails, says why."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self

from benchmarks.corpora import Corpus, Store
from benchmarks.peers.simple import Fts5, Grep
from benchmarks.proof.figures import DEEPEST, Answer, Progress, ranks

SERVED = ("memsearch", "mem0", "chromadb")
"""Those that run in a process of their own, by their own Python."""

PLAIN = ("fts5", "fts5-trigram", "grep")
NAMES = (*SERVED, *PLAIN)

_SERVING = Path(__file__).with_name("server.py")


class NotMeasured(Exception):
    """Why a peer has no figures, in a few words."""


class Peer(Protocol):
    """What can be asked. `ask` gives ids, best first."""

    def open(self, name: str) -> None: ...
    def add(self, some: Sequence[tuple[str, str]]) -> None: ...
    def ask(self, text: str, most: int) -> list[str]: ...


class Served:
    """A peer behind a pipe. Every method raises NotMeasured where it fails."""

    def __init__(self, name: str, python: Path, folder: Path, model: Path) -> None:
        if not python.exists():
            raise NotMeasured(f"there is no {python}")
        command = [str(python), str(_SERVING), name, str(folder), str(model)]
        self._told = folder / "told.txt"  # what it tells besides its answers
        with self._told.open("wb") as told:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, encoding="utf-8"
            )
        try:
            self.version = str(self._read()["ready"])
        except NotMeasured:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, name: str) -> None:
        self._say({"open": name})

    def add(self, some: Sequence[tuple[str, str]]) -> None:
        self._say({"add": [{"id": name, "text": text} for name, text in some]})

    def ask(self, text: str, most: int) -> list[str]:
        return self._say({"ask": text, "most": most})["ids"]

    def close(self) -> None:
        """Ends the process."""
        with suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _say(self, value: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NotMeasured(f"its process is gone: {error}") from error
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            last = self._told.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["nothing"]
            raise NotMeasured(f"its process ended with {self._process.wait()} and said {last[0][:200]}")
        value: dict[str, Any] = json.loads(line)
        if "error" in value:
            raise NotMeasured(str(value["error"])[:200])
        return value


def asked_of(peer: Peer, corpus: Corpus, progress: Progress) -> list[Answer]:
    """The answers to every question that has one: what none of these can say is that nothing is there."""
    answers: list[Answer] = []
    for number, store in enumerate(corpus.stores, start=1):
        progress(f"store {number} of {len(corpus.stores)}: {len(store.turns)} texts")
        peer.open(f"store-{number}")
        peer.add(texts(store))
        for asked in store.questions:
            if asked.evidence:
                began = time.perf_counter()
                found = peer.ask(asked.text, DEEPEST)
                answers.append(
                    Answer(
                        category=asked.category,
                        wanted=len(asked.evidence),
                        store=store.name,
                        ranks=ranks(found, asked.evidence),
                        ms=(time.perf_counter() - began) * 1000,
                    )
                )
    return answers


def texts(store: Store) -> list[tuple[str, str]]:
    """What every peer is given: who said it and what, as people paste talk."""
    return [(turn.id, f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text) for turn in store.turns]


def measured(
    name: str, corpus: Corpus, *, python: Path | None, folder: Path, model: Path | None, progress: Progress
) -> tuple[str, list[Answer]]:
    """Its version and its answers. Raises NotMeasured."""
    if name in PLAIN:
        plain: Peer = Grep() if name == "grep" else Fts5("trigram" if name == "fts5-trigram" else "unicode61")
        return "", asked_of(plain, corpus, progress)
    if model is None:
        raise NotMeasured("no model: name the folder of one, with --peer-model")
    folder.mkdir(parents=True)
    with Served(name, python or Path(sys.executable), folder, model) as peer:
        return peer.version, asked_of(peer, corpus, progress)
