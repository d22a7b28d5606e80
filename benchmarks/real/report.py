"""Tables of the rows, in Markdown."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from benchmarks.real.rules import RULES

Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    parts = {"plain": plain_table, "tools": tools_table}
    return "\n\n".join(
        table(found) for part, table in parts.items() if (found := [row for row in rows if row["part"] == part])
    )


def plain_table(rows: Sequence[Row]) -> str:
    """How many are answered as plainly as by the bare model; the rules; the failures of the dev half."""
    lines = [
        "| model | half | language | messages | plain % | broken rules | first token s | seconds |",
        "|" + "---|" * 8,
    ]
    for names, found in _grouped(rows):
        rules = Counter(rule for row in found for rule in row["against"])
        told = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
        plain = share(not row["against"] for row in found)
        lines.append(_line(*names, len(found), plain, told, _middle(found, "first_s"), _middle(found, "seconds")))
    lines += ["", "An answer counts against the product if it breaks a rule that the bare model's answer keeps:", ""]
    lines += [f"- {rule}: {sentence}" for rule, sentence in RULES.items()]
    failures = [row for row in rows if row["against"] and row["half"] == "dev"]
    if failures:
        lines += ["", "Failures of the dev half:", ""]
    for row in failures:
        answer = row["answer"][:120] or row["error"][:120]
        lines.append(
            f"- {row['model']} {row['id']}: {', '.join(row['against'])}: {answer!r}; bare: {row['bare'][:80]!r}"
        )
    return "\n".join(lines)


def tools_table(rows: Sequence[Row]) -> str:
    lines = [
        "| model | half | language | messages | right tool % | and arguments % | answer holds the fact % | seconds |",
        "|" + "---|" * 8,
    ]
    for names, found in _grouped(rows):
        facts = [row["fact"] for row in found if row["fact"] is not None]
        shares = [share(row[name] for row in found) for name in ("tool", "arguments")]
        lines.append(_line(*names, len(found), *shares, share(facts), _middle(found, "seconds")))
    return "\n".join(lines)


def share(flags: Iterable[bool]) -> str:
    counted = [bool(flag) for flag in flags]
    return f"{100 * sum(counted) / len(counted):.0f}" if counted else "–"


def _grouped(rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str, str], list[Row]]]:
    """By model, half and language; and for each model all halves and languages together."""
    for model, of_model in _by(rows, "model"):
        for half, of_half in _by(of_model, "half"):
            for language, found in _by(of_half, "language"):
                yield (model, half, language), found
        yield (model, "both" if len({row["half"] for row in of_model}) > 1 else "all", "all"), of_model


def _by(rows: Sequence[Row], name: str) -> Iterable[tuple[str, list[Row]]]:
    ordered = sorted(rows, key=lambda row: row[name])
    return ((value, list(found)) for value, found in groupby(ordered, key=lambda row: row[name]))


def _middle(rows: Sequence[Row], name: str) -> str:
    values = [row[name] for row in rows if row.get(name) is not None]
    return f"{statistics.median(values):.0f}" if values else "–"


def _line(*cells: Any) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
