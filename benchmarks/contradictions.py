"""How many superseded statements the search recognises, and how many look-alikes it mistakes for them.

    python -m benchmarks.contradictions [--only SET] [--json]

Each pair of benchmarks/corpora/contradictions_own.jsonl (its dev half set the weights, its test half did not) and of
contradictions_unseen.jsonl (written by somebody who had not seen the rules) is given to the search as two hits of one
speaker. Prints totals only.

- recall %: superseded statements that are marked; false %: look-alikes that are
- precision %: marked pairs that are superseded
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from foundation.trust import Citation, Trust
from memory.search import Hit
from memory.search.results.contradictions import mark_superseded

_CORPORA = Path(__file__).with_name("corpora")
_SETS = (("own", "contradictions_own.jsonl"), ("unseen", "contradictions_unseen.jsonl"))
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.contradictions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=[name for name, _ in _SETS], help="one of the sets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = list(measure(options.only))
    print(json.dumps({"benchmark": "contradictions", "rows": rows}) if options.json else _table(rows))
    return 0


def measure(only: str | None = None) -> Iterable[dict[str, Any]]:
    """A row for each set, half and language."""
    for name, file in _SETS:
        if only not in {None, name}:
            continue
        pairs = [json.loads(line) for line in (_CORPORA / file).read_text("utf-8").splitlines()]
        for half in sorted({pair.get("half", "") for pair in pairs}):
            for language in ("en", "zh", ""):
                some = [pair for pair in pairs if pair.get("half", "") == half and language in {"", pair["lang"]}]
                yield {"set": f"{name} {half}".strip(), "lang": language or "both", **_totals(some)}


def _totals(pairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    marked = [_is_marked(pair["earlier"], pair["later"]) for pair in pairs]
    superseded = sum(pair["supersedes"] for pair in pairs)
    found = sum(pair["supersedes"] and mark for pair, mark in zip(pairs, marked, strict=True))
    false, alike = sum(marked) - found, len(pairs) - superseded
    return {
        "superseded": superseded,
        "found": found,
        "recall": 100 * found / max(superseded, 1),
        "alike": alike,
        "false": false,
        "false_share": 100 * false / max(alike, 1),
        "precision": 100 * found / sum(marked) if any(marked) else 100.0,
    }


def _is_marked(earlier: str, later: str) -> bool:
    hits = mark_superseded([_hit("e_1", earlier, 0), _hit("e_2", later, 30)], {})
    return any(hit.superseded_by for hit in hits)


def _hit(ref: str, text: str, day: int) -> Hit:
    time = _FIRST + timedelta(days=day)
    return Hit(
        id=ref,
        entry_id=ref,
        kind="message",
        conversation="",
        time=time,
        role="user",
        score=0.5,
        snippet=text,
        citation=Citation(kind="entry", ref=ref, time=time),
        trust=Trust.EXACT,
    )


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'set':<10}{'lang':<6}{'found':>10}{'recall %':>10}{'false':>9}{'false %':>9}{'precision %':>13}"]
    lines += [
        f"{row['set']:<10}{row['lang']:<6}{row['found']:>4} of {row['superseded']:>2}{row['recall']:>10.1f}"
        f"{row['false']:>3} of {row['alike']:>2}{row['false_share']:>9.1f}{row['precision']:>13.1f}"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
