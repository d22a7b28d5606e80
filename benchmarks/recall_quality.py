"""How much of the evidence a search brings back, on conversations that nobody here wrote.

    python -m benchmarks.recall_quality locomo10.json [--whole] [--cmrc cmrc2018_dev.json] [--json]

LoCoMo: github.com/snap-research/locomo, data/locomo10.json (CC BY-NC 4.0). Questions of categories 1 to 4 name the
turns that answer them; each of its conversations is imported into a store of its own as JSON lines, its sessions as
conversations (or with --whole as one), and each question asked of `Search`. CMRC 2018: github.com/ymcui/cmrc2018,
squad-style-data/cmrc2018_dev.json (CC BY-SA 4.0): which passage answers the question?

R@k is the share of a question's evidence among the first k hits, in %, averaged over questions; hit@10 counts questions
with any of it there; MRR is the mean of 1/rank of the first. `found` is the share of questions with any hit at all.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any

from agent.importers.jsonl import read_jsonl
from agent.importers.storing import store_all
from foundation.paths import Workspace
from memory.search import Query
from memory.workspace_memory import Memory

CUTS = (1, 5, 10, 20)


def locomo(path: Path, *, whole: bool) -> dict[str, float]:
    """The figures over all questions of categories 1 to 4 that name evidence."""
    rows: list[dict[str, float]] = []
    for sample in json.loads(path.read_text("utf-8")):
        questions = [
            (each["question"], set(each["evidence"]))
            for each in sample["qa"]
            if each["category"] != 5 and each.get("evidence")
        ]
        rows += asked(turns(sample["conversation"], whole=whole), questions)
    return summed_up(rows)


def turns(conversation: dict[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    """A LoCoMo conversation as lines for the import."""
    number = 1
    while f"session_{number}" in conversation:
        when = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[f"session_{number}"]:
            yield {
                "id": turn["dia_id"],
                "conversation": "all" if whole else f"session {number}",
                "time": when.replace(tzinfo=UTC).isoformat(),
                "role": "user",
                "speaker": turn["speaker"],
                "text": turn["text"],
            }
        number += 1


def cmrc(path: Path) -> dict[str, float]:
    """The figures over all questions, each of which one passage answers."""
    passages: list[dict[str, Any]] = []
    questions: list[tuple[str, set[str]]] = []
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            name = str(paragraph.get("id", len(passages)))
            passages.append({"id": name, "conversation": name, "text": paragraph["context"]})
            questions += [(each["question"], {name}) for each in paragraph["qas"]]
    return summed_up(asked(iter(passages), questions))


def asked(lines: Iterator[dict[str, Any]], questions: list[tuple[str, set[str]]]) -> list[dict[str, float]]:
    """Imports the lines into a workspace of their own and asks each question of its search."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Workspace(Path(folder)))
        body = (json.dumps(line).encode() for line in lines)
        store_all(memory.cold, read_jsonl(body, "all"), source="benchmark", fixed_source=True)
        rows = [row(memory, question, evidence) for question, evidence in questions]
        memory.close()
    return rows


def row(memory: Memory, question: str, evidence: set[str]) -> dict[str, float]:
    hits = [hit.entry_id for hit in memory.search.query(Query(text=question, limit=CUTS[-1])).hits]
    figures = {f"R@{cut}": 100 * len(evidence.intersection(hits[:cut])) / len(evidence) for cut in CUTS}
    figures["hit@10"] = 100.0 * bool(evidence.intersection(hits[:10]))
    figures["MRR"] = 100 * next((1 / rank for rank, hit in enumerate(hits, 1) if hit in evidence), 0.0)
    figures["found"] = 100.0 * bool(hits)
    return figures


def summed_up(rows: list[dict[str, float]]) -> dict[str, float]:
    return {"questions": float(len(rows)), **{name: round(mean(row[name] for row in rows), 1) for name in rows[0]}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path, nargs="?", help="a file in LoCoMo's format")
    parser.add_argument("--cmrc", type=Path, help="a file in SQuAD's format")
    parser.add_argument("--whole", action="store_true", help="all sessions as one conversation")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    if given.locomo:
        figures["LoCoMo"] = locomo(given.locomo, whole=given.whole)
    if given.cmrc:
        figures["CMRC"] = cmrc(given.cmrc)
    if not figures:
        parser.error("name a file to measure on")
    if given.json:
        json.dump({"schema": 1, "benchmark": "recall_quality", "figures": figures}, sys.stdout)
        return
    names = list(next(iter(figures.values())))
    print("".join(f"{name:>11}" for name in ["", *names]))
    for name, values in figures.items():
        print("".join(f"{value:>11}" for value in [name, *values.values()]))


if __name__ == "__main__":
    main()
