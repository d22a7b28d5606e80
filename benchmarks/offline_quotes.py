"""What `offline` quotes for a question about archived texts: whether the first quote answers it, and whole.

    python -m benchmarks.offline_quotes [--half dev|test|all] [--show] [--json]

The five texts of benchmarks/corpora/offline are archived in one workspace, each question makes a request as the chat
makes it, and `offline` answers. The rules were made with the questions marked `dev`; the others test them.

- first %: questions that the texts answer whose first quote holds an answer; of quotes %: the same, of those that get
  a quote; any %: one of the quotes does
- whole %: first quotes that begin where a sentence, a list item or a row begins, and end where one ends
- silent %: questions that the texts do not answer for which nothing is quoted
- chars: median characters of the first quote
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from context import Context, ContextSettings, Turn
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory
from models.chat.offline.provider import answer
from models.chat.port import Profile
from models.tokens import Estimate

CORPUS = Path(__file__).with_name("corpora") / "offline"
TEXTS = ("gpl-3.txt", "lantern_transport.txt", "quay_lease.txt", "python_statements.txt", "ferry_zh.txt")
PROFILE = Profile(spec="offline", name="offline", window=8192, window_known=True)

_PAGE_BREAK = re.compile(r"\n+[^\n]*\[Page \d+\]\n\f?\n*[^\n]+\n+")
_BEGINNING = re.compile(
    r"(?:\A|[.!?:;。！？：；”\"’')\]]\s*|\n\s*\n\s*|^\s*(?:[-*o•]|\(?\w{1,3}[.)])\s+|\n *\w+:\s+)\Z", re.MULTILINE
)
_BLANK = re.compile(r"\s+")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.offline_quotes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    lines = (CORPUS / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [question for question in map(json.loads, lines) if _in_half(question, options.half)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        answers = answer_all(Path(folder), questions)
    if options.show:
        for question, text in zip(questions, answers, strict=True):
            print(f"{'ok ' if _right(question, quotes_of(text)) else 'BAD'} {question['id']} {question['question']}")
            print(f"    wanted: {question['answers']}\n{text}\n")
    rows = measure(questions, answers)
    print(json.dumps({"half": options.half, "rows": rows}) if options.json else _table(rows))
    return 0


def answer_all(folder: Path, questions: Sequence[dict[str, Any]]) -> list[str]:
    """Archives the texts in a workspace; returns the answer to each question, with no conversation stored."""
    workspace = Workspace(folder)
    memory = Memory.open(workspace, SystemClock(), read_only=False)
    try:
        for name in TEXTS:
            memory.vault.archive_text(as_given((CORPUS / name).read_text("utf-8")), label=name)
        context = Context(workspace, memory, ContextSettings(), SystemClock())
        context.reload()
        turns = (Turn(conversation=None, leaf=None, text=question["question"]) for question in questions)
        return [answer(context.assemble(turn, PROFILE, Estimate()).request) for turn in turns]
    finally:
        memory.close()


def quotes_of(text: str) -> list[str]:
    """The quotes of an answer, each with its lines."""
    blocks, lines = [], list[str]()
    for line in text.splitlines():
        if line.startswith("> "):
            lines.append(line.removeprefix("> "))
        elif line.startswith("— "):
            blocks.append("\n".join(lines))
            lines = []
    return [block for block in blocks if block]


def measure(questions: Sequence[dict[str, Any]], answers: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each text, and one for all."""
    pairs = list(zip(questions, answers, strict=True))
    rows = [_row(name, [pair for pair in pairs if pair[0]["text"] == name]) for name in TEXTS]
    return [*rows, _row("all", pairs)]


def _row(name: str, pairs: Sequence[tuple[dict[str, Any], str]]) -> dict[str, Any]:
    answered = [(question, quotes_of(text)) for question, text in pairs if question["answers"]]
    silent = [not quotes_of(text) for question, text in pairs if not question["answers"]]
    first = [(question, quotes[0]) for question, quotes in answered if quotes]
    return {
        "text": name,
        "questions": len(answered),
        "first": _percent(_right(question, quotes[:1]) for question, quotes in answered),
        "quoted": _percent(_right(question, [quote]) for question, quote in first),
        "any": _percent(_right(question, quotes) for question, quotes in answered),
        "whole": _percent(_is_whole(question, quote) for question, quote in first),
        "none": len(silent),
        "silent": _percent(silent),
        "chars": statistics.median([len(quote) for _, quote in first] or [0]),
    }


def _right(question: dict[str, Any], quotes: Sequence[str]) -> bool:
    if not question["answers"]:
        return not quotes
    return any(_plain(wanted) in _plain(quote) for wanted in question["answers"] for quote in quotes)


def _is_whole(question: dict[str, Any], quote: str) -> bool:
    """Whether what precedes the quote in its text ends a sentence, a heading or an item, and the quote itself does."""
    text = _PAGE_BREAK.sub("\n", (CORPUS / question["text"]).read_text("utf-8"))
    pieces = [_words(piece) for piece in quote.split("\n")]
    return all(any(_ends_well(text, match) for match in re.finditer(piece, text)) for piece in pieces if piece)


def _words(piece: str) -> str:
    characters = (re.escape(character) for character in _plain(piece))
    return r"\s*".join(characters)


def _ends_well(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    begins = _BEGINNING.search(before) is not None or not before.rpartition("\n")[2].strip()
    ends = bool(re.search(r"[.!?:;。！？：；”\"’')\]]\Z", match.group())) or bool(re.match(r"\s*(?:\n\s*\n|\Z)", after))
    return begins and (ends or after.startswith("\n"))


def _plain(text: str) -> str:
    return _BLANK.sub("", text)


def _percent(values: Iterable[bool]) -> float:
    held = list(values)
    return 100 * sum(held) / len(held) if held else 0.0


def _in_half(question: dict[str, Any], half: str) -> bool:
    return half == "all" or question["dev"] == (half == "dev")


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        f"{'text':<24}{'questions':>10}{'first %':>9}{'of quotes %':>13}{'any %':>7}{'whole %':>9}{'none':>6}"
        f"{'silent %':>10}{'chars':>7}"
    ]
    lines += [
        f"{row['text']:<24}{row['questions']:>10}{row['first']:>9.1f}{row['quoted']:>13.1f}{row['any']:>7.1f}{row['whole']:>9.1f}"
        f"{row['none']:>6}{row['silent']:>10.1f}{row['chars']:>7.0f}"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
