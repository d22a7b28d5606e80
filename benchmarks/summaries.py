"""Summaries of conversations: how many of their questions they answer, at a fifth of the tokens.

    python -m benchmarks.summaries CORPUS.json … [--half dev|test|all] [--share 0.2] [--show NAME] [--json]

A corpus is LoCoMo (locomo10.json) or benchmarks/corpora/talks_zh.json. Each conversation is summarised within `share`
of its tokens: by `ours` (context/compaction/summary.py, all that it writes counted), and by three baselines whose
sentences are shown as “Name: …”: `lead` (the first ones), `random` (the mean of five draws) and `lexrank` (Erkan and
Radev 2004: tf-idf cosines of at least 0.1, damping 0.85).

A question is held where sentences of the summary that stem from a turn that answers it (three fifths of their content
words stand in it, and two at least) hold two thirds, by idf, of what answers: the words of the answer that stand in the
turn; where there are none, the figures and names of the turn; or else all of its words. Of several turns, the share
counts.

- held %: the mean over the questions; ratio: to the best of the baselines
- faults %: lines that address somebody by name, are a bare question, or begin with a pronoun of the third person

Half: conversations of odd number (the first, the third …) are for development.
"""

import argparse
import json
import math
import random
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora import read_corpus
from context.compaction.summary import SummaryEntry, summarise
from foundation.text.analysis import term_list
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from memory.search.results.values import values
from models.tokens import estimate

DRAWS = 5
STEMS = 0.6  # of a sentence's content words that stand in the turn from which it stems
BASELINES = ("lead", "random", "lexrank")
_REFERENCE = re.compile(r"\s*\[[^\[\]\s]{1,80}\]\s*$")
_SPEAKER = re.compile(r"^[^:：]{1,40}: ")
_PRONOUN = re.compile(
    r"(?:[-–] )?(?:[^:：]{1,30}[:：]\s*)?(?:it|he|she|they|this|that|these|those|(?:it|that|he|she)'s|they're)\b"
    r"|(?:[-–] )?(?:[^:：]{1,30}[:：]\s*)?(?:它|他|她|这|那)(?![个天年里次边种])",
    re.IGNORECASE,
)


class Talk(NamedTuple):
    """A conversation, and its questions with the turns and the words that answer them."""

    name: str
    entries: list[SummaryEntry]
    questions: list[tuple[str, str, list[int]]]  # question, answer, indexes of turns


class Sentence(NamedTuple):
    """A sentence of a turn."""

    turn: int
    text: str


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.summaries", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=Path, metavar="CORPUS")
    parser.add_argument("--half", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--share", type=float, default=0.2, help="of the conversation's tokens")
    parser.add_argument("--show", default="", metavar="NAME", help="print our summary of one conversation")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = []
    for path in options.corpora:
        talks = talks_of(path)
        talks = [
            talk for n, talk in enumerate(talks) if options.half == "all" or (n % 2 == 0) == (options.half == "dev")
        ]
        for talk in talks:
            if talk.name == options.show:
                print(ours(talk, limit_of(talk, options.share)))
        rows += measure(path.stem, talks, options.share)
    print(json.dumps({"half": options.half, "share": options.share, "rows": rows}) if options.json else _table(rows))
    return 0


def talks_of(path: Path) -> list[Talk]:
    """The conversations of a corpus, each with its answerable questions."""
    answers = _answers(path)
    found: list[Talk] = []
    for store in read_corpus(path).stores:
        by_talk: dict[str, list[Any]] = {}
        for turn in store.turns:
            by_talk.setdefault(
                store.name if len(store.turns) > 0 and "talk" not in store.name else turn.conversation, []
            ).append(turn)
        for name, turns in by_talk.items():
            index = {turn.id: n for n, turn in enumerate(turns)}
            speakers = list(dict.fromkeys(turn.speaker for turn in turns))
            entries = [
                SummaryEntry(
                    f"e_{n:06d}",
                    turn.speaker,
                    turn.speaker == speakers[0],
                    datetime.fromisoformat(turn.time) if turn.time else datetime(2024, 1, 1, tzinfo=UTC),
                    turn.text,
                )
                for n, turn in enumerate(turns)
            ]
            questions = [
                (asked.text, answers.get(asked.text, ""), [index[one] for one in asked.evidence if one in index])
                for asked in store.questions
                if asked.evidence
            ]
            found.append(Talk(name, entries, [question for question in questions if question[2]]))
    return found


def _answers(path: Path) -> dict[str, str]:
    data = json.loads(path.read_text("utf-8"))
    pairs = data["conversations"] if isinstance(data, dict) else data
    return {
        asked["question"]: str(asked.get("answer", ""))
        for talk in pairs
        for asked in talk.get("qa") or talk.get("questions") or ()
    }


def limit_of(talk: Talk, share: float) -> int:
    return int(share * estimate("\n".join(f"{entry.speaker}: {entry.text}" for entry in talk.entries)))


def ours(talk: Talk, limit: int) -> str:
    return summarise(talk.entries, limit, estimate)


def measure(corpus: str, talks: Sequence[Talk], share: float) -> list[dict[str, Any]]:
    """A row for each way."""
    held: dict[str, list[float]] = {}
    tokens: dict[str, list[int]] = {}
    faults: list[bool] = []
    for talk in talks:
        limit, judge = limit_of(talk, share), Judge(talk)
        split = [Sentence(n, one.text) for n, entry in enumerate(talk.entries) for one in sentences(entry.text)]
        ways: dict[str, Iterable[str]] = {
            "ours": [ours(talk, limit)],
            "lead": [_filled(talk, split, range(len(split)), limit)],
            "random": [_filled(talk, split, _drawn(len(split), seed), limit) for seed in range(DRAWS)],
            "lexrank": [_filled(talk, split, _lexrank(split), limit)],
        }
        for name, summaries in ways.items():
            results = [judge.held(summary.splitlines()) for summary in summaries]
            held.setdefault(name, []).extend(statistics.mean(values_of) for values_of in zip(*results, strict=True))
            tokens.setdefault(name, []).extend(estimate(summary) for summary in summaries)
            if name == "ours":
                faults += [_is_faulty(line, talk) for summary in summaries for line in _lines(summary)]
    best = max(statistics.mean(held[name]) for name in BASELINES)
    return [
        {
            "corpus": corpus,
            "way": name,
            "conversations": len(talks),
            "questions": len(found),
            "tokens": statistics.mean(tokens[name]),
            "held": 100 * statistics.mean(found),
            "ratio": statistics.mean(found) / best,
            "faults": 100 * statistics.mean(faults) if name == "ours" and faults else None,
        }
        for name, found in held.items()
    ]


class Judge:
    """Says which questions of a conversation a summary holds."""

    def __init__(self, talk: Talk) -> None:
        self._turns = [_terms(f"{entry.speaker}: {entry.text}") for entry in talk.entries]
        counts = Counter(term for turn in self._turns for term in turn)
        self._idf = {term: math.log(1 + len(self._turns) / count) for term, count in counts.items()}
        self._wanted = [
            [(turn, self._key(talk.entries[turn].text, question, answer)) for turn in turns]
            for question, answer, turns in talk.questions
        ]

    def _key(self, text: str, question: str, answer: str) -> frozenset[str]:
        terms = _terms(text)
        if key := (_terms(answer) - _terms(question)) & terms:
            return key
        named = _terms(" ".join(value.value for value in values(text))) & terms
        return named or terms

    def held(self, lines: Iterable[str]) -> list[float]:
        """By question, the share of its turns that the summary holds."""
        texts = (_SPEAKER.sub("", _REFERENCE.sub("", line)) for line in lines)
        said = [terms for text in texts for one in sentences(text) if (terms := _terms(one.text))]
        return [
            statistics.mean(self._stands(key, self._turns[turn], said) for turn, key in wanted)
            for wanted in self._wanted
        ]

    def _stands(self, key: frozenset[str], turn: frozenset[str], said: Sequence[frozenset[str]]) -> bool:
        least = min(2, len(turn))
        held = frozenset().union(*(one for one in said if len(one & turn) >= max(least, STEMS * len(one))))
        total = sum(self._idf.get(term, 0.0) for term in key)
        return bool(key) and sum(self._idf.get(term, 0.0) for term in key & held) >= 2 / 3 * total


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for term in term_list(text, "") if not is_weak(term))


def _filled(talk: Talk, split: Sequence[Sentence], order: Iterable[int], limit: int) -> str:
    """The sentences that fit, in the order given; shown as they stood, those of a turn on one line."""
    chosen: set[int] = set()
    room = limit
    for n in order:
        new = not any(split[one].turn == split[n].turn for one in chosen if abs(one - n) < 12)
        tokens = estimate((f"\n{talk.entries[split[n].turn].speaker}: " if new else " ") + split[n].text)
        if tokens > room:
            break
        chosen.add(n)
        room -= tokens
    lines: dict[int, list[str]] = {}
    for n in sorted(chosen):
        lines.setdefault(split[n].turn, []).append(split[n].text)
    return "\n".join(f"{talk.entries[turn].speaker}: {' '.join(texts)}" for turn, texts in lines.items())


def _drawn(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _lexrank(split: Sequence[Sentence]) -> list[int]:
    """Sentences by their centrality."""
    bags = [Counter(term for term in term_list(sentence.text, "") if not is_weak(term)) for sentence in split]
    counts = Counter(term for bag in bags for term in bag)
    places = {term: n for n, term in enumerate(counts)}
    matrix = np.zeros((len(bags), len(places)), np.float32)
    for n, bag in enumerate(bags):
        for term, count in bag.items():
            matrix[n, places[term]] = count * math.log(len(bags) / counts[term])
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(norms, norms, 1)
    links = (matrix @ matrix.T >= 0.1).astype(np.float32)
    links /= np.maximum(links.sum(axis=1, keepdims=True), 1)
    rank = np.full(len(bags), 1 / len(bags), np.float32)
    for _ in range(60):
        rank = 0.15 / len(bags) + 0.85 * (links.T @ rank)
    return [int(n) for n in np.argsort(-rank, kind="stable")]


def _lines(summary: str) -> list[str]:
    """What the summary quotes: its lines but headings."""
    return [_REFERENCE.sub("", line) for line in summary.splitlines()[1:] if ":" in line or "：" in line]


def _is_faulty(line: str, talk: Talk) -> bool:
    names = {entry.speaker.split()[0] for entry in talk.entries}
    said = line.partition(":")[2].strip() or line
    addressed = any(re.search(rf"[,，!] {re.escape(name)}[!.?,]|^{re.escape(name)}[,!]", said) for name in names)
    return addressed or is_question(said) or _PRONOUN.match(line) is not None


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'corpus':<14}{'way':<10}{'questions':>10}{'tokens':>8}{'held %':>8}{'ratio':>7}{'faults %':>10}"]
    lines += [
        f"{row['corpus']:<14}{row['way']:<10}{row['questions']:>10}{row['tokens']:>8.0f}{row['held']:>8.1f}"
        f"{row['ratio']:>7.2f}" + (f"{row['faults']:>10.1f}" if row["faults"] is not None else "")
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
