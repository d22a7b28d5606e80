"""Traces: what a model is made to ask for, and the files that it works on. Fixed by their seed.

The outputs are real: files of Python's library are read and searched, unit tests run, sources compiled, JSON and the
history of a git repository printed.
"""

import json
import random
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from msgspec import Struct

FILE_SIZE = 19_000  # bytes of the files that are read, about


class Call(Struct):
    """A tool call."""

    name: str
    arguments: dict[str, Any]


class Turn(Struct):
    """A message of the person, the calls that the model makes one after another, and its answer."""

    message: str
    calls: list[Call]
    answer: str


class Trace(Struct):
    """Turns on a project folder."""

    name: str
    turns: list[Turn]

    @property
    def calls(self) -> int:
        return sum(len(turn.calls) for turn in self.turns)


def library_files(count: int) -> list[Path]:
    """Files of Python's library whose sizes are nearest to FILE_SIZE, by name."""
    every = [path for path in Path(sysconfig.get_path("stdlib")).glob("*.py") if path.stat().st_size > 1_000]
    every += [path for path in Path(sysconfig.get_path("stdlib")).glob("[a-z]*/*.py") if "site-" not in str(path)]
    nearest = sorted(every, key=lambda path: (abs(path.stat().st_size - FILE_SIZE), str(path)))[:count]
    return sorted(nearest)


def copy_library(folder: Path, count: int) -> list[str]:
    """Copies so many files of the library into the folder; gives their names."""
    names: list[str] = []
    for path in library_files(count):
        names.append(f"{path.parent.name}_{path.name}")
        (folder / names[-1]).write_bytes(path.read_bytes())
    return names


def reads(folder: Path, count: int) -> Trace:
    """One turn that reads so many whole files, again from the first where there are fewer."""
    names = copy_library(folder, min(count, 400))
    calls = [Call("read_file", {"path": names[n % len(names)]}) for n in range(count)]
    return Trace("reads", [Turn("Read every file, one after another.", calls, "All are read.")])


def work(folder: Path, count: int, seed: int = 1) -> Trace:
    """Turns of about 25 calls: ranges of files, searches, edits, test runs, compiling, JSON, and git's history."""
    chance = random.Random(seed)
    names = copy_library(folder, 60)
    _make_tests(folder, chance)
    _make_history(folder, chance)
    python = shutil.which("python3") or sys.executable
    words = ("return", "raise ValueError", "import re", "self\\._", "TODO", "encoding", "def __init__", "errno")

    def call() -> Call:
        name = chance.choice(names)
        match chance.choices(("range", "whole", "search", "edit", "test", "compile", "json", "log"), _WEIGHTS)[0]:
            case "range":
                return Call("read_file", {"path": name, "offset": chance.randrange(1, 300), "limit": 120})
            case "whole":
                return Call("read_file", {"path": name})
            case "search":
                return Call("search_files", {"pattern": chance.choice(words), "glob": chance.choice(("*.py", name))})
            case "edit":
                text = f"# Checked by run {chance.randrange(10**6)}.\n"
                return Call("write_file", {"path": f"notes_{chance.randrange(40)}.md", "content": text * 12})
            case "test":
                return Call("run_command", {"command": f"{python} -m unittest -v test_{chance.randrange(20)}"})
            case "compile":
                return Call("run_command", {"command": f"{python} -m compileall -f {' '.join(names[:30])}"})
            case "json":
                return Call("run_command", {"command": f"cat vars_{chance.randrange(3)}.json"})
            case _:
                return Call("run_command", {"command": f"git log -n {chance.randrange(10, 60)} --stat"})

    turns: list[Turn] = []
    while (left := count - sum(len(turn.calls) for turn in turns)) > 0:
        number = min(left, chance.randrange(10, 40))
        subject = chance.choice(names)
        turns.append(
            Turn(
                f"Step {len(turns) + 1}: make {subject} faster; keep the name of release {chance.randrange(10**4)}.",
                [call() for _ in range(number)],
                f"{subject} was changed, and its tests pass after {number} steps.",
            )
        )
    return Trace("work", turns)


_WEIGHTS = (30, 12, 18, 10, 14, 4, 5, 7)


def talk(folder: Path, count: int, seed: int = 1, said: Sequence[str] = ()) -> Trace:
    """So many turns without a tool, of ordinary length: what two people `said`, one by one, the message and three to
    five more for its answer; or a sentence or two of the library's docstrings, then more."""
    chance = random.Random(seed)
    if said:
        entries = cycle(said)
        parts = [list(islice(entries, chance.randrange(4, 7))) for _ in range(count)]
        return Trace("talk", [Turn(message, [], " ".join(answer)) for message, *answer in parts])
    sentences = [
        " ".join(sentence.split())
        for path in library_files(300)
        for text in _DOCSTRING.findall(path.read_text("utf-8", "replace"))
        for sentence in text.split(". ")
        if 40 < len(sentence) < 400
    ]
    place = chance.randrange(100)

    def text(least: int, most: int) -> str:
        nonlocal place
        place += (number := chance.randrange(least, most))
        return ". ".join(sentences[n % len(sentences)] for n in range(place - number, place)) + "."

    return Trace("talk", [Turn(text(1, 3), [], text(2, 7)) for _ in range(count)])


_DOCSTRING = re.compile(r'"""(.+?)"""', re.DOTALL)


def _make_tests(folder: Path, chance: random.Random) -> None:
    """Twenty modules of unit tests, of which some fail."""
    for number in range(20):
        lines = ["import unittest", "", "", f"class Test{number}(unittest.TestCase):"]
        for n in range(chance.randrange(5, 60)):
            expected = n * number + (chance.random() < 0.1)
            lines += [f"    def test_{n}(self):", f"        self.assertEqual({n} * {number}, {expected})"]
        (folder / f"test_{number}.py").write_text("\n".join(lines) + "\n")
    values = {name: str(value) for name, value in sysconfig.get_config_vars().items()}
    for number in range(3):
        some = dict(chance.sample(sorted(values.items()), len(values) // 2))
        (folder / f"vars_{number}.json").write_text(json.dumps(some, indent=1))


def _make_history(folder: Path, chance: random.Random) -> None:
    """A git repository of sixty commits."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words],
                       check=True, capture_output=True)  # fmt: skip

    git("init", "-q")
    for number in range(60):
        (folder / f"log_{number % 7}.md").write_text(f"Entry {number}: {chance.randrange(10**9)}\n")
        git("add", f"log_{number % 7}.md")
        git("commit", "-q", "-m", f"Write entry {number} of the log, because the one before was {chance.randrange(99)}")
