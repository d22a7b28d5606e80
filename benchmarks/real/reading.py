"""Questions on an imported conversation of LoCoMo, read by the model: the product beside plain ways to remember.

The first conversation of the file (`--locomo FILE`, github.com/snap-research/locomo, data/locomo10.json) is imported,
and questions of categories 1, 2 and 4 are drawn. Arms: `product`; `no-tools`, the product without tools; `nothing`,
the bare question; `newest`, the newest turns that fit the window; `fts5`, the best passages by SQLite's bm25, 2,000
characters, in a plain prompt. Temperature 0, 80 tokens an answer of the plain arms. Scores: F1 of tokens, and whether
the answer holds all tokens of the right one.
"""

import json
import random
import re
import sqlite3
import string
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.real.plain import complete
from benchmarks.real.product import Product
from benchmarks.real.proxy import Recorder
from benchmarks.real.rules import holds_call, holds_tags

QUESTIONS, SEED = 60, 7
ARMS = ("product", "no-tools", "fts5", "newest", "nothing")
PASSAGES_CHARS, ANSWER_TOKENS, SPARE_TOKENS = 2000, 80, 400
EXCERPTS = "You answer questions about a conversation from the excerpts, in a few words."

Turn = dict[str, str]


def run(
    product: Product, recorder: Recorder, folder: Path, locomo: Path, window: int, limit: int, arms: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each question and arm. An arm is asked all questions in turn, so that its prompt stays cached."""
    conversation = json.loads(locomo.read_text("utf-8"))[0]
    turns, asked = turns_of(conversation["conversation"]), questions(conversation["qa"], limit or QUESTIONS)
    answers = _answers(product, recorder, folder, turns, window)
    rows: list[dict[str, Any]] = []
    for arm in arms:
        for question in asked:
            began = time.perf_counter()
            text = answers[arm](question["question"])
            row = scored(text, str(question["answer"]))
            row |= {"arm": arm, "text": question["question"], "seconds": time.perf_counter() - began}
            rows.append(row)
            print(f"{arm:9} {row['f1']:.2f} {row['text'][:50]!r} -> {text[:90]!r}", file=sys.stderr, flush=True)
    return rows


def _answers(
    product: Product, recorder: Recorder, folder: Path, turns: Sequence[Turn], window: int
) -> dict[str, Callable[[str], str]]:
    """For each arm what answers a question."""
    workspace = product.workspace("locomo", turns)
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    database = indexed(turns)
    newest = newest_lines(turns, recorder.address, window - SPARE_TOKENS)

    def of_product(**settings: str) -> Callable[[str], str]:
        zero = {"PALIMPSEST_MODELS_TEMPERATURE": "0", **settings}
        return lambda question: product.send(product.copy(workspace), question, empty, settings=zero).text

    def plain(system: str, user: str) -> str:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": user})
        return complete(recorder, messages, temperature=0, max_tokens=ANSWER_TOKENS)

    return {
        "product": of_product(),
        "no-tools": of_product(PALIMPSEST_MODELS_TOOLS="false"),
        "fts5": lambda q: plain(EXCERPTS, f"Excerpts:\n{best_passages(database, q)}\nQuestion: {q}"),
        "newest": lambda q: plain(EXCERPTS, f"Excerpts:\n{newest}\nQuestion: {q}"),
        "nothing": lambda q: plain("", q),
    }


def turns_of(conversation: dict[str, Any]) -> list[Turn]:
    """The turns as entries of an import, oldest first."""
    numbers = sorted(int(name.split("_")[1]) for name in conversation if re.fullmatch(r"session_\d+", name))
    turns: list[Turn] = []
    for number in numbers:
        date = datetime.strptime(conversation[f"session_{number}_date_time"].strip(), "%I:%M %p on %d %B, %Y")
        turns += (
            {
                "id": turn["dia_id"],
                "conversation": f"s{number}",
                "time": date.isoformat(),
                "role": "user",
                "speaker": turn["speaker"],
                "text": turn["text"],
            }
            for turn in conversation[f"session_{number}"]
        )
    return turns


def questions(pairs: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Questions that have an answer, drawn always alike."""
    answered = [pair for pair in pairs if pair["category"] in (1, 2, 4) and pair.get("answer")]
    random.Random(SEED).shuffle(answered)
    return answered[:count]


def line(turn: Turn) -> str:
    return f"[{turn['time'][:10]}] {turn['speaker']}: {turn['text']}"


def indexed(turns: Sequence[Turn]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table turns using fts5(text, tokenize='porter unicode61')")
    database.executemany("insert into turns values (?)", [(line(turn),) for turn in turns])
    return database


def best_passages(database: sqlite3.Connection, question: str) -> str:
    match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
    block = ""
    for (text,) in database.execute(
        "select text from turns where text match ? order by bm25(turns) limit 40", (match,)
    ):
        if len(block) + len(text) > PASSAGES_CHARS:
            break
        block += text + "\n"
    return block


def newest_lines(turns: Sequence[Turn], address: str, most_tokens: int) -> str:
    """The newest turns that fit, by the server's tokenizer."""
    lines = [line(turn) for turn in turns]
    whole = "\n".join(lines)
    body = json.dumps({"content": whole}).encode()
    request = urllib.request.Request(f"{address}/tokenize", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        tokens_a_char = len(json.loads(reply.read())["tokens"]) / len(whole)
    taken: list[str] = []
    room = most_tokens / tokens_a_char
    for text in reversed(lines):
        if (room := room - len(text) - 1) < 0:
            break
        taken.append(text)
    return "\n".join(reversed(taken))


def scored(text: str, gold: str) -> dict[str, Any]:
    return {
        "answer": text,
        "gold": gold,
        "f1": token_f1(text, gold),
        "contained": contained(text, gold),
        "clothed": holds_call(text) or holds_tags(text),
        "words": len(text.split()),
    }


def token_f1(text: str, gold: str) -> float:
    """F1 of the tokens, as in LoCoMo's own evaluation but without stemming."""
    words, wanted = Counter(tokens(text)), Counter(tokens(gold))
    total = words.total() + wanted.total()
    return 2 * (words & wanted).total() / total if words and wanted else 0.0


def contained(text: str, gold: str) -> bool:
    return bool(wanted := set(tokens(gold))) and wanted <= set(tokens(text))


def tokens(text: str) -> list[str]:
    plain = re.sub(f"[{re.escape(string.punctuation)}]", " ", text.lower())
    return [word for word in plain.split() if word not in ("a", "an", "the")]
