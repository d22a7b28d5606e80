"""Messages that need a tool or the memory: which tool was called first, with which arguments, and what came of it."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.real.files import OFFICE, project
from benchmarks.real.harnesses import Harness
from benchmarks.real.plain import MESSAGES, load, shown
from benchmarks.real.product import Call, Outcome, Product
from benchmarks.real.rules import holds_call

OF_MEMORY = {"remember", "memory_search"}
MODE = ("--mode", "auto", "--max-calls", "6")


def run(product: Product, others: Sequence[Harness], folder: Path, half: str, limit: int) -> list[dict[str, Any]]:
    """A row for each message and program. Each program gets all messages in turn, so that its prompt stays cached."""
    workspace = product.workspace("memories", json.loads((MESSAGES / "memories.json").read_text("utf-8")))
    items = load("tools", half, limit)
    rows: list[dict[str, Any]] = []
    for item in items:
        office = project(folder / "office", OFFICE)
        outcome = product.send(product.copy(workspace), item["text"], office, *MODE)
        rows.append({"program": "palimpsest", **judged(item, outcome, office, half)})
        if half == "dev":
            print(line(rows[-1]), file=sys.stderr, flush=True)
    for other in others:
        rows += [of_other(other, item, folder, half) for item in items if OF_MEMORY.isdisjoint(item["calls"])]
    return rows


def of_other(other: Harness, item: Mapping[str, Any], folder: Path, half: str) -> dict[str, Any]:
    """The row of another program, which is not asked about a memory that it does not have."""
    office = project(folder / "office", OFFICE)
    answer, seconds = other.send(item["text"], office)
    fact = holds_fact(item, answer, office)
    if half == "dev":
        end = repr(answer.strip()[-100:])
        print(f"{other.name:9} {'F' if fact else '-'} {seconds:5.0f} s {item['text'][:40]!r} -> {end}", file=sys.stderr)
    row = {name: item[name] for name in ("id", "language", "text")}
    return row | {"half": half, "program": other.name, "answer": answer, "seconds": seconds, "fact": fact}


def judged(item: Mapping[str, Any], outcome: Outcome, office: Path, half: str) -> dict[str, Any]:
    fact = holds_fact(item, outcome.text, office)
    if fact and holds_call(outcome.text):
        fact = False  # the words of a call are no answer
    tool, arguments = first_call(item["calls"], outcome.calls, fact=fact)
    exchange = outcome.exchanges[0] if outcome.exchanges else None
    return {
        "id": item["id"],
        "language": item["language"],
        "half": half,
        "text": item["text"],
        "answer": outcome.text,
        "error": outcome.error,
        "status": outcome.status,
        "calls": [[call.name, call.arguments] for call in outcome.calls],
        "tool": tool,
        "arguments": arguments,
        "fact": fact,
        "first_s": exchange.first_s if exchange else None,
        "seconds": outcome.seconds,
    }


def first_call(
    wanted: Mapping[str, Mapping[str, str]], calls: Sequence[Call], *, fact: bool | None
) -> tuple[bool, bool]:
    """Whether the first call is of a wanted tool, and whether its arguments are right too.

    `wanted` has for each tool a pattern an argument; "a|b" is matched by either. The tool "" is none: right if the
    answer holds the fact, which was recalled for the message.
    """
    if not calls:
        return ("" in wanted and fact is True,) * 2
    first = calls[0]
    if first.name not in wanted:
        return False, False
    return True, all(
        re.search(pattern, " ".join(str(first.arguments.get(name, "")) for name in names.split("|")))
        for names, pattern in wanted[first.name].items()
    )


def holds_fact(item: Mapping[str, Any], answer: str, office: Path) -> bool | None:
    """Whether the answer holds the fact and the files what was asked; None if the message asks for neither."""
    files = item.get("files", {})
    if not item["answer"] and not files:
        return None
    changed = all(
        (office / name).is_file() and re.search(pattern, (office / name).read_text("utf-8", "replace"))
        for name, pattern in files.items()
    )
    return changed and bool(re.search(item["answer"], answer))


def line(row: dict[str, Any]) -> str:
    marks = "".join(letter if row[name] else "-" for letter, name in (("T", "tool"), ("A", "arguments")))
    fact = {True: "F", False: "-", None: " "}[row["fact"]]
    calls = "; ".join(f"{name} {arguments}" for name, arguments in row["calls"])[:120]
    return f"{marks}{fact} {row['seconds']:5.0f} s {row['text'][:40]!r} [{calls}] -> {shown(row)}"
