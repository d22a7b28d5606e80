"""What comparing a question with every vector costs, against reading the vectors' bytes, and what int8 loses.

    python -m benchmarks.vector_scan CORPUS --embedder onnx:FOLDER [--rows 10000 100000 1000000] [--json]

The corpus (any that benchmarks.retrieval reads) is embedded once; more rows are its vectors, each with noise of its own
(a cosine of about 0.8 to the original). They are put into a store as the product does. `read` sums the mapped bytes,
`scan` gives every row's score: processor time of one thread, taken turn by turn. `nearest` gives the best 100 entries.
`recall` is the share of the best ten by float32 that are among the best ten by int8, `private` the memory that a new
process takes for itself to open the store and ask it once (Linux).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora.read import read_corpus
from memory.search.vectors import similarity
from memory.search.vectors.segment import VectorRows, VectorSegment
from memory.search.vectors.similarity import SegmentSimilarity
from memory.search.vectors.store import VectorStore
from models.embed.open import open_embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

TURNS = 15
NOISE = 0.75  # of a unit vector's length: cosine 1 / sqrt(1 + 0.75²) = 0.8


def embedded(path: Path, spec: str, texts: int, questions: int) -> tuple[Any, Any]:
    """Unit vectors of the corpus's entries and of its questions."""
    embedder = open_embedder(spec, settings=EmbedSettings(), models=ModelSettings(), env={})
    if embedder is None:
        raise SystemExit("--embedder names none")
    said, asked = list[str](), list[str]()
    for store in read_corpus(path).stores:
        said += [turn.text for turn in store.turns]
        asked += [question.text for question in store.questions]
    step = max(1, len(asked) // questions)
    return embedder.embed([text for text in said if text.strip()][:texts]), embedder.embed(
        asked[::step][:questions], query=True
    )


def grown(vectors: Any, rows: int, seed: int = 5) -> Any:
    """So many rows: the vectors, then the same with noise."""
    chance, found = np.random.default_rng(seed), [vectors[:rows]]
    left = rows - len(found[0])
    while left > 0:
        some = vectors[chance.integers(0, len(vectors), min(left, 50_000))]
        noise = chance.normal(0, NOISE / np.sqrt(some.shape[1]), some.shape).astype(np.float32)
        some = some + noise
        found.append(some / np.linalg.norm(some, axis=1, keepdims=True))
        left -= len(some)
    return np.concatenate(found)


def filled(folder: Path, vectors: Any) -> VectorStore:
    store = VectorStore(folder, vectors.shape[1])
    for start in range(0, len(vectors), 50_000):
        whole = similarity.quantised(vectors[start : start + 50_000])
        count = len(whole)
        store.put(
            VectorRows(
                entry=np.arange(start + 1, start + count + 1),
                check=np.ones(count, np.uint64),
                chunk=np.zeros(count, np.uint16),
                inverse=similarity.inverse_lengths(whole),
                vectors=whole,
            )
        )
    return store


def recall(store: VectorStore, vectors: Any, questions: Any, most: int = 10) -> float:
    kept = []
    for question in questions:
        scores = vectors @ question
        wanted = np.argpartition(-scores, most)[:most] + 1
        found, _ = SegmentSimilarity(store.look(), question).nearest(most, everything)
        kept.append(len(np.intersect1d(found, wanted)) / most)
    return float(np.mean(kept))


def everything(entries: Any) -> Any:
    return np.ones(len(entries), bool)


def side_by_side(segments: Sequence[VectorSegment], question: Any) -> tuple[float, float]:
    """Milliseconds of this thread to read all vectors, and to score them: the medians of several turns.

    By segments in turn, each scored half a round after it was read, so that both meet it where the other left it.
    """
    asked, read, scored = similarity.quantised(question[None]), 0.0, 0.0
    for place in range(len(segments)):
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(TURNS):
            began = time.thread_time()
            _read(segments[place])
            times[0].append(time.thread_time() - began)
            other = segments[(place + len(segments) // 2) % len(segments)]
            out = np.empty(other.header.rows, np.float32)
            began = time.thread_time()
            similarity.scores(asked, other.rows.vectors, other.rows.inverse, out)
            times[1].append(time.thread_time() - began)
        read += 1000 * float(np.median(times[0]))
        scored += 1000 * float(np.median(times[1]))
    return read, scored


def _read(segment: VectorSegment) -> None:
    flat = segment.rows.vectors.reshape(-1)
    flat[: len(flat) // 8 * 8].view(np.uint64).sum()


def median(work: Callable[[], object]) -> float:
    """Milliseconds of this thread."""
    times: list[float] = []
    for _ in range(TURNS):
        began = time.thread_time()
        work()
        times.append((time.thread_time() - began) * 1000)
    return float(np.median(times))


_ASKER = """
import sys
from pathlib import Path
import numpy as np
from memory.search.vectors.similarity import Asked
from memory.search.vectors.store import VectorStore
def private():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000
size = int(sys.argv[2])
store = VectorStore(Path(sys.argv[1]), size)
before = private()
asked = Asked(store.look(), np.ones(size, np.float32))
asked.nearest(100, lambda entries: np.ones(len(entries), bool))
print(private() - before)
"""


def private_mb(store: VectorStore) -> float:
    """What a new process takes for itself to open the store and ask it once."""
    if not Path("/proc/self/smaps_rollup").exists():
        return float("nan")
    command = [sys.executable, "-c", _ASKER, str(store.folder), str(store.dimensions)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measured(vectors: Any, questions: Any, rows: int, folder: Path) -> dict[str, Any]:
    whole = grown(vectors, rows)
    store = filled(folder, whole)
    figures: dict[str, Any] = {"rows": rows, "recall": round(recall(store, whole, questions[:40]), 3)}
    del whole
    segments = store.look()

    def nearest() -> None:
        SegmentSimilarity(segments, questions[0]).nearest(100, everything)

    read_ms, scan_ms = side_by_side(segments, questions[0])
    nearest_ms = median(nearest)
    figures |= {
        "segments": len(segments),
        "disk_mb": round(store.bytes / 1e6, 1),
        "read_ms": round(read_ms, 2),
        "scan_ms": round(scan_ms, 2),
        "scan_to_read": round(scan_ms / read_ms, 2),
        "nearest_ms": round(nearest_ms, 2),
        "private_mb": round(private_mb(store), 1),
    }
    kernel = similarity.kernel
    similarity.kernel = lambda: similarity.by_numpy
    figures["numpy_ms"] = round(side_by_side(segments, questions[0])[1], 2)
    similarity.kernel = kernel
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--embedder", required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    vectors, questions = embedded(given.corpus, given.embedder, given.texts, given.questions)
    print(
        f"kernel: {'numpy' if similarity.kernel() is similarity.by_numpy else 'numkong'}; {vectors.shape[1]} dimensions"
    )
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as place:
            figures = measured(vectors, questions, rows, Path(place) / "vectors")
        print(json.dumps(figures) if given.json else "  ".join(f"{name} {figure}" for name, figure in figures.items()))


if __name__ == "__main__":
    main()
