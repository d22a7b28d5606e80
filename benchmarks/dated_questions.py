"""Whether the first hit for a question that names a date, a place or a person is right.

    python -m benchmarks.dated_questions [--show] [--json]

The messages of benchmarks/corpora/dated_own.jsonl (read while the rules were made) and dated_unseen.jsonl (written
before anybody had read them) are imported into a workspace each, and each question is asked at noon (UTC) on
November 28, 2026.

- search %: questions whose first hit of a search is a right message
- recall %: questions whose best passage in a request is; offline %: those whose first quote by `offline` is
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from benchmarks.offline_quotes import PROFILE, quotes_of
from context import Context, ContextSettings, Turn
from foundation.paths import Workspace
from memory.memory import Memory
from memory.search import Query
from models.chat.offline.provider import answer
from models.messages import RecalledSpan
from models.tokens import Estimate

_CORPORA = Path(__file__).with_name("corpora")
_SETS = (("own", "dated_own.jsonl"), ("unseen", "dated_unseen.jsonl"))
_WAYS = ("search", "recall", "offline")


class FixedClock:
    """Noon of November 28, 2026."""

    def now(self) -> datetime:
        return datetime(2026, 11, 28, 12, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.dated_questions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=[name for name, _ in _SETS], help="one of the sets")
    parser.add_argument("--show", action="store_true", help="print what each question brings")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = list(measure(options.only, show=options.show))
    print(json.dumps({"benchmark": "dated_questions", "rows": rows}) if options.json else _table(rows))
    return 0


def measure(only: str | None = None, *, show: bool = False) -> Iterable[dict[str, Any]]:
    """A row for each set and language."""
    for name, file in _SETS:
        if only not in {None, name}:
            continue
        lines = [json.loads(line) for line in (_CORPORA / file).read_text("utf-8").splitlines()]
        messages, questions = ([line for line in lines if key in line] for key in ("text", "question"))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            firsts = _ask(Workspace(Path(folder)), messages, questions)
        texts = {message["id"]: message["text"] for message in messages}
        if show:
            for question, first in zip(questions, firsts, strict=True):
                marks = " ".join(way if first[way] in question["answers"] else way.upper() for way in _WAYS)
                print(f"{question['id']} {question['question']}\n    {marks}")
                print("".join(f"    {way}: {texts.get(first[way], '')}\n" for way in _WAYS), end="")
        for language in ("en", "zh", ""):
            chosen = [
                (question, first)
                for question, first in zip(questions, firsts, strict=True)
                if language in {"", question["lang"]}
            ]
            yield {"set": name, "lang": language or "both", "questions": len(chosen)} | {
                way: 100 * sum(first[way] in question["answers"] for question, first in chosen) / len(chosen)
                for way in _WAYS
            }


def _ask(
    workspace: Workspace, messages: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]
) -> list[dict[str, str]]:
    """The id of the message that each way puts first, for each question."""
    memory = Memory.open(workspace, FixedClock(), read_only=False)
    try:
        lines = (json.dumps({**message, "role": "user", "time": message["at"]}).encode() for message in messages)
        store_all(memory.conversations, read_jsonl(lines, "dated"), source="benchmark", fixed_source=True)
        context = Context(workspace, memory, ContextSettings(), FixedClock())
        context.reload()
        return [_firsts(memory, context, question["question"], messages) for question in questions]
    finally:
        memory.close()


def _firsts(memory: Memory, context: Context, question: str, messages: Sequence[dict[str, Any]]) -> dict[str, str]:
    hits = memory.search.query(Query(text=question)).hits
    request = context.assemble(Turn(conversation=None, leaf=None, text=question), PROFILE, Estimate()).request
    recalled = [part for message in request.messages for part in message.parts if isinstance(part, RecalledSpan)]
    best = min(recalled, key=lambda part: part.rank, default=None)
    quotes = quotes_of(answer(request))
    quoted = [message["id"] for message in messages if quotes and quotes[0].strip() in message["text"]]
    return {
        "search": hits[0].entry_id if hits else "",
        "recall": best.citation.ref if best else "",
        "offline": quoted[0] if quoted else "",
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'set':<10}{'lang':<6}{'questions':>10}" + "".join(f"{f'{way} %':>11}" for way in _WAYS)]
    lines += [
        f"{row['set']:<10}{row['lang']:<6}{row['questions']:>10}" + "".join(f"{row[way]:>11.1f}" for way in _WAYS)
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
