"""The same entries in SQLite's own full-text index, and in a text file: what a search costs there."""

import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import apsw

from benchmarks.scaling.tasks import TOP, at
from foundation.text.stopwords import is_weak
from memory.cold.encoding import unpack
from memory.cold.sql import each, fetch, run, run_many

_WARMING, _QUESTIONS = 3, 60  # questions: at a million each takes a second and more
_WORDS = re.compile(r"\w+")
_RANKED = f"SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT {TOP}"


def fts5(database: Path, beside: Path, asked: list[dict[str, Any]]) -> dict[str, Any]:
    """FTS5 with its default tokenizer and BM25, the words of the question joined by OR, the best ten."""
    began = time.perf_counter()
    is_new = not beside.exists()
    db = apsw.Connection(str(beside))
    if is_new:
        _fill(db, database)
    building = time.perf_counter() - began
    times: list[float] = []
    cpu: list[float] = []
    recalls: list[float] = []
    for number, one in enumerate([*asked[:_WARMING], *asked[:_QUESTIONS]]):
        words = " OR ".join(f'"{word}"' for word in _WORDS.findall(one["text"]))
        began, busy = time.perf_counter(), time.process_time()
        found = {row[0] for row in fetch(db, _RANKED, (words,))}
        if number >= _WARMING:
            times.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - busy) * 1000)
            recalls.append(len(found.intersection(one["entries"])) / len(one["entries"]))
    db.close()
    return {
        "fts5_build_s": round(building, 1) if is_new else None,
        "fts5_p50_ms": at(times, 0.5),
        "fts5_p95_ms": at(times, 0.95),
        "fts5_p95_cpu_ms": at(cpu, 0.95),
        "fts5_recall_10": round(100 * sum(recalls) / len(recalls), 1),
        "fts5_mb": round(beside.stat().st_size / 1e6, 1),
    }


def _fill(db: apsw.Connection, database: Path) -> None:
    run(db, "PRAGMA synchronous = 0")
    run(db, "CREATE VIRTUAL TABLE texts USING fts5 (text)")
    store = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    rows = each(store, "SELECT seq, body, packed, chars FROM entries")
    with db:
        run_many(db, "INSERT INTO texts (rowid, text) VALUES (?, ?)", ((row[0], unpack(*row[1:])) for row in rows))
    store.close()


def grep(fts: Path, text: Path, asked: list[dict[str, Any]]) -> dict[str, Any]:
    """`grep -c` for any of a question's words that say something, through one text file. Nothing is ranked."""
    if not shutil.which("grep"):
        return {}
    if not text.exists():
        db = apsw.Connection(str(fts))
        with text.open("w", encoding="utf-8", errors="replace") as file:
            for (line,) in each(db, "SELECT text FROM texts ORDER BY rowid"):
                file.write(line.replace("\n", " ") + "\n")
        db.close()
    times: list[float] = []
    for one in asked[:10]:
        words = [word for word in _WORDS.findall(one["text"].casefold()) if not is_weak(word)]
        began = time.perf_counter()
        subprocess.run(["grep", "-ciwE", "|".join(words), str(text)], stdout=subprocess.DEVNULL, check=False)
        times.append((time.perf_counter() - began) * 1000)
    return {"grep_p50_ms": at(times, 0.5)}
