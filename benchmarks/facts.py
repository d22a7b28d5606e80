"""What an endless session keeps: 100 facts, each said or shown once, among 1,000 calls.

    python -m benchmarks.facts [--calls 1000] [--words dev|test] [--window 131072] [--context NAME=VALUE …]
                               [--tools NAME=VALUE …] [--misses] [--json]

The trace (benchmarks/agents/facts.py) goes through `Session.send` to a scripted server; then another process resumes
the conversation and asks for each fact, in other words. `kept`: the answer is in the request that the question makes,
or in what one call of memory_search gives. Beside it, the same of the summaries alone, and of a sliding window of the
same size. Marks: kept ≥ 95 %, exact 100 %. What is tuned with the words `dev` is judged with `test`.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.agents.facts import Planted, planted
from benchmarks.agents.session import HERE, measure
from benchmarks.agents.traces import Trace

COLUMNS = ("in_view", "asked", "searched", "kept", "exact", "summarised", "sliding")


def run(calls: int, words: str, window: int, settings: dict[str, Any]) -> dict[str, Any]:
    """The figures of the session, and a row a fact."""
    made: list[Planted] = []

    def make(folder: Path) -> Trace:
        made.append(planted(folder, calls, "test" if words == "test" else "dev"))
        return made[-1].trace

    def after(root: Path, address: str, environment: Mapping[str, str]) -> Any:
        given, facts = root.parent / "settings.json", root.parent / "facts.json"
        given.write_text(json.dumps(settings))
        facts.write_text(json.dumps([_plain(fact) for fact in made[-1].facts]))
        asked = [sys.executable, "-m", "benchmarks.agents.questions", str(root), address, str(window)]
        done = subprocess.run(
            [*asked, str(given), str(facts)], cwd=HERE, env=environment, check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    row = measure(make, window, HERE, settings, after)
    for fact in row["after"]["facts"]:
        fact["kept"] = fact["asked"] or fact["searched"]
    changed, told = made[-1].changed, row["after"]["summaries"] + row["after"]["request"]
    row["changed"] = len(changed)
    row["changed_named"] = sum(name in told for name in changed)
    return row


def _plain(fact: Any) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in fact.__struct_fields__}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--words", choices=("dev", "test"), default="dev")
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--context", action="append", default=[], metavar="NAME=VALUE", help="a setting of `context`")
    parser.add_argument("--tools", action="append", default=[], metavar="NAME=VALUE", help="a setting of `tools`")
    parser.add_argument("--misses", action="store_true", help="list what was not kept")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    settings = {"context": _settings(chosen.context), "tools": _settings(chosen.tools)}
    row = run(chosen.calls, chosen.words, chosen.window, settings)
    facts = row["after"].pop("facts")
    if chosen.json:
        print(json.dumps({"benchmark": "facts", "settings": settings, "row": row, "facts": facts}))
        return 0
    print(
        f"{row['calls']} calls, {row['compactions']} compactions, {row['sent'] / 1e6:.2f} MB sent, weighted "
        f"{row['weighted'] / 1e6:.2f} MB, {row['cpu_s']} CPU s, {row['peak_mb']} MB at the peak; it ended with "
        f"{row['ended'].split()[0]}"
    )
    print(f"{'facts':22}" + "".join(f"{name:>12}" for name in ("number", *COLUMNS)))
    groups = sorted({(fact["by"], fact["kind"]) for fact in facts})
    for by, kind in (*groups, ("", "all")):
        of = [fact for fact in facts if kind == "all" or (fact["by"], fact["kind"]) == (by, kind)]
        print(f"{f'{by} {kind}':22}{len(of):12}" + "".join(f"{sum(fact[name] for fact in of):12}" for name in COLUMNS))
    print(f"files changed that the request or a summary names: {row['changed_named']} of {row['changed']}")
    if chosen.misses:
        for fact in facts:
            if not fact["kept"]:
                print(f"  {fact['by']:7}{fact['kind']:11}{fact['question']} → {fact['answer']}")
    return 0


def _settings(given: list[str]) -> dict[str, Any]:
    return {name: json.loads(value) for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
