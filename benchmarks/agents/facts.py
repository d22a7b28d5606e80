"""A trace with planted facts: half said once by the person, half shown once by a tool, among much other work.

Four kinds of each: a value, a decision, a constraint, a change of a file. A fact has the question that a person would
ask for it, in other words, and the words of its answer. fact_words.json has two sets of words: what is tuned on `dev`
is judged on `test`.
"""

import random
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from benchmarks.agents.traces import Call, Trace, work

By = Literal["person", "tool"]
Words = Literal["dev", "test"]


class Fact(Struct):
    """`answer` occurs nowhere else in the trace but in the one statement of the fact."""

    kind: str
    by: By
    question: str
    answer: str
    file: str = ""  # that a change of a file touches


class Planted(Struct):
    trace: Trace
    facts: list[Fact]
    changed: list[str]  # files that the calls write, by name


class _Vocabulary(Struct):
    services: tuple[str, ...]
    attributes: tuple[tuple[str, str, str], ...]  # in a sentence, as a key, what a question calls it
    purposes: tuple[tuple[str, str, str], ...]  # what for, what was chosen, what was not
    rules: tuple[tuple[str, str], ...]  # what not to do, what a question calls it
    parts: tuple[tuple[str, str], ...]  # what a file holds, its name


@cache
def _vocabularies() -> dict[str, _Vocabulary]:
    return msgspec.json.decode(Path(__file__).with_name("fact_words.json").read_bytes(), type=dict[str, _Vocabulary])


_NAMES = ("Ingrid", "Tomasz", "Aiko", "Farid", "Lucía", "Bram", "Nkechi", "Oskar", "Priya", "Wei", "Zofia", "Yusuf")
_PER_KIND = {"value": 13, "decision": 13, "constraint": 12, "change": 12}


def planted(folder: Path, count: int, words: Words, seed: int = 7) -> Planted:
    """A trace of about `count` calls with 100 facts, each stated once; the files that it reads are written here."""
    chance = random.Random(seed)
    base = work(folder, count, seed)
    facts: list[Fact] = []
    said: list[str] = []
    shown: list[list[Call]] = []
    for by in ("person", "tool"):
        for kind, number in _PER_KIND.items():
            for n in range(number):
                fact, statement, calls = _made(folder, chance, words, kind, by, n)
                facts.append(fact)
                said += [statement] if statement else []
                shown += [calls] if calls else []
    chance.shuffle(said)
    chance.shuffle(shown)
    turns = base.turns
    for n, statement in enumerate(said):
        turn = turns[n * len(turns) // len(said)]
        turn.message += f" {statement}"
    for n, calls in enumerate(shown):
        turn = turns[n * len(turns) // len(shown)]
        place = chance.randrange(len(turn.calls) + 1)
        turn.calls[place:place] = calls
    written = {call.arguments["path"] for turn in turns for call in turn.calls if call.name == "write_file"}
    return Planted(Trace(f"facts-{words}", turns), facts, sorted(written))


def _made(folder: Path, chance: random.Random, words: Words, kind: str, by: By, n: int) -> tuple[Fact, str, list[Call]]:
    """A fact, the sentence in which the person says it, and the calls that show it."""
    vocabulary = _vocabularies()[words]
    second = by == "tool"
    if kind == "value":
        order = n + second * _PER_KIND[kind]
        service = vocabulary.services[order // 4]
        sentence, key, question = vocabulary.attributes[order % 4]
        value = f"{chance.randrange(10_000, 60_000)}"
        fact = Fact(kind, by, question.format(service), value)
        if not second:
            return fact, f"By the way, {service} {sentence} {value} now.", []
        path = f"config_{service}_{key}.toml"
        _config(folder / path, chance, service, key, value)
        return fact, "", [Call("read_file", {"path": path})]
    if kind == "decision":
        purpose, chosen, other = vocabulary.purposes[n + second * _PER_KIND[kind]]
        chosen += f" {chance.randrange(2, 30)}.{chance.randrange(10, 99)}"  # so that no other words answer
        fact = Fact(kind, by, f"What did we choose for {purpose}?", chosen)
        if not second:
            return fact, f"For {purpose} we take {chosen} and not {other}, that is settled.", []
        path = f"adr_{n:02}.md"
        _record(folder / path, chance, purpose, chosen, other)
        return fact, "", [Call("read_file", {"path": path})]
    if kind == "constraint":
        action, called = vocabulary.rules[n + second * _PER_KIND[kind]]
        who = f"{chance.choice(_NAMES)} {chance.choice('ABCDEFGHKLMNPRSTW')}{chance.randrange(100, 999)}"
        fact = Fact(kind, by, f"Who has to be asked before {called}?", who)
        if not second:
            return fact, f"Never {action} before {who} has agreed.", []
        path = f"guide_{n:02}.md"
        _guide(folder / path, chance, action, who)
        return fact, "", [Call("run_command", {"command": f"cat {path}"})]
    part, name = vocabulary.parts[n + second * _PER_KIND[kind]]
    path = f"src_{name}_{chance.randrange(1000)}.py"
    if not second:
        return Fact(kind, by, f"To which file did I move {part}?", path), f"I moved {part} to {path} this morning.", []
    text = f'"""{part[4:].capitalize()}, kept apart from the rest."""\n\n\n' + "".join(
        f"def step_{k}(value: int) -> int:\n    return value + {chance.randrange(100)}\n\n\n" for k in range(20)
    )
    calls = [Call("write_file", {"path": path, "content": text})]
    return Fact(kind, by, f"Which file did you write for {part}?", path, path), "", calls


def _config(path: Path, chance: random.Random, service: str, key: str, value: str) -> None:
    """A file of settings in which this is one of 150."""
    names = ("burst", "window", "grace", "depth", "limit", "factor", "quota", "step", "spread", "margin")
    lines = [f"{chance.choice(names)}_{k} = {chance.randrange(10_000)}" for k in range(150)]
    lines[chance.randrange(20, 130)] = f"{key} = {value}"
    path.write_text(f'[{service}]\nname = "{service}"\n' + "\n".join(lines) + "\n")


def _record(path: Path, chance: random.Random, purpose: str, chosen: str, other: str) -> None:
    """A decision record, with the discussion that led to it."""
    path.write_text(
        f"# {purpose.capitalize()}\n\nStatus: accepted\n\n## Context\n\n{_filler(path.parent, chance, 20)}\n"
        f"## Decision\n\nWe use {chosen}. {other[0].upper()}{other[1:]} was considered.\n\n"
        f"## Consequences\n\n{_filler(path.parent, chance, 40)}"
    )


def _guide(path: Path, chance: random.Random, action: str, who: str) -> None:
    """A page of rules of a team, of which this is one."""
    path.write_text(
        f"# Working here\n\n{_filler(path.parent, chance, 60)}\n- You must not {action} until {who} has agreed.\n\n"
        f"{_filler(path.parent, chance, 60)}"
    )


def _filler(folder: Path, chance: random.Random, lines: int) -> str:
    """So many lines of the sources that lie there."""
    source = chance.choice(sorted(folder.glob("*_*.py"))[:60]).read_text("utf-8", "replace").splitlines()
    start = chance.randrange(max(1, len(source) - lines))
    return "\n".join(source[start : start + lines]) + "\n"
