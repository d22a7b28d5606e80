"""What a search costs from ten thousand entries to a million.

    python -m benchmarks.scale locomo10.json [--entries 10000 100000 1000000] [--keep FOLDER] [--json]

Entries are turns of the corpus at the path (any that benchmarks.retrieval reads; talk with marked questions is best),
perturbed: words swapped for others of the corpus, names and numbers changed, in conversations of thirty turns. The
corpus's own turns stand among them unchanged, and its questions ask for those: quality among near-duplicates. Figures:
import by the store's own appending; the index's building, with the most private memory of it; a new process to its
first result (files in the page cache); a question's time by the clock and of the processor; the memory after them, with
mapped files apart; the exact scan of a vector an entry, perturbed from real ones or else random, and a search that has
them at hand; an entry from COMMIT to being found, alone, while all segments are merged, and by another process;
SQLite's FTS5 over the same texts in the same run, and grep. `--keep` leaves the stores for the next run: filling a
million takes minutes.

Marks at a million: p95 at most 4 times that of ten thousand and a tenth of FTS5's; searchable within 100 ms; a new
process's first result within 1 s; at most 300 MB private.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from benchmarks.corpora.corpus import ADVERSARIAL, Corpus
from benchmarks.corpora.read import read_corpus
from benchmarks.scaling import others
from benchmarks.scaling.fill import fill
from benchmarks.scaling.perturbations import entries, source
from benchmarks.scaling.tasks import at, strange
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.text.analysis import Analyser
from memory.cold import ColdStore
from memory.records import EntryDraft, EntryKind
from models.messages import Role

SIZES = [10_000, 100_000, 1_000_000]
OPENINGS = 5
FROM_OTHERS = 20


def measured(corpus: Corpus, size: int, folder: Path, questions: int, vectors: str | None) -> dict[str, Any]:
    """All figures at one size."""
    workspace = Workspace(folder)
    sources = _filled(corpus, size, workspace)
    asked = _asked(corpus, sources, questions)
    questions_file = folder / "questions.json"
    questions_file.write_text(json.dumps(asked))
    figures: dict[str, Any] = {"entries": size}
    if not any(workspace.postings.glob("*.bin")):
        figures |= _in_process("build", folder)
    figures["database_mb"] = _mb([workspace.database])
    figures["index_mb"] = _mb(list(workspace.postings.iterdir()))
    figures |= _first_result(folder, asked[0]["text"])
    figures |= _in_process("ask", folder, str(questions_file))
    if vectors is not None:
        figures |= _in_process("embed", folder, vectors)
        figures |= _in_process("near", folder, str(questions_file), vectors)
    figures |= others.fts5(workspace.database, folder / "fts5.db", asked)
    figures |= others.grep(folder / "fts5.db", folder / "texts.txt", asked)
    figures |= _in_process("insert", folder, "100")
    figures["searchable_by_another_p95_ms"] = _by_another(workspace)
    figures["ours_by_fts5"] = round(figures["p95_cpu_ms"] / figures["fts5_p95_cpu_ms"], 3)
    return figures


def _filled(corpus: Corpus, size: int, workspace: Workspace) -> dict[str, int]:
    known = workspace.root / "sources.json"
    if not known.exists():
        workspace.state.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        sources = fill(workspace.database, entries(corpus, size), lambda done: _say(f"  {done:,} entries filled", done))
        known.write_text(json.dumps(sources))
        _say(f"  filled in {time.perf_counter() - began:.0f} s")
    return json.loads(known.read_text())


def _asked(corpus: Corpus, sources: dict[str, int], most: int) -> list[dict[str, Any]]:
    """Questions whose whole evidence is in the store, the same at each size where they are."""
    asked = [
        {"text": one.text, "entries": [sources[source(store, turn)] for turn in one.evidence]}
        for store in corpus.stores
        for one in store.questions
        if one.category != ADVERSARIAL and all(source(store, turn) in sources for turn in one.evidence)
    ]
    return random.Random(4).sample(asked, min(most, len(asked)))


def _in_process(task: str, folder: Path, *more: str) -> dict[str, Any]:
    _say(f"  {task}")
    return json.loads(subprocess.run(_command(task, folder, *more), stdout=subprocess.PIPE, check=True).stdout)


def _first_result(folder: Path, question: str) -> dict[str, float]:
    """Seconds from starting a process to its first result, by the clock and of the processor: the median of some."""
    times: list[float] = []
    cpu: list[float] = []
    for _ in range(OPENINGS):
        began = time.perf_counter()
        with subprocess.Popen(_command("first", folder, question), stdout=subprocess.PIPE) as process:
            cpu.append(json.loads(_line(process.stdout))["cpu_s"])
            times.append(time.perf_counter() - began)
    return {"first_result_s": at(times, 0.5, 2), "first_result_cpu_s": at(cpu, 0.5, 2)}


def _by_another(workspace: Workspace) -> float:
    """Milliseconds from our COMMIT to when another process has found the entry and said so."""
    cold = ColdStore.open(workspace.database, analyse=Analyser(workspace.entities_yaml), clock=SystemClock())
    times: list[float] = []
    with subprocess.Popen(
        _command("listen", workspace.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        _line(process.stdout)
        talk = cold.new_conversation().seq
        for _ in range(FROM_OTHERS):
            word = strange()
            cold.append(
                EntryDraft(
                    conversation=talk,
                    parent=None,
                    kind=EntryKind.MESSAGE,
                    role=Role.USER,
                    text=as_given(f"the parcel {word} came"),
                )
            )
            began = time.perf_counter()
            if process.stdin is None:
                break
            process.stdin.write(word + "\n")
            process.stdin.flush()
            if _line(process.stdout).strip() != "1":
                raise SystemExit(f"{word} was not found by another process")
            times.append((time.perf_counter() - began) * 1000)
        process.communicate("\n")
    cold.close()
    return at(times, 0.95)


def _line(stream: IO[Any] | None) -> Any:
    return stream.readline() if stream else ""


def _command(task: str, folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.scaling.tasks", task, str(folder), *more]


def _mb(paths: list[Path]) -> float:
    return round(sum(path.stat().st_size for path in paths) / 1e6, 1)


def _say(line: str, step: int = 0) -> None:
    if step % 100_000 == 0:
        print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--entries", type=int, nargs="+", default=SIZES)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a folder to leave the stores in, and to find them again")
    parser.add_argument("--vectors", type=Path, help="an .npy of (n, dimensions): real vectors, to be perturbed")
    parser.add_argument("--no-vectors", action="store_true", help="words alone")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    corpus = read_corpus(given.corpus)
    vectors = None if given.no_vectors else str(given.vectors.resolve()) if given.vectors else ""
    if vectors == "":
        _say("No real vectors were given: random ones stand for them, and say nothing of quality.")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as passing:
        for size in given.entries:
            _say(f"{size:,} entries")
            rows.append(measured(corpus, size, (given.keep or Path(passing)) / str(size), given.questions, vectors))
    if given.json:
        json.dump({"schema": 1, "benchmark": "scale", "rows": rows}, sys.stdout)
        return
    for name in dict.fromkeys(name for row in rows for name in row):
        print(f"{name:>32}" + "".join(f"{_shown(row.get(name)):>14}" for row in rows))


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,}"


if __name__ == "__main__":
    main()
