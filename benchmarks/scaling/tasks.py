"""What is measured of a store in a process of its own: `python -m benchmarks.scaling.tasks TASK WORKSPACE …`.

Prints one JSON object. A process of its own, because memory is a process's, and because opening is part of what is
measured.
"""

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.scaling.embedded import PerturbedEmbedder, fill_vectors
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.cold.changes import note_change
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from memory.search.embedding import EmbedderSet
from models.messages import Role

TOP = 10


def private_mb() -> tuple[float, float]:
    """Memory that is this process's alone, and mapped files, in MB. Outside of Linux all of it counts as private."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1), 0.0
    kb = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if "kB" in rest}
    return round(kb["Private_Dirty"] / 1e3, 1), round((kb["Rss"] - kb["Private_Dirty"]) / 1e3, 1)


class Watch:
    """The most private memory seen while it is open, looked at twenty times a second."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.05):
            self.peak = max(self.peak, private_mb()[0])


def build(memory: Memory) -> dict[str, Any]:
    """The index from the rows."""
    began, cpu = time.perf_counter(), time.process_time()
    with Watch() as watch:
        memory.search.update(lambda done: print(f"    {done:,} indexed", file=sys.stderr))
    return {
        "build_s": round(time.perf_counter() - began, 1),
        "build_cpu_s": round(time.process_time() - cpu, 1),
        "build_private_mb": watch.peak,
    }


def first(memory: Memory, question: str) -> dict[str, Any]:
    """One question: who started the process measures the time."""
    return {"total": memory.search.query(Query(text=question)).total, "cpu_s": time.process_time()}


def ask(memory: Memory, questions: Path) -> dict[str, Any]:
    """Each of some questions, once they are warm: milliseconds, and how much of the evidence is in the first ten."""
    asked: list[dict[str, Any]] = json.loads(questions.read_text())
    for one in asked[:20]:
        memory.search.query(Query(text=one["text"]))
    wall: list[float] = []
    cpu: list[float] = []
    recalls: list[float] = []
    for one in asked:
        began, busy = time.perf_counter(), time.process_time()
        hits = memory.search.query(Query(text=one["text"], limit=TOP)).hits
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - busy) * 1000)
        found = {hit.entry for hit in hits}
        recalls.append(len(found.intersection(one["entries"])) / len(one["entries"]))
    private, mapped = private_mb()
    return {
        **{f"p{round(100 * share)}_ms": at(wall, share) for share in (0.5, 0.95)},
        **{f"p{round(100 * share)}_cpu_ms": at(cpu, share) for share in (0.5, 0.95)},
        "private_mb": private,
        "mapped_mb": mapped,
        "recall_10": round(100 * sum(recalls) / len(recalls), 1),
    }


def embed(memory: Memory, embedder: PerturbedEmbedder) -> dict[str, Any]:
    """A vector for each entry."""
    return {"vectors_mb": fill_vectors(memory.workspace, memory.cold, embedder)}


def near(memory: Memory, questions: Path) -> dict[str, Any]:
    """Questions with vectors at hand: the scan of all of them, and the whole search."""
    texts: list[str] = [one["text"] for one in json.loads(questions.read_text())]
    vectors = memory.search.vectors
    for text in texts[:5]:
        memory.search.query(Query(text=text))
    scans: list[float] = []
    cpu: list[float] = []
    for text in texts:
        began = time.perf_counter()
        nearness = vectors.ask(text)
        if nearness is None:
            raise SystemExit(vectors.trouble)
        nearness.nearest(100, lambda entries: entries > 0)
        scans.append((time.perf_counter() - began) * 1000)
        busy = time.process_time()
        memory.search.query(Query(text=text, limit=TOP))
        cpu.append((time.process_time() - busy) * 1000)
    private, mapped = private_mb()
    return {
        "scan_p50_ms": at(scans, 0.5),
        "scan_p95_ms": at(scans, 0.95),
        "with_vectors_p50_cpu_ms": at(cpu, 0.5),
        "with_vectors_p95_cpu_ms": at(cpu, 0.95),
        "with_vectors_private_mb": private,
        "with_vectors_mapped_mb": mapped,
    }


def insert(memory: Memory, count: int) -> dict[str, Any]:
    """Single entries, each looked for as soon as it is on disk; then many at once; then while all is merged."""
    memory.search.query(Query(text="tea"))
    appended, found = _inserted(memory, count)
    began = time.perf_counter()
    talk = memory.cold.new_conversation().seq
    memory.cold.append_many([_draft(talk, f"imported {strange()} {number}") for number in range(5 * count)])
    importing = time.perf_counter() - began
    oldest = memory.cold.terms(0, 1)[0].entry
    memory.cold.write(lambda db: note_change(db, "change", [oldest]))  # its old row leaves: all is written anew
    merging = threading.Thread(target=memory.search.update)
    merging.start()
    meanwhile: list[float] = []
    while merging.is_alive():
        meanwhile += _inserted(memory, 1)[1]
    return {
        "append_p95_ms": at(appended, 0.95),
        "searchable_p95_ms": at(found, 0.95),
        "searchable_most_ms": round(max(found), 1),
        "import_per_s": round(5 * count / importing),
        "merged_meanwhile": len(meanwhile),
        "searchable_while_merging_p95_ms": at(meanwhile, 0.95),
        "searchable_while_merging_most_ms": round(max(meanwhile), 1),
    }


def listen(memory: Memory) -> dict[str, Any]:
    """Looks for the word of each line that comes in, until an empty one."""
    memory.search.query(Query(text="tea"))
    print("ready", flush=True)
    while line := sys.stdin.readline().strip():
        print(memory.search.query(Query(text=line)).total, flush=True)
    return {}


def _inserted(memory: Memory, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds that each took to write, and from then on to be found."""
    talk = memory.cold.new_conversation().seq
    appended: list[float] = []
    found: list[float] = []
    for _ in range(count):
        word = strange()
        began = time.perf_counter()
        memory.cold.append(_draft(talk, f"the parcel {word} came"))
        written = time.perf_counter()
        if memory.search.query(Query(text=word)).total != 1:
            raise SystemExit(f"{word} was not found")
        appended.append((written - began) * 1000)
        found.append((time.perf_counter() - written) * 1000)
    return appended, found


def strange() -> str:
    """A word that nobody said before."""
    return "z" + "".join(random.choices("bcdfghjklmnpqrstvwx", k=14))


def _draft(talk: int, text: str) -> EntryDraft:
    now = datetime.now(UTC)
    return EntryDraft(
        conversation=talk, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(text), time=now
    )


def at(times: list[float], share: float, digits: int = 1) -> float:
    """The figure that so large a share of them is below."""
    return round(sorted(times)[int(len(times) * share)], digits)


def main(task: str, root: str, *more: str) -> None:
    embedder = PerturbedEmbedder(Path(more[-1]) if more and more[-1] else None) if task in {"embed", "near"} else None
    embedding = EmbedderSet.of(embedder) if embedder else None
    memory = Memory.open(Workspace(Path(root)), SystemClock(), embedding=embedding, read_only=False)
    tasks: dict[str, Callable[[], dict[str, Any]]] = {
        "build": lambda: build(memory),
        "first": lambda: first(memory, more[0]),
        "ask": lambda: ask(memory, Path(more[0])),
        "embed": lambda: embed(memory, embedder or PerturbedEmbedder(None)),
        "near": lambda: near(memory, Path(more[0])),
        "insert": lambda: insert(memory, int(more[0])),
        "listen": lambda: listen(memory),
    }
    print(json.dumps(tasks[task]()), flush=True)
    memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
