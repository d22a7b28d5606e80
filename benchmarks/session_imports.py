"""Import of many session files by `/import`: seconds, memory, and what a second run reads.

    python -m benchmarks.session_imports [--files 2000] [--json]

Each file is a session of Claude Code with 6 questions, 6 calls with results and 6 answers, 100 to 300 words each. A
tenth of the files is imported first, then all, each into a workspace of its own; then all again, and all again after
one of them has grown by a question. Memory is the peak of the process.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agent.commands import registry
from agent.commands.results import Proposal, TextResult
from agent.config.config import Config
from agent.session import Session
from benchmarks.imports import table
from foundation.paths import Workspace

TURNS = 6


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.session_imports", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workspace", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.workspace:
        asyncio.run(import_all(options.workspace))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder).resolve(), options.files)
    report = {"schema": 1, "files": options.files, "rows": rows}
    print(json.dumps(report) if options.json else table(report))
    return 0


def measure(home: Path, files: int) -> list[dict[str, Any]]:
    sessions = home / ".claude" / "projects" / "-work-p"
    sessions.mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    for part in (files // 10, files):
        for number in range(part):
            write_session(sessions / f"{session_id(number)}.jsonl", number)
        rows.append(imported(f"{part:,} files", home, home / str(part)))
    rows.append(imported("the same again", home, home / str(files)))
    with (sessions / f"{session_id(0)}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(event(0, "grown", f"0-{TURNS - 1}-end", "user", "And the cellar?")) + "\n")
    return [*rows, imported("again, one has grown", home, home / str(files))]


def session_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def event(number: int, id_: str, parent: str | None, kind: str, content: Any) -> dict[str, Any]:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1.75e9 + 600 * number))
    message = {"role": kind, "content": content, "id": id_}
    base = {"uuid": id_, "parentUuid": parent, "sessionId": session_id(number), "timestamp": moment}
    return base | {"type": kind, "isSidechain": False, "cwd": "/home/ann/shop", "message": message}


def write_session(path: Path, number: int) -> None:
    """Always the same for a number."""
    dice = random.Random(number)

    def words() -> str:
        return " ".join(f"word{dice.randrange(20_000)}" for _ in range(dice.randrange(100, 300)))

    events: list[dict[str, Any]] = []
    last: str | None = None
    for turn in range(TURNS):
        call = {"type": "tool_use", "id": f"c{turn}", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": words()}
        steps = (
            ("user", words()),
            ("assistant", [call]),
            ("user", [result]),
            ("assistant", [{"type": "text", "text": words()}]),
        )
        for name, (kind, content) in zip(("ask", "call", "result", "end"), steps, strict=True):
            id_ = f"{number}-{turn}-{name}"
            events.append(event(number, id_, last, kind, content))
            last = id_
    path.write_text("".join(json.dumps(each) + "\n" for each in events), encoding="utf-8")


async def import_all(root: Path) -> None:
    """Imports what is in the home folder, and prints the result with the number of progress reports."""
    environment = {"PALIMPSEST_CONFIG_DIR": str(root.parent / "config"), "PALIMPSEST_DETECT": "off"}
    session = Session.open(Workspace(root), Config(environment=environment))
    try:
        proposal = await registry.run(session, "/import claude-code")
        assert isinstance(proposal, Proposal)
        pages: list[int] = []
        outcome = await registry.carry_out(proposal, pages.append)
        assert isinstance(outcome, TextResult), outcome
        print(json.dumps({"text": outcome.markdown, "progress": len(pages)}))
    finally:
        await session.close()


def imported(step: str, home: Path, root: Path) -> dict[str, Any]:
    """Runs the import in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.session_imports", "--workspace", str(root)]
    environment = {**os.environ, "HOME": str(home), "PALIMPSEST_CONFIG_DIR": str(home / "config")}
    environment.pop("CLAUDE_CONFIG_DIR", None)
    if not root.exists():
        init = [sys.executable, "-m", "tui.main", "--workspace", str(root), "init", str(root)]
        subprocess.run(init, env=environment, check=True, capture_output=True)
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    result = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    row = {
        "step": step,
        "status": os.waitstatus_to_exitcode(status),
        "seconds": round(time.perf_counter() - began, 1),
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "memory": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "entries": None,
        "already": None,
        "bytes": sum(path.stat().st_size for path in root.rglob("*") if path.is_file()),
        **result,
    }
    print(json.dumps(row), file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
