"""Tables of the rows, in Markdown."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from benchmarks.real.rules import RULES

Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    parts = {
        "plain": plain_table,
        "tools": tools_table,
        "project": project_table,
        "memory": memory_table,
        "speed": speed_table,
    }
    return "\n\n".join(
        table(found) for part, table in parts.items() if (found := [row for row in rows if row["part"] == part])
    )


def plain_table(rows: Sequence[Row]) -> str:
    """How many are answered as plainly as by the bare model; the rules; the failures of the dev half."""
    lines = [
        "| model | half | language | messages | plain % | called a tool | broken rules | first token s | seconds |",
        "|" + "---|" * 9,
    ]
    for names, found in _grouped(rows):
        rules = Counter(rule for row in found for rule in row["against"])
        broken = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
        plain, called = share(not row["against"] for row in found), sum(row["called"] for row in found)
        times = [_middle(found, name) for name in ("first_s", "seconds")]
        lines.append(_line(*names, len(found), plain, called, broken, *times))
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
    """The product's calls; then all programs by what came of the messages that no memory is needed for."""
    lines = [
        "| model | half | language | messages | right tool % | and arguments % | answer holds the fact % | seconds |",
        "|" + "---|" * 8,
    ]
    for names, found in _grouped([row for row in rows if row["program"] == "palimpsest"]):
        facts = [row["fact"] for row in found if row["fact"] is not None]
        shares = [share(row[name] for row in found) for name in ("tool", "arguments")]
        lines.append(_line(*names, len(found), *shares, share(facts), _middle(found, "seconds")))
    if others := {row["id"] for row in rows if row["program"] != "palimpsest"}:
        lines += [
            "",
            "| model | program | messages | answer or file holds what was asked % | seconds |",
            "|" + "---|" * 5,
        ]
        for model, of_model in _by([row for row in rows if row["id"] in others], "model"):
            for program, found in _by(of_model, "program"):
                facts = share(row["fact"] for row in found)
                lines.append(_line(model, program, len(found), facts, _middle(found, "seconds")))
    return "\n".join(lines)


def project_table(rows: Sequence[Row]) -> str:
    lines = ["| model | program | projects | mended | otherwise | seconds |", "|" + "---|" * 6]
    for model, of_model in _by(rows, "model"):
        for program, found in _by(of_model, "program"):
            ends = Counter(row["end"] for row in found)
            mended = ends.pop("mended", 0)
            told = ", ".join(f"{end} {count}" for end, count in ends.most_common())
            lines.append(_line(model, program, len(found), mended, told, _middle(found, "seconds")))
    return "\n".join(lines)


def memory_table(rows: Sequence[Row]) -> str:
    lines = ["| model | arm | questions | F1 | contained % | calls or tags % | words | seconds |", "|" + "---|" * 8]
    for model, of_model in _by(rows, "model"):
        for arm, found in _by(of_model, "arm"):
            f1 = f"{statistics.mean(row['f1'] for row in found):.3f}"
            shares = [share(row[name] for row in found) for name in ("contained", "clothed")]
            lines.append(_line(model, arm, len(found), f1, *shares, _middle(found, "words"), _middle(found, "seconds")))
    return "\n".join(lines)


def speed_table(rows: Sequence[Row]) -> str:
    lines = ["| model | place | step | first token s | tokens read | cached | whole s |", "|" + "---|" * 7]
    for row in rows:
        first = f"{row['first_s']:.1f}" if row["first_s"] is not None else "–"
        counted = (row["read_tokens"], row["cached_tokens"])
        lines.append(_line(row["model"], row["place"], row["step"], first, *counted, f"{row['seconds']:.1f}"))
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
