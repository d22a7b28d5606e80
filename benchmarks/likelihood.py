"""How often a search is unsure, in stores of several sizes: of questions that the store answers, and of others.

    python -m benchmarks.likelihood CORPUS.json … [--sizes 5 50] [--seed N] [--json]

From each store of a corpus (the formats of `benchmarks.retrieval`), windows of so many successive turns are drawn that
answer a question, each becomes a store of its own, and is asked what it answers and as many questions again whose
evidence lies outside. `all` is the whole store, asked its own questions, and those that nothing in it answers.

- unsure %: questions with `found` false; likelihood: median
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import Asked, Corpus, Store, read_corpus
from benchmarks.proof.ours import opened

WINDOWS = 14  # of a store and a size, at most


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.likelihood", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=Path, metavar="CORPUS")
    parser.add_argument("--sizes", nargs="+", type=int, default=[5, 50], help="turns of a store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = [row for path in options.corpora for row in measure(read_corpus(path), options.sizes, options.seed)]
    print(json.dumps({"rows": rows}) if options.json else _table(rows))
    return 0


def measure(corpus: Corpus, sizes: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Two rows for each size: the answerable questions and the others."""
    yield from _rows(corpus.name, "all", corpus)
    for size in sizes:
        draw = random.Random(seed)
        stores = tuple(window for store in corpus.stores for window in _windows(store, size, draw))
        yield from _rows(corpus.name, str(size), Corpus(name=corpus.name, stores=stores))


def _windows(store: Store, size: int, draw: random.Random) -> Iterator[Store]:
    """Stores of `size` successive turns, each with the questions that it answers and as many that it does not."""
    places = {turn.id: place for place, turn in enumerate(store.turns)}
    answerable = [asked for asked in store.questions if asked.evidence and places.keys() >= set(asked.evidence)]
    for number, asked in enumerate(draw.sample(answerable, len(answerable))[:WINDOWS]):
        first, last = min(places[each] for each in asked.evidence), max(places[each] for each in asked.evidence)
        if last - first >= size:
            continue
        start = max(0, min(len(store.turns) - size, first - draw.randrange(size - (last - first))))
        turns = store.turns[start : start + size]
        held = {turn.id for turn in turns}
        inside = [one for one in answerable if set(one.evidence) <= held]
        outside = [one for one in answerable if held.isdisjoint(one.evidence)]
        others = [Asked(text=one.text, category="") for one in draw.sample(outside, min(len(inside), len(outside)))]
        yield Store(name=f"{store.name} {number}", turns=turns, questions=(*inside, *others))


def _rows(name: str, size: str, corpus: Corpus) -> Iterator[dict[str, Any]]:
    likelihoods: dict[bool, list[tuple[bool, float]]] = {True: [], False: []}
    for store in corpus.stores:
        one = Corpus(name=name, stores=(store,))
        with opened(one, whole=False, embedder=None, progress=lambda _: None) as stores:
            for asked in store.questions:
                answer = stores[0].answer(asked, without=frozenset(), timed=False, held=False)
                likelihoods[bool(asked.evidence)].append((bool(answer.found), answer.best))
    for answerable, answers in likelihoods.items():
        if answers:
            yield {
                "corpus": name,
                "turns": size,
                "answerable": answerable,
                "questions": len(answers),
                "unsure": 100 * sum(not found for found, _ in answers) / len(answers),
                "likelihood": statistics.median(likelihood for _, likelihood in answers),
            }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'corpus':<12}{'turns':>6}{'answerable':>12}{'questions':>11}{'unsure %':>10}{'likelihood':>12}"]
    lines += [
        f"{row['corpus']:<12}{row['turns']:>6}{'yes' if row['answerable'] else 'no':>12}{row['questions']:>11}"
        f"{row['unsure']:>10.1f}{row['likelihood']:>12.2f}"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
