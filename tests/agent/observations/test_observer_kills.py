"""A session killed within requests of the model that observes: nothing is lost, observed twice or left unpaid."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.session import Session
from memory.cold.sql import fetch
from memory.model_requests import OBSERVE
from memory.observations.store import MODEL_CURSOR
from tests.agent.observations.model_observer import NOTE, asked
from tests.agent.observations.observed_life import opened
from tests.loopback import Loopback, Pause, Received, Reply, chat_bytes, data, delta, stream
from tests.paths import ROOT

WAIT_S = 60.0  # for a life to begin


def _answer(_: Received) -> Reply:
    """An answer that takes a quarter of a second, so that kills land within it."""
    note = json.dumps({"observations": [NOTE]})
    half = len(note) // 2
    return stream(Pause(0.1), data(delta(content=note[:half])), Pause(0.15), chat_bytes(note[half:]))


def _lives(folder: Path, observer: Loopback, kills: int, guard: str = "") -> list[str]:
    """Kills so many lives, each after a request of its own; gives the messages (ids) that they said were stored."""
    (folder / "workspace").mkdir(exist_ok=True)
    observer.answers_all(_answer)
    chance, said = random.Random(20261124), list[str]()
    for life in range(kills):
        before, wanted = len(asked(observer)), chance.choice((1, 1, 2))
        command = [sys.executable, "-m", "tests.agent.observations.observed_life", folder, observer.address]
        with subprocess.Popen([*command, f"life{life}", guard], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stdout
            end = time.monotonic() + WAIT_S
            while len(asked(observer)) < before + wanted:
                assert process.poll() is None and time.monotonic() < end, "the life ended before it was killed"
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.5))
            process.kill()
            said += [json.loads(line) for line in process.stdout.read().splitlines() if line.endswith('"')]
    return said


def _wrong(session: Session, observer: Loopback, said: list[str]) -> Iterator[str]:
    cold = session.memory.cold
    yield from (f"{found.where}: {found.message}" for found in cold.check())
    stored = {id_ for (id_,) in cold.read(lambda db: fetch(db, "SELECT id FROM entries WHERE role = 'user'"))}
    yield from (f"{id_}: lost" for id_ in said if id_ not in stored)
    per_entry = "SELECT parent, count(*) FROM entries WHERE kind = 'observation' GROUP BY parent HAVING count(*) > 1"
    yield from (f"entry {seq}: {count} observations" for seq, count in cold.read(lambda db: fetch(db, per_entry)))
    rows = cold.read(lambda db: fetch(db, "SELECT count(*) FROM model_requests WHERE purpose = ?", (OBSERVE,)))[0][0]
    if rows < len(asked(observer)):
        yield f"{len(asked(observer))} requests were sent, and {rows} are counted"


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(4, marks=[pytest.mark.slow, pytest.mark.timeout(180)]),
        pytest.param(60, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
async def test_killed_within_a_request_nothing_is_lost_twice_or_unpaid(
    tmp_path: Path, observer: Loopback, kills: int
) -> None:
    said = _lives(tmp_path, observer, kills)
    assert len(said) >= kills
    session = opened(tmp_path, observer.address)
    session.begin_background()
    await session.background.idle()
    assert session.memory.observations.waiting(MODEL_CURSOR, 9)[0] == 0  # what was cut off is made up for
    assert list(_wrong(session, observer, said)) == []
    await session.close()
    sent = len(asked(observer))
    again = opened(tmp_path, observer.address)
    again.begin_background()
    await again.background.idle()
    await again.close()
    assert len(asked(observer)) == sent  # and once
    print({"kills": kills, "messages": len(said), "requests": sent})


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_request_that_is_not_counted_before_it_is_sent_is_found(tmp_path: Path, observer: Loopback) -> None:
    said = _lives(tmp_path, observer, 1, "unreserved")
    session = opened(tmp_path, observer.address)
    assert any("are counted" in problem for problem in _wrong(session, observer, said))
    await session.close()
