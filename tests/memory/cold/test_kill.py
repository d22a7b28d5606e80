"""Killed at any moment, a writer loses nothing that it acknowledged, and writes nothing twice."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from threading import Timer

import pytest

from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import NotFound
from memory.records import Entry
from tests.memory.cold.drafts import open_store
from tests.memory.cold.kill_script import reply
from tests.paths import ROOT


def killed_sessions(
    database: Path, kills: int, seed: int, *, mode: str = "", longest: float = 0.004
) -> tuple[Counter[str], int]:
    """Acknowledgements seen, and how many writers died of SIGKILL.

    Each of so many sessions is killed at most `longest` seconds after some acknowledgement of it.
    """
    chance = random.Random(seed)
    script = [sys.executable, "-m", "tests.memory.cold.kill_script", str(database), mode]
    seen: Counter[str] = Counter()
    died = 0
    with subprocess.Popen(
        script, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as warm:
        assert warm.stdin is not None
        assert warm.stdout is not None
        for _ in range(kills):
            warm.stdin.write("go\n")
            warm.stdin.flush()
            # Most die in the middle of their work, a tenth while they open the store.
            acknowledgements = chance.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
            status = one_session(warm.stdout, seen, acknowledgements, chance.uniform(0, longest))
            died += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        warm.stdin.close()
    return seen, died


def one_session(lines: object, seen: Counter[str], acknowledgements: int, delay: float) -> int:
    """Kills the writer `delay` seconds after so many acknowledgements; gives its exit status."""
    timer: Timer | None = None
    writer = 0
    for line in lines:
        word, value = line.split()
        match word:
            case "started":
                writer = int(value)
            case "ended":
                assert timer is not None
                timer.cancel()
                return int(value)
            case _:
                seen[f"{word} {value}"] += 1
                acknowledgements -= 1
        if writer and acknowledgements <= 0 and timer is None:
            timer = Timer(delay, os.kill, (writer, signal.SIGKILL))
            timer.start()
    raise AssertionError("the writers' parent ended")


def look(database: Path, seen: Iterable[str]) -> tuple[list[str], list[Entry]]:
    """What was acknowledged and is not there as it was; and the answers that were cut off. Asserts all else."""
    cold = open_store(database)
    cold.recover()
    assert cold.check() == []
    ids = [row[0] for row in cold.read(lambda db: fetch(db, "SELECT id FROM entries"))]
    assert len(ids) == len(set(ids))
    lost = [line for line in seen if not stands(cold, *line.split())]
    cut_off = [
        cold.entry(seq) for (seq,) in cold.read(lambda db: fetch(db, "SELECT seq FROM entries WHERE complete = 0"))
    ]
    for entry in cut_off:
        assert entry.meta["cut_off"] is True
        assert reply(entry.meta["to"]).startswith(entry.text or "")
    cold.close()
    return lost, cut_off


def stands(cold: ColdStore, word: str, id_: str) -> bool:
    """Whether the entry, or the answer to it, is there once and whole."""
    try:
        entry = cold.find(id_)
    except NotFound:
        return False
    replies = cold.children(entry.seq)
    assert len(replies) <= 1
    if word == "user":
        return entry.text == "question"
    return [(found.text, found.complete) for found in replies] == [(reply(id_), True)]


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(40, marks=[pytest.mark.slow, pytest.mark.timeout(240)]),
        pytest.param(1_000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")
def test_no_kill_loses_what_was_acknowledged(database: Path, kills: int) -> None:
    seen, died = killed_sessions(database, kills, seed=20260314)
    assert died == kills
    assert len(seen) >= kills, "the writers were killed before they did anything"
    assert set(seen.values()) == {1}
    lost, cut_off = look(database, seen)
    assert lost == []
    assert any(entry.text for entry in cut_off), "no kill landed among the chunks of an answer"


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")
def test_a_writer_that_acknowledges_too_early_is_found_out(database: Path) -> None:
    seen, died = killed_sessions(database, 20, seed=1, mode="early", longest=0)
    assert died == 20
    lost, _ = look(database, seen)
    assert lost
