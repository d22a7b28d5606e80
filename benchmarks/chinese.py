"""Questions in Chinese and English about what was said: whether the first hit and the offline answer hold the answer.

    python -m benchmarks.chinese [--half seen|unseen|all] [--show] [--json]

The two halves of benchmarks/corpora/chinese_questions.json are two stores, each with its own facts and the same other
lines. The rules were made with the half `seen`; the half `unseen` was written before them and tests them.

- search: questions whose first hit holds the answer
- offline: questions for which `offline` quotes the answer first, and not as the nearest that it has
- silent: questions without an answer for which nothing is quoted as one
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.offline_quotes import PROFILE, quotes_of
from context import Context, ContextSettings, Turn
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.text.folding import fold
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.chat.offline.phrases import CHINESE, ENGLISH
from models.chat.offline.provider import answer
from models.messages import Role
from models.tokens import Estimate

QUESTIONS = Path(__file__).with_name("corpora") / "chinese_questions.json"
HALVES = ("seen", "unseen")
NEAREST = (CHINESE.nearest, ENGLISH.nearest)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.chinese", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print the questions that fail")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    corpus = json.loads(QUESTIONS.read_text("utf-8"))
    rows = [
        measure(half, corpus[half], corpus["noise"], show=options.show)
        for half in HALVES
        if options.half in {"all", half}
    ]
    print(json.dumps({"benchmark": "chinese", "rows": rows}) if options.json else _table(rows))
    return 0


def measure(name: str, half: dict[str, Any], noise: Sequence[dict[str, str]], *, show: bool = False) -> dict[str, Any]:
    """The counts of a half."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        workspace = Workspace(Path(folder))
        memory = Memory.open(workspace, SystemClock(), read_only=False)
        try:
            _fill(memory, [*half["facts"], *noise])
            context = Context(workspace, memory, ContextSettings(), SystemClock())
            context.reload()
            in_searches, in_answers = 0, 0
            for question in half["questions"]:
                first = memory.search.query(Query(text=question["question"], limit=3)).hits[:1]
                told = _offline(context, question["question"])
                in_search = any(_holds(hit.snippet, question["answer"]) for hit in first)
                in_answer = not told.startswith(NEAREST) and any(
                    _holds(quote, question["answer"]) for quote in quotes_of(told)[:1]
                )
                in_searches += in_search
                in_answers += in_answer
                if show and not (in_search and in_answer):
                    print(f"{question['question']} → {question['answer']}: search {in_search}, offline {in_answer}")
                    print(
                        "   first:",
                        [hit.snippet[:80] for hit in first],
                        "\n   told:",
                        " / ".join(told.split("\n\n")[:6]),
                    )
            answers = [_offline(context, question) for question in half["unanswerable"]]
            silent = [told.startswith(NEAREST) or not quotes_of(told) for told in answers]
            if show:
                print([told for told, good in zip(answers, silent, strict=True) if not good])
            return {
                "half": name,
                "questions": len(half["questions"]),
                "search": in_searches,
                "offline": in_answers,
                "unanswerable": len(silent),
                "silent": sum(silent),
            }
        finally:
            memory.close()


def _fill(memory: Memory, lines: Sequence[dict[str, str]]) -> None:
    """Stores the lines, those of a day as a conversation."""
    days = {line["day"] for line in lines}
    for day in sorted(days):
        conversation = memory.cold.new_conversation().seq
        of_day = [line for line in lines if line["day"] == day]
        memory.cold.append_many(
            EntryDraft(
                conversation=conversation,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role(line["role"]),
                text=as_given(line["text"]),
                id=as_given(f"{day}/{number}"),
                parent_id=as_given(f"{day}/{number - 1}" if number else ""),
                time=datetime.fromisoformat(f"{day}T09:00:00+00:00"),
            )
            for number, line in enumerate(of_day)
        )


def _offline(context: Context, question: str) -> str:
    turn = Turn(conversation=None, leaf=None, text=question)
    return answer(context.assemble(turn, PROFILE, Estimate()).request)


def _holds(text: str, wanted: str) -> bool:
    return fold(wanted) in fold(text)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    columns = ("half", "questions", "search", "offline", "unanswerable", "silent")
    return "\n".join(
        "".join(f"{row[column]:>14}" for column in columns) for row in [dict(zip(columns, columns, strict=True)), *rows]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
