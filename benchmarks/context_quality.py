"""What is put before the model: whether a message that needs no memory gets any, and what a question gets.

    python -m benchmarks.context_quality CORPUS.json … [--half test] [--json]

A corpus is LoCoMo, CMRC or benchmarks/corpora/talks_zh.json (`benchmarks.retrieval --help` lists the formats). Each
store is asked its answerable questions, and the messages of benchmarks/corpora/memory_free.jsonl in its language, of
one half. Two ways are compared: `all` recalls what fits into 2,000 tokens, as 0.3.0 did; `served` asks first whether
memory serves the message (context.recall_threshold) and then whether each further passage is worth its tokens.

- free %: messages that need no memory and get a passage; tok: median tokens recalled for those that do
- lost %: answerable questions that get none; tokens: median recalled for an answerable question
- held %: evidence in what is recalled
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import Asked, Corpus, Store, read_corpus
from benchmarks.proof.ours import PASSAGE, Opened, opened
from context.recall.recall import RecallLimits
from context.settings import ContextSettings
from foundation.text.folding import is_unspaced

TOKENS = 2000
FREE = Path(__file__).with_name("corpora") / "memory_free.jsonl"
WAYS = {
    "all": RecallLimits(TOKENS, PASSAGE, 100, all_that_fit=True),
    "served": RecallLimits(TOKENS, PASSAGE, 100, threshold=ContextSettings().recall_threshold),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.context_quality", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=Path, metavar="CORPUS")
    parser.add_argument("--half", choices=("dev", "test"), default="test", help="of the messages that need no memory")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    free = [json.loads(line) for line in FREE.read_text("utf-8").splitlines()]
    free = [message for message in free if message["half"] == options.half]
    rows = [row for path in options.corpora for row in measure(read_corpus(path), free)]
    print(json.dumps({"half": options.half, "rows": rows}) if options.json else _table(rows))
    return 0


def measure(corpus: Corpus, free: Sequence[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """A row for each way, over all stores of the corpus."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    with opened(corpus, whole=False, embedder=None, progress=lambda _: None) as stores:
        for store in stores:
            messages = [message["text"] for message in free if message["lang"] == _language(store.store)]
            for name, limits in WAYS.items():
                found[name].append(_asked(store, messages, limits))
    for name, stores_of in found.items():
        sums = {key: [value for row in stores_of for value in row[key]] for key in stores_of[0]}
        got = [tokens for tokens in sums["free"] if tokens]
        yield {
            "corpus": corpus.name,
            "way": name,
            "messages": len(sums["free"]),
            "free": 100 * len(got) / max(len(sums["free"]), 1),
            "free_tokens": statistics.median(got) if got else 0,
            "questions": len(sums["tokens"]),
            "lost": 100 * sum(not tokens for tokens in sums["tokens"]) / len(sums["tokens"]),
            "tokens": statistics.median(sums["tokens"]),
            "held": 100 * statistics.mean(sums["held"]),
        }


def _asked(store: Opened, messages: Sequence[str], limits: RecallLimits) -> dict[str, list[float]]:
    questions = [asked for asked in store.store.questions if asked.evidence]
    recalled = [store.recalled(asked, limits) for asked in questions]
    return {
        "free": [store.recalled(Asked(text=text, category=""), limits).tokens for text in messages],
        "tokens": [one.tokens for one in recalled],
        "held": [one.held for one in recalled],
    }


def _language(store: Store) -> str:
    return "zh" if any(is_unspaced(letter) for letter in store.turns[0].text[:20]) else "en"


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'corpus':<12}{'way':<8}{'messages':>9}{'free %':>8}{'tok':>6}{'lost %':>8}{'tokens':>8}{'held %':>8}"]
    lines += [
        f"{row['corpus']:<12}{row['way']:<8}{row['messages']:>9}{row['free']:>8.1f}{row['free_tokens']:>6.0f}"
        f"{row['lost']:>8.1f}{row['tokens']:>8.0f}{row['held']:>8.1f}"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
