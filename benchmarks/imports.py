"""Imports of a large ChatGPT export by the command itself: seconds, memory, and an import that Ctrl+C interrupts.

    python -m benchmarks.imports [--conversations 100000] [--no-interrupt] [--json]

Each conversation has a question and an answer of 20 to 60 words. A tenth of them is imported first, then all, each into
a workspace of its own: where time grows with the number alone, and memory does not, each costs the same in both. Then
all are imported again into the same workspace, and once more into a third, where SIGINT ends the command after half of
its time and a second run goes on: it must end with every message once. Memory is the peak of the process.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from foundation.sizes import MEGABYTE, format_size

_WORDS = (
    "boiler",
    "attic",
    "harbour",
    "invoice",
    "pelican",
    "lantern",
    "meadow",
    "ticket",
    "copper",
    "window",
    "river",
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.imports", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--conversations", type=int, default=100_000)
    parser.add_argument("--no-interrupt", action="store_true", help="leave out the second import and the interruption")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder).resolve(), options.conversations, interrupt=not options.no_interrupt)
    report = {"schema": 1, "conversations": options.conversations, "rows": rows}
    print(json.dumps(report) if options.json else table(report))
    return 0


def measure(folder: Path, conversations: int, *, interrupt: bool) -> list[dict[str, Any]]:
    """A row a run of the command."""
    rows = []
    for part in (conversations // 10, conversations):
        export = write_export(folder / "conversations.json", part)
        rows.append(imported(f"{part:,} conversations", export, folder / str(part)))
        report(rows[-1])
    if interrupt:
        rows.append(imported("the same again", export, folder / str(conversations)))
        report(rows[-1])
        third = folder / "interrupted"
        rows.append(imported("interrupted by Ctrl+C", export, third, stop_after=rows[1]["seconds"] / 2))
        report(rows[-1])
        rows.append(imported("gone on with", export, third))
        report(rows[-1])
        rows.append(imported("and again", export, third))
    return rows


def report(row: dict[str, Any]) -> None:
    print(json.dumps(row), file=sys.stderr, flush=True)


def write_export(path: Path, conversations: int) -> Path:
    """An export as ChatGPT makes it, always the same one."""
    dice = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(conversations):
            file.write("," * bool(number) + json.dumps(conversation(number, dice)))
        file.write("]")
    return path


def conversation(number: int, dice: random.Random) -> dict[str, Any]:
    time_, root = 1.7e9 + 60 * number, f"root-{number}"
    ids = [f"{number:08x}-0000-4000-8000-{part:012x}" for part in (1, 2)]
    mapping: dict[str, Any] = {root: {"id": root, "message": None, "parent": None, "children": ids[:1]}}
    for id_, role, parent, child in zip(ids, ("user", "assistant"), (root, ids[0]), ([ids[1]], []), strict=True):
        words = " ".join(dice.choice(_WORDS) + str(dice.randrange(1000)) for _ in range(dice.randrange(20, 60)))
        mapping[id_] = {
            "id": id_,
            "parent": parent,
            "children": child,
            "message": {
                "id": id_,
                "author": {"role": role},
                "create_time": time_,
                "content": {"content_type": "text", "parts": [words]},
            },
        }
    head = {"title": f"Talk {number}", "create_time": time_, "update_time": time_, "conversation_id": f"talk-{number}"}
    return {**head, "mapping": mapping, "current_node": ids[1]}


def imported(step: str, export: Path, workspace: Path, *, stop_after: float = 0) -> dict[str, Any]:
    """Runs `palimpsest import` in a process of its own; with `stop_after`, SIGINT is sent after so many seconds."""
    command = [sys.executable, "-m", "tui.main", "--workspace", str(workspace)]
    environment = {**os.environ, "HOME": str(workspace.parent), "XDG_CONFIG_HOME": str(workspace.parent / "config")}
    if not workspace.exists():
        subprocess.run([*command, "init", str(workspace)], env=environment, check=True, capture_output=True)
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "import", str(export), "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if stop_after:
        time.sleep(stop_after)
        process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    result = json.loads(printed) if printed.strip() else {}
    files = [path.stat().st_size for path in workspace.rglob("*") if path.is_file()]
    return {
        "step": step,
        "status": os.waitstatus_to_exitcode(status),
        "seconds": round(seconds, 1),
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "memory": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "entries": result.get("entries"),
        "already": result.get("already"),
        "files": len(files),
        "bytes": sum(files),
    }


def table(report: dict[str, Any]) -> str:
    lines = [f"{'':28}{'exit':>5}{'seconds':>9}{'CPU s':>8}{'memory':>9}{'new':>10}{'there':>10}{'on disk':>10}"]
    for row in report["rows"]:
        new, there = (f"{row[key]:,}" if row[key] is not None else "" for key in ("entries", "already"))
        figures = f"{row['seconds']:>9.1f}{row['cpu']:>8.1f}{row['memory'] / MEGABYTE:>6.0f} MB{new:>10}{there:>10}"
        lines.append(f"{row['step']:28}{row['status']:>5}{figures}{format_size(row['bytes']):>10}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
