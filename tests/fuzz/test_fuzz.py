"""Each parser of foreign bytes refuses what it cannot read, within bounds: a sample of `make fuzz`."""

import random
import resource
import time
from pathlib import Path

import pytest

from foundation.errors import PalimpsestError
from tests.fuzz import target as targets_module
from tests.fuzz.mutation import mutated
from tests.fuzz.target import FuzzTarget, TooLarge, TooSlow, catch_hangs
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.timeout(60)
SAMPLES = 12
FEW = {"pdf": 3, "docx-text": 4, "pptx-text": 4, "segment": 4}
"""A process that starts, and documents that are packed anew for each input."""
FOUND = sorted(Path(__file__).with_name("found").iterdir())


def target_of(path: Path) -> FuzzTarget:
    return TARGETS[path.name.rpartition("-")[0]]


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_files_are_read_or_refused(name: str) -> None:
    target, chance = TARGETS[name], random.Random(name)
    seeds = target.seeds()
    assert [target.run(seed) for seed in seeds] == [True] * len(seeds), "a seed is refused: nothing is tested"
    for number in range(FEW.get(name, SAMPLES)):
        data = mutated(seeds, target.words, chance)
        target.run(target.seal(data) if target.seal and number % 2 else data)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_once_is_refused(path: Path) -> None:
    target_of(path).run(path.read_bytes())


def test_a_parser_that_trusts_its_input_is_found_out() -> None:
    """The control: a length that is believed."""

    def trusting(data: bytes) -> int:
        return data[data[0]]

    target = FuzzTarget(name="trusting", seeds=lambda: [bytes(range(8))], parse=trusting)
    chance = random.Random(1)
    with pytest.raises(IndexError):
        for _ in range(1000):
            target.run(mutated(target.seeds(), (), chance))


def test_what_takes_too_long_or_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets_module, "MOST_SECONDS", 0.01)
    monkeypatch.setattr(targets_module, "MOST_GROWTH", 2**24)
    catch_hangs()
    with pytest.raises(TooSlow):
        FuzzTarget(name="busy", seeds=list, parse=lambda _: sum(range(10**7))).run(b"")
    with pytest.raises(TooSlow):
        FuzzTarget(name="hangs", seeds=list, parse=lambda _: time.sleep(60)).run(b"")
    monkeypatch.setattr(targets_module, "MOST_SECONDS", 60)
    kept: list[bytes] = []
    more_than_the_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 2**24
    with pytest.raises(TooLarge):
        FuzzTarget(name="large", seeds=list, parse=lambda _: kept.append(b"x" * more_than_the_peak)).run(b"")


def test_a_refusal_is_no_finding() -> None:
    def refusing(_: bytes) -> None:
        raise PalimpsestError("No", "It is none of ours.")

    assert FuzzTarget(name="refusing", seeds=list, parse=refusing).run(b"") is False
