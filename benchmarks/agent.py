"""What an agent's work costs: 100 scripted reads of 100 files, and the bytes that each request sends.

    python -m benchmarks.agent [--checkout DIR …] [--calls 100] [--window 131072] [--json]

A server on loopback, a process of its own, answers each request with a call of `read_file` for the next file, and says
how many tokens it read (bytes / 4). It counts what each request repeats of the one before, from its first byte on: the
tools, then the messages. A client, a process too, drives `Session.send` with every permission granted, in a workspace
that holds 100 files of Python's own library of about 19 kB each. `--checkout` measures another version beside this one.
`benchmarks.endless` has more kinds of work.

`weighted` is the price of a server that caches: 0.1 for what repeats the request before, 1.25 for what is new.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

from benchmarks.agents.session import HERE, measure
from benchmarks.agents.traces import reads


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--checkout", type=Path, action="append", default=[], help="another version, beside this one")
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    made = partial(reads, count=chosen.calls)
    rows = [measure(made, chosen.window, path.resolve()) for path in (*chosen.checkout, HERE)]
    if chosen.json:
        print(json.dumps({"benchmark": "agent", "window": chosen.window, "rows": rows}))
        return 0
    print(
        f"{'version':12} {'sent MB':>8} {'new %':>6} {'weighted':>9} {'first kB':>9} {'largest kB':>11} "
        f"{'calls besides':>14} {'rejected':>9} {'CPU s':>6} {'peak MB':>8}"
    )
    for row in rows:
        print(
            f"{row['version']:12} {row['sent'] / 1e6:8.1f} {100 * row['new'] / max(row['sent'], 1):6.1f} "
            f"{row['weighted'] / 1e6:9.1f} {row['first'] / 1e3:9.1f} {row['largest'] / 1e3:11.0f} "
            f"{row['model_calls_besides']:14} {row['rejected']:9} {row['cpu_s']:6.1f} {row['peak_mb']:8.0f}"
        )
        if not row["ended"].startswith("AnswerStored"):
            print(f"  it ended with {row['ended']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
