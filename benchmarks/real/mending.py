"""Five small projects, each with a test that fails: does the product mend the bug, and if not, where does it stop?"""

import itertools
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.real.files import BUGS, project
from benchmarks.real.harnesses import Harness
from benchmarks.real.product import Call, Product

MESSAGE = "The test fails. Fix it."
MODE = ("--mode", "auto", "--max-calls", "12")
EDITS = {"edit_file", "write_file", "apply_patch"}


def run(product: Product, others: Sequence[Harness], folder: Path, limit: int) -> list[dict[str, Any]]:
    """A row for each project and program."""
    workspace = product.workspace("bugs")
    bugs = list(BUGS.items())[: limit or None]
    rows: list[dict[str, Any]] = []
    for name, files in bugs:
        place = project(folder / "bug", files)
        outcome = product.send(product.copy(workspace), MESSAGE, place, *MODE)
        end = end_of(files, place, outcome.calls, outcome.status)
        row = {"id": name, "program": "palimpsest", "end": end, "answer": outcome.text, "seconds": outcome.seconds}
        calls = [[call.name, call.arguments, call.failed] for call in outcome.calls]
        rows.append(row | {"calls": calls, "error": outcome.error})
        print(line(rows[-1]), file=sys.stderr, flush=True)
    for other, (name, files) in itertools.product(others, bugs):
        place = project(folder / "bug", files)
        answer, seconds = other.send(MESSAGE, place)
        end = "mended" if mended(files, place) else "not mended"
        rows.append({"id": name, "program": other.name, "end": end, "answer": answer, "seconds": seconds})
        print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def line(row: Mapping[str, Any]) -> str:
    calls = "; ".join(f"{name} {str(arguments)[:80]}" for name, arguments, _ in row.get("calls", ()))
    return (
        f"{row['program']:10} {row['end']:15} {row['seconds']:5.0f} s {row['id']} [{calls}] -> {row['answer'][-80:]!r}"
    )


def end_of(files: Mapping[str, str], folder: Path, calls: Sequence[Call], status: str) -> str:
    """`mended`, or where the work stopped."""
    if mended(files, folder):
        return "mended"
    if status == "failed":
        return "failed"
    if any(_text(folder / name) != text for name, text in files.items() if name.startswith("test_")):
        return "test changed"
    if any(_text(folder / name) != text for name, text in files.items()):
        return "wrong edit"
    if not calls:
        return "no call"
    if len(calls) > 3 and any(calls[n] == calls[n + 1] for n in range(len(calls) - 1)):
        return "same call again"
    if status == "limit":
        return "limit"
    return "edit refused" if any(call.name in EDITS for call in calls) else "no edit"


def mended(files: Mapping[str, str], folder: Path) -> bool:
    """Whether the test, unchanged, passes."""
    tests = [name for name in files if name.startswith("test_")]
    return all(_text(folder / name) == files[name] and _passes(folder, name) for name in tests)


def _passes(folder: Path, test: str) -> bool:
    command = [sys.executable, "-B", test]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=30, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _text(path: Path) -> str | None:
    return path.read_text("utf-8", "replace") if path.is_file() else None
