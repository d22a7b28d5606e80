"""How many files of a folder `clear` takes secrets out of, or private spans: on files without any, false positives.

python -m benchmarks.secret_sweep [--json] [--beside CHECKOUT] [--most N] FOLDER...

`--beside` names another checkout, v0.3.0 for example: its rules read each file in the same run, right after ours.
`--most` takes so many files of each folder, by chance with a fixed seed; `--skip` leaves out folders of a name. Files
that end in .gz are read unpacked. Figures: docs/benchmarks.md.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGEST = 3_000_000  # bytes
SHOWN = 60  # characters of context on each side of a hit in --json


def files(root: Path, most: int | None, skip: frozenset[str]) -> Iterator[Path]:
    """The regular files of a folder that are no larger than LARGEST; links are not followed."""
    found: list[Path] = [] if root.is_dir() else [root]
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in skip]
        found += [Path(folder, name) for name in names]
    found.sort()
    if most is not None and most < len(found):
        found = sorted(random.Random(1).sample(found, most))
    for path in found:
        try:
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= LARGEST:
                yield path
        except OSError:
            continue


def text_of(path: Path) -> str:
    """The file's text, a NUL where it is none."""
    try:
        if path.suffix != ".gz":
            return path.read_text("utf-8")
        with gzip.open(path, "rt", encoding="utf-8") as packed:
            return packed.read(10 * LARGEST)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error):
        return "\0"


def work() -> None:
    """Reads paths from stdin and writes what the rules on `sys.path` find in each file, a line of JSON each."""
    from foundation import privacy

    others = (source.OTHER,) if (source := getattr(privacy, "TextSource", None)) else ()
    for line in sys.stdin:
        text = text_of(Path(json.loads(line)))
        if "\0" in text:
            print("null", flush=True)
            continue
        began = time.process_time()
        found = privacy.examine(text, *others)
        seconds = time.process_time() - began
        hits = [
            {
                "rule": one.rule,
                "line": text.count("\n", 0, one.start) + 1,
                "text": text[max(0, one.start - SHOWN) : one.end + SHOWN][:600],
            }
            for one in found.secrets
        ]
        hidden = found.private > 0 and len(found.cleared) < len(text) / 2
        row = {"characters": len(text), "seconds": seconds, "hits": hits, "private": found.private > 0}
        print(json.dumps(row | {"halved": hidden, "injected": getattr(found, "injected", 0) > 0}), flush=True)


class Reader:
    """A process with the rules of one checkout."""

    def __init__(self, checkout: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def read(self, path: Path) -> dict[str, Any] | None:
        """What is found in the file, None where it is no text."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked and answers
        asked.write(json.dumps(str(path)) + "\n")
        asked.flush()
        return json.loads(answers.readline())

    def close(self) -> None:
        self._process.communicate()


def sweep(root: Path, readers: dict[str, Reader], most: int | None, skip: frozenset[str]) -> list[dict[str, Any]]:
    """A row for each checkout."""
    rows = {
        name: {"files": 0, "characters": 0, "secrets": 0, "private": 0, "halved": 0, "injected": 0, "seconds": 0.0}
        for name in readers
    }
    rules: dict[str, Counter[str]] = {name: Counter() for name in readers}
    hits: dict[str, dict[str, Any]] = {name: {} for name in readers}
    for path in files(root.absolute(), most, skip):
        for name, reader in readers.items():
            if (found := reader.read(path)) is None:
                continue
            row = rows[name]
            row["files"] += 1
            row["secrets"] += bool(found["hits"])
            for count in ("characters", "private", "halved", "injected", "seconds"):
                row[count] += found[count]
            rules[name].update(hit["rule"] for hit in found["hits"])
            if found["hits"]:
                hits[name][str(path)] = found["hits"]
    return [
        {"folder": str(root), "rules_of": name} | rows[name] | {"rules": dict(rules[name]), "hits": hits[name]}
        for name in readers
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--most", type=int, metavar="N")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    readers = {"here": Reader(Path(__file__).parents[1])}
    if given.beside:
        readers[given.beside.name] = Reader(given.beside.absolute())
    columns = ("files", "characters", "secrets", "private", "halved", "injected", "seconds")
    if not given.json:
        print(f"{'folder':36} {'rules':10}", *(f"{name:>11}" for name in columns))
    rows: list[dict[str, Any]] = []
    for folder in given.folders:
        for row in sweep(folder, readers, given.most, frozenset(given.skip)):
            rows.append(row)
            if not given.json:
                counts = (round(row[name]) for name in columns)
                print(f"{row['folder'][-36:]:36} {row['rules_of']:10}", *(f"{n:>11,}" for n in counts), flush=True)
    for reader in readers.values():
        reader.close()
    if given.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--work"] else main()
