"""Endless sessions: what an agent's work of 50 to 1,000 calls sends, and what it keeps of its prompt cache.

    python -m benchmarks.endless [--calls 100] [--traces reads,work,talk] [--window 131072] [--checkout DIR …]
                                 [--context NAME=VALUE …] [--tools NAME=VALUE …] [--json]

A scripted server on loopback asks for the calls of a trace (benchmarks/agents), which a process drives through
`Session.send` with every permission granted. `of all`: bytes sent, as a share of what a client would send that repeats
each whole output in every later request. `weighted`: 0.1 for what repeats the request before, 1.25 for what is new.
`stable`: bytes of each request that the next one begins with. `talk` has turns without calls.
Marks, for 100 reads: at most 4 MB, weighted 1 MB; for 1,000 calls at most 0.5 % of all; no model call besides, none
rejected.
"""

import argparse
import json
import sys
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.agents import traces
from benchmarks.agents.session import HERE, measure

TRACES = {"reads": traces.reads, "work": traces.work, "talk": traces.talk}


def of_all(row: dict[str, Any]) -> float:
    """Bytes sent, as a share of sending all; 0 for talk, which has no outputs."""
    if not row["outputs"]:
        return 0
    whole = sum(accumulate(row["outputs"])) + row["first"] * row["requests"]
    return row["sent"] / max(whole, 1)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--calls", type=int, default=100, help="calls of a trace; turns of talk")
    parser.add_argument("--traces", default="reads,work,talk")
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--checkout", type=Path, action="append", default=[], help="another version, beside this one")
    parser.add_argument("--context", action="append", default=[], metavar="NAME=VALUE", help="a setting of `context`")
    parser.add_argument("--tools", action="append", default=[], metavar="NAME=VALUE", help="a setting of `tools`")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    settings = {"context": _settings(chosen.context), "tools": _settings(chosen.tools)}
    rows: list[dict[str, Any]] = []
    for name in chosen.traces.split(","):
        for checkout in (*chosen.checkout, HERE):
            made = partial(TRACES[name], count=chosen.calls)
            rows.append(measure(made, chosen.window, checkout.resolve(), settings if checkout == HERE else None))
    if chosen.json:
        print(json.dumps({"benchmark": "endless", "window": chosen.window, "settings": settings, "rows": rows}))
        return 0
    print(
        f"{'trace':7} {'version':10} {'calls':>6} {'sent MB':>8} {'of all %':>9} {'new %':>6} {'weighted':>9} "
        f"{'stable %':>9} {'largest kB':>11} {'compactions':>12} {'besides':>8} {'rejected':>9} {'CPU s':>6} "
        f"{'peak MB':>8}"
    )
    for row in rows:
        print(
            f"{row['trace']:7} {row['version']:10} {row['calls']:6} {row['sent'] / 1e6:8.2f} {100 * of_all(row):9.2f} "
            f"{100 * row['new'] / max(row['sent'], 1):6.1f} {row['weighted'] / 1e6:9.2f} {100 * row['stability']:9.1f} "
            f"{row['largest'] / 1e3:11.0f} {row['compactions']:12} {row['model_calls_besides']:8} {row['rejected']:9} "
            f"{row['cpu_s']:6.1f} {row['peak_mb']:8.0f}"
        )
        if not row["ended"].startswith("AnswerStored"):
            print(f"  it ended with {row['ended']}")
    return 0


def _settings(given: list[str]) -> dict[str, Any]:
    return {name: json.loads(value) for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
