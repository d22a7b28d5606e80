"""The chat in a pseudo-terminal of 120×40: first frame, a long answer, idling, a very long conversation.

    python -m benchmarks.tui [--part first|stream|echo|idle|long] [--tokens 20000] [--rate 400] [--runs 5]
                             [--busy 2] [--rounds 3] [--beside CHECKOUT] [--reference] [--peer NAME=COMMAND] [--json]

`--beside` runs the chat of another checkout in turn, with the same Python; `--reference` runs Textual's own Markdown
stream. Programs of the field are started where they are installed; `--peer` names another. A key is typed every 200 ms
while an answer streams. CPU seconds are those of the program's process; bytes are those that it wrote to the terminal.

Marks: first frame at most 2× the CPU and 1.5× the memory of an empty Textual app; 20,000 tokens at 400 a second at most
9 CPU s and 1.5 MB written; a key's echo under 50 ms at p95, on a loaded machine too; idle under 0.3 % CPU; 100,000
entries open in under a second, and scrolling through them takes no more memory.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.terminals.answers import LAST_WORD, answering
from benchmarks.terminals.program import TerminalProgram
from benchmarks.terminals.stored import FIRST, LAST, write_conversation

ROOT = Path(__file__).parents[1]
PROMPT = "❯"
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("❯")
Empty().run()
"""
EMPTY_INPUT = """
from textual.app import App
from textual.widgets import Input
class Empty(App):
    def compose(self):
        yield Input(placeholder="❯")
Empty().run()
"""
PEERS = ("claude", "codex", "gemini", "opencode", "vibe", "toad", "tau", "crush", "pi", "elia", "oterm")
KEY_S = 0.2  # between two keys
SETTLE_S = 5.0  # after the first frame
IDLE_S = 30.0
PAGES = 300  # Page Up presses in a long conversation
AWAY_S = 40.0  # without a key, until the chat takes it that nobody types


def chat(workspace: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "tui.main", "--workspace", str(workspace), *arguments]


def own_settings(home: Path) -> dict[str, str]:
    """An environment in which the person's own settings are neither read nor changed."""
    return {"PALIMPSEST_CONFIG_DIR": str(home / "config"), "PALIMPSEST_DETECT": "off"}


def first_frames(runs: int, peers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Medians until each program's prompt is drawn, run in turn; of a peer until it is quiet for a second."""
    with tempfile.TemporaryDirectory() as folder:
        programs = {"empty Textual app": [sys.executable, "-c", EMPTY], "palimpsest": chat(Path(folder) / "notes")}
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in (*programs, *peers)}
        for _ in range(runs):
            for name, command in (programs | peers).items():
                environment, where = own_settings(Path(folder)), ROOT if name in programs else Path(folder)
                with TerminalProgram(command, folder=where, environment=environment) as program:
                    seconds = program.wait_for(PROMPT) if name in programs else program.wait_until_quiet(1.0)
                    taken[name].append({"cpu_s": program.cpu_s, "wall_s": seconds, "peak_mb": program.peak_mb})
    return [
        {"program": name, **{key: round(statistics.median(run[key] for run in runs_), 3) for key in runs_[0]}}
        for name, runs_ in taken.items()
    ]


def streamed(
    name: str, folder: Path, tokens: int, rate: float, *, busy: int = 0, text: str = "mixed"
) -> dict[str, Any]:
    """An answer of so many tokens, beside so many busy processes."""
    with tempfile.TemporaryDirectory() as home, answering(text, tokens, rate) as address, load(busy):
        command = chat(Path(home) / "notes", "--model", f"openai:m@{address}")
        if name == "Textual":
            command = [sys.executable, "-m", "benchmarks.terminals.textual_chat", address]
        with TerminalProgram(command, folder=folder, environment=own_settings(Path(home))) as program:
            program.wait_for(PROMPT)
            time.sleep(SETTLE_S)
            written, cpu, start = program.written, program.cpu_s, time.perf_counter()
            program.type("go\r")
            echoes = typed_during(program, tokens / rate)
            program.wait_for(LAST_WORD[-1], within=600)
            time.sleep(1.0)
            return {
                "program": name,
                "tokens": tokens,
                "busy": busy,
                "load": load_now(),
                "cpu_s": round(program.cpu_s - cpu, 2),
                "written_mb": round((program.written - written) / 1e6, 2),
                "wall_s": round(time.perf_counter() - start, 1),
                **percentiles(echoes),
                "peak_mb": round(program.peak_mb, 1),
            }


def bare_echo(seconds: float, *, busy: int) -> dict[str, Any]:
    """The echo of Textual's input field alone, beside so many busy processes: nothing streams."""
    with load(busy), TerminalProgram([sys.executable, "-c", EMPTY_INPUT], folder=ROOT) as program:
        program.wait_for(PROMPT)
        time.sleep(SETTLE_S)
        echoes = typed_during(program, seconds)
        return {"program": "an Input alone", "busy": busy, "load": load_now(), **percentiles(echoes)}


def echoes(folders: dict[str, Path], options: argparse.Namespace) -> list[dict[str, Any]]:
    """The echo during an answer, in turn with that of Textual's input field alone."""
    rows: list[dict[str, Any]] = []
    for _ in range(options.rounds):
        for name, folder in folders.items():
            row = streamed(name, folder, options.tokens, options.rate, busy=options.busy)
            kept = ("program", "busy", "load", "cpu_s", "keys", "echo_p50_ms", "echo_p95_ms", "echo_p99_ms")
            rows.append({key: row[key] for key in kept})
        rows.append({"cpu_s": "", **bare_echo(options.tokens / options.rate, busy=options.busy)})
    return [{key: row[key] for key in rows[0]} for row in rows]


def load_now() -> float:
    """Processes that ran or waited in the last minute, on average."""
    return round(os.getloadavg()[0], 1)


def typed_during(program: TerminalProgram, seconds: float) -> list[float]:
    """The seconds from each key to its letter on the terminal."""
    end = time.perf_counter() + seconds - 1
    echoes: list[float] = []
    while time.perf_counter() < end:
        time.sleep(KEY_S)
        echoes.append(program.echo())
    program.forget()
    return echoes


def percentiles(echoes: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(echoes)
    return {
        "keys": len(ordered),
        "echo_p50_ms": round(1000 * ordered[len(ordered) // 2], 1),
        "echo_p95_ms": round(1000 * ordered[int(len(ordered) * 0.95)], 1),
        "echo_p99_ms": round(1000 * ordered[int(len(ordered) * 0.99)], 1),
    }


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that only compute."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def idle(seconds: float) -> dict[str, Any]:
    """CPU of the open chat that nobody uses."""
    with (
        tempfile.TemporaryDirectory() as home,
        TerminalProgram(chat(Path(home) / "notes"), folder=ROOT, environment=own_settings(Path(home))) as program,
    ):
        program.wait_for(PROMPT)
        time.sleep(AWAY_S)
        cpu, written = program.cpu_s, program.written
        time.sleep(seconds)
        return {
            "cpu_percent": round(100 * (program.cpu_s - cpu) / seconds, 2),
            "written": program.written - written,
            "memory_mb": round(program.memory_mb, 1),
        }


def long_conversation(entries: int, pages: int) -> dict[str, Any]:
    """Opening a conversation of so many entries, and scrolling in it."""
    with tempfile.TemporaryDirectory() as home:
        folder, environment = Path(home) / "notes", own_settings(Path(home))
        write_conversation(folder, entries, environment)
        trust = [sys.executable, "-m", "tui.main", "trust", str(folder)]
        subprocess.run(trust, cwd=ROOT, env={**os.environ, **environment}, check=True, capture_output=True)
        with TerminalProgram(chat(folder), folder=ROOT, environment=environment) as program:
            plain_s = program.wait_for("offline")  # the same store without a conversation
        with TerminalProgram(chat(folder, "-c"), folder=ROOT, environment=environment) as program:
            frame_s = program.wait_for(PROMPT)
            program.wait_for(LAST)
            newest_s = time.perf_counter() - program.started
            time.sleep(SETTLE_S)
            opened_mb = program.memory_mb
            seconds: list[float] = []
            for _ in range(pages):
                seconds.append(timed(program, "\x1b[5~"))
            paged_mb = program.memory_mb
            program.forget()
            program.type("\x1b[1;5H")
            home_s = program.wait_for(FIRST)
            program.forget()
            program.type("\x1b[1;5F")
            end_s = program.wait_for(LAST)
            time.sleep(1.0)
            return {
                "entries": entries,
                "open_s": round(newest_s - frame_s, 2),
                "start_to_newest_s": round(newest_s, 2),
                "start_without_s": round(plain_s, 2),
                "page_up_p50_ms": round(1000 * statistics.median(seconds), 1),
                "home_s": round(home_s, 2),
                "end_s": round(end_s, 2),
                "opened_mb": round(opened_mb, 1),
                "after_pages_mb": round(paged_mb, 1),
                "after_home_and_end_mb": round(program.memory_mb, 1),
                "peak_mb": round(program.peak_mb, 1),
            }


def timed(program: TerminalProgram, keys: str) -> float:
    """Seconds from the keys to the first output; waits until the page is drawn."""
    program.forget()
    start = time.perf_counter()
    program.type(keys)
    program.wait_for("\x1b[")
    taken = time.perf_counter() - start
    time.sleep(0.02)
    return taken


def installed(named: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The commands of the peers, and the names of those that are not installed."""
    commands = {name: [name] for name in PEERS if shutil.which(name)}
    commands |= {name: shlex.split(command) for name, _, command in (peer.partition("=") for peer in named)}
    return commands, [name for name in PEERS if name not in commands]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    parts = options.part or ["first", "stream", "idle", "long"]
    report: dict[str, Any] = {"schema": 1, "benchmark": "tui", "cores": os.cpu_count()}
    peers, report["not_installed"] = installed(options.peer)
    if "first" in parts:
        report["first_frame"] = first_frames(options.runs, peers)
    if "stream" in parts:
        folders = {"palimpsest": ROOT} | ({"beside": options.beside} if options.beside else {})
        runs = [
            streamed(name, folder, options.tokens, options.rate, busy=busy)
            for busy in (0, 2 * (os.cpu_count() or 1))
            for name, folder in folders.items()
        ]
        runs.append(streamed("palimpsest, one open fence", ROOT, options.tokens, options.rate, text="fence"))
        if options.reference:
            runs.append(streamed("Textual", ROOT, options.tokens // 4, options.rate))
        report["stream"] = runs
    if "echo" in parts:
        folders = {"palimpsest": ROOT} | ({"beside": options.beside} if options.beside else {})
        report["echo"] = echoes(folders, options)
    if "idle" in parts:
        report["idle"] = [idle(IDLE_S)]
    if "long" in parts:
        report["long"] = [long_conversation(entries, min(PAGES, entries // 20)) for entries in (1_000, options.entries)]
    return report


def table(report: dict[str, Any]) -> str:
    lines: list[str] = []
    for part in ("first_frame", "stream", "echo", "idle", "long"):
        rows: list[dict[str, Any]] = report.get(part, [])
        if rows:
            lines += ["", f"| {' | '.join(rows[0])} |", "|" + "---|" * len(rows[0])]
            for row in rows:
                cells = (f"{value:,}" if isinstance(value, int) else str(value) for value in row.values())
                lines.append(f"| {' | '.join(cells)} |")
    if "first_frame" in report:
        empty, ours = report["first_frame"][:2]
        ratios = [f"{name} {ours[key] / empty[key]:.2f}×" for name, key in (("CPU", "cpu_s"), ("memory", "peak_mb"))]
        lines += ["", f"palimpsest against the empty app: {', '.join(ratios)}"]
    return "\n".join([*lines, "", f"not installed: {', '.join(report['not_installed']) or 'none'}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=("first", "stream", "echo", "idle", "long"))
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=400, help="tokens a second")
    parser.add_argument("--runs", type=int, default=5, help="of the first frame")
    parser.add_argument("--busy", type=int, default=2, help="processes that only compute beside, for the part echo")
    parser.add_argument("--rounds", type=int, default=3, help="of the part echo")
    parser.add_argument("--entries", type=int, default=100_000, help="of the long conversation")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--reference", action="store_true", help="Textual's own stream too, a quarter of the tokens")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options)
    print(json.dumps(report, ensure_ascii=False) if options.json else table(report))


if __name__ == "__main__":
    main()
