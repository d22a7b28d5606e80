"""Endless sessions: what an agent's work of 50 to 1,000 calls sends, and what it keeps of its prompt cache.

    python -m benchmarks.endless [--calls 100] [--traces reads,work,talk] [--window 131072] [--checkout DIR …]
                                 [--context NAME=VALUE …] [--tools NAME=VALUE …] [--talk FILE]
                                 [--llama] [--json]

A scripted server on loopback asks for the calls of a trace (benchmarks/agents), which a process drives through
`Session.send` with every permission granted. `of all`: bytes sent, as a share of what a client would send that repeats
each whole output in every later request. `weighted`: 0.1 for what repeats the request before, 1.25 for what is new.
`stable`: bytes of each request that the next one begins with. `line`: R² of the bytes sent so far against the requests.
`assembly`: CPU milliseconds of one request, median and 95 %. `talk` has turns without calls; `--talk`
names a corpus of two people's talk for them (benchmarks/corpora), like LoCoMo's locomo10.json.
`send all` and `sliding` are computed from the sizes of the same outputs: everything each time, or the newest that fit
into the window, or into the working set for tools. With `--llama` a real llama.cpp reads each request too, and reports
the tokens that it took from its cache and those that it read.
Marks, for 100 reads: at most 4 MB, weighted 1 MB; for 1,000 calls at most 0.5 % of all, a line (R² ≥ 0.99), flat
memory; no model call besides, none rejected.
"""

import argparse
import json
import shutil
import sys
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.agents import prefill, traces
from benchmarks.agents.controls import Sending, r_squared, send_all, sliding_window
from benchmarks.agents.session import HERE, measure
from benchmarks.corpora.read import read_corpus

TRACES = {"reads": traces.reads, "work": traces.work}
PEERS = ("claude", "codex", "gemini", "opencode", "aider", "goose", "vibe", "crush", "qwen", "tau")
BYTES_A_TOKEN = 4
TOOLS_TOKENS = 12_000  # the working set where tool calls fill the conversation


def of_all(row: dict[str, Any]) -> float:
    """Bytes sent, as a share of sending all; 0 for talk, which has no outputs."""
    return row["sent"] / max(send_all(row["first"], row["outputs"]).sent, 1) if row["outputs"] else 0


def controls(row: dict[str, Any], window: int) -> dict[str, Sending]:
    """The same outputs, sent in other ways."""
    first, outputs = row["first"], row["outputs"]
    if not outputs:
        return {}
    return {
        "send all": send_all(first, outputs),
        f"sliding, {window:,}": sliding_window(first, outputs, BYTES_A_TOKEN * window),
        f"sliding, {TOOLS_TOKENS:,}": sliding_window(first, outputs, BYTES_A_TOKEN * TOOLS_TOKENS),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--calls", type=int, default=100, help="calls of a trace; turns of talk")
    parser.add_argument("--traces", default="reads,work,talk")
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--checkout", type=Path, action="append", default=[], help="another version, beside this one")
    parser.add_argument("--context", action="append", default=[], metavar="NAME=VALUE", help="a setting of `context`")
    parser.add_argument("--tools", action="append", default=[], metavar="NAME=VALUE", help="a setting of `tools`")
    parser.add_argument("--talk", type=Path, help="a corpus whose turns the talk has")
    parser.add_argument("--llama", action="store_true", help="let a real llama.cpp read each request")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.llama and not prefill.is_installed():
        parser.error("--llama needs the packages xllamacpp, gguf, tokenizers and numpy")
    settings = {"context": _settings(chosen.context), "tools": _settings(chosen.tools)}
    stores = read_corpus(chosen.talk).stores if chosen.talk else ()
    makers = {**TRACES, "talk": partial(traces.talk, said=[turn.text for store in stores for turn in store.turns])}
    rows: list[dict[str, Any]] = []
    for name in chosen.traces.split(","):
        for checkout in (*chosen.checkout, HERE):
            made = partial(makers[name], count=chosen.calls)
            own = settings if checkout == HERE else None
            row = measure(made, chosen.window, checkout.resolve(), own, llama=chosen.llama)
            row["r_squared"] = round(r_squared(list(accumulate(row["sizes"]))), 5)
            row["of_all"] = of_all(row)
            row["controls"] = {
                kind: {
                    "sent": sending.sent,
                    "new": sending.new,
                    "weighted": sending.weighted,
                    "largest": sending.largest,
                }
                for kind, sending in controls(row, chosen.window).items()
            }
            rows.append(row)
    peers = [name for name in PEERS if shutil.which(name)]
    if chosen.json:
        report = {"window": chosen.window, "settings": settings, "rows": rows, "peers_installed": peers}
        print(json.dumps({"benchmark": "endless", **report}))
        return 0
    print(
        f"{'trace':7} {'version':16} {'calls':>6} {'sent MB':>8} {'of all %':>9} {'new %':>6} {'weighted':>9} "
        f"{'stable %':>9} {'line':>6} {'largest kB':>11} {'compactions':>12} {'besides':>8} {'rejected':>9} "
        f"{'assembly ms':>12} {'CPU s':>6} {'MB at 100':>10} {'peak MB':>8}"
    )
    for row in rows:
        _print(row)
    if peers:
        print(f"Other agents on this machine, which this benchmark does not drive: {', '.join(peers)}.")
    else:
        print(f"No other agent is installed on this machine (of {', '.join(PEERS)}).")
    return 0


def _print(row: dict[str, Any]) -> None:
    """A row, and its controls below it."""
    assembly = "/".join(str(figure) for figure in row.get("assembly_ms", ()))
    print(
        f"{row['trace']:7} {row['version']:16} {row['calls']:6} {row['sent'] / 1e6:8.2f} {100 * row['of_all']:9.2f} "
        f"{100 * row['new'] / max(row['sent'], 1):6.1f} {row['weighted'] / 1e6:9.2f} {100 * row['stability']:9.1f} "
        f"{row['r_squared']:6.3f} {row['largest'] / 1e3:11.0f} {row['compactions']:12} {row['model_calls_besides']:8} "
        f"{row['rejected']:9} {assembly:>12} {row['cpu_s']:6.1f} {row.get('mb_at_100', 0):10.0f} {row['peak_mb']:8.0f}"
    )
    for name, sending in row["controls"].items():
        whole = row["controls"]["send all"]["sent"]
        print(
            f"{'':7} {name:16} {row['calls']:6} {sending['sent'] / 1e6:8.2f} {100 * sending['sent'] / whole:9.2f} "
            f"{100 * sending['new'] / sending['sent']:6.1f} {sending['weighted'] / 1e6:9.2f} {'':9} {'':6} "
            f"{sending['largest'] / 1e3:11.0f}"
        )
    if "llama_read" in row:
        print(f"  llama.cpp: {row['llama_tokens']:,} tokens of prompts, of which it read {row['llama_read']:,}")
    if not row["ended"].startswith("AnswerStored"):
        print(f"  it ended with {row['ended']}")


def _settings(given: list[str]) -> dict[str, Any]:
    return {name: json.loads(value) for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
