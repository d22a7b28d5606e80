"""Fuzzes the parsers of foreign bytes: `python -m tests.fuzz [TARGET …] [--seconds 600]`, a process per target.

Where atheris is installed, coverage guides the mutation; else inputs are mutated from the seeds alone. An input that
raises anything but a refusal, or takes too much time or memory, is kept below `--findings` and ends its target.
Prints a line per target: its executions, and what was found. Exits with 1 where something was.
"""

import argparse
import hashlib
import importlib.util
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.mutation import mutated
from tests.fuzz.target import FuzzTarget, catch_hangs

MOST_MEMORY = 3 * 2**30
"""Bytes of address space of a target's process."""
LONGEST = 2**16
"""Bytes of an input that atheris makes."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=float, default=600, help="for each target (600)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir()) / "palimpsest-fuzz")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)  # this is the target's process
    given = parser.parse_args()
    if given.within:
        return _within(given.targets[0], given.seconds, given.seed, given.findings)
    from tests.fuzz.targets import TARGETS

    if unknown := set(given.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    given.findings.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in given.targets or TARGETS:
        failed += _apart(name, given.seconds, given.seed, given.findings)
    return 1 if failed else 0


def _apart(name: str, seconds: float, seed: int, findings: Path) -> bool:
    """Runs one target in a process; whether something was found."""
    words = [sys.executable, "-m", "tests.fuzz", name, "--within", f"--seconds={seconds}", f"--seed={seed}"]
    ran = subprocess.run(
        [*words, f"--findings={findings}"], capture_output=True, text=True, errors="replace", check=False
    )
    output = ran.stdout + ran.stderr
    counted = re.findall(r"^(?:executions|stat::number_of_executed_units): *(\d+)", output, re.MULTILINE)
    print(f"{name:20} {int(counted[-1]) if counted else 0:>10,} executions", "" if not ran.returncode else "FOUND")
    if ran.returncode:
        print(output[-4000:])
    sys.stdout.flush()
    return bool(ran.returncode)


def _within(name: str, seconds: float, seed: int, findings: Path) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    catch_hangs()
    if importlib.util.find_spec("atheris") is None:
        from tests.fuzz.targets import TARGETS

        return _by_seeds(TARGETS[name], seconds, seed, findings)
    return _by_coverage(name, seconds, seed, findings)


def _by_seeds(target: FuzzTarget, seconds: float, seed: int, findings: Path) -> int:
    chance, seeds = random.Random(f"{target.name} {seed}"), target.seeds()
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(seeds, target.words, chance)
        if target.seal and chance.random() < 0.5:
            data = target.seal(data)
        if not _holds(target, data, findings):
            return 1
        count += 1
    print(f"executions: {count}")
    return 0


def _holds(target: FuzzTarget, data: bytes, findings: Path) -> bool:
    try:
        target.run(data)
    except BaseException:
        traceback.print_exc()
        place = findings / f"{target.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        place.write_bytes(data)
        print(f"kept: {place}")
        return False
    return True


def _by_coverage(name: str, seconds: float, seed: int, findings: Path) -> int:
    import atheris  # not in the requirements: Linux alone has wheels

    with atheris.instrument_imports(include=["foundation", "models", "memory", "agent"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]

    def one(data: bytes) -> None:
        chance = random.Random(data)
        if target.seal and chance.random() < 0.5:
            data = target.seal(data)
        if not _holds(target, data, findings):
            os._exit(1)

    def custom(data: bytes, most: int, number: int) -> bytes:
        """Half by libFuzzer, half by the words of the format."""
        if number % 2:
            return atheris.Mutate(data, most)
        return mutated([data], target.words, random.Random(number))[:most]

    with tempfile.TemporaryDirectory() as corpus:
        for number, body in enumerate(target.seeds()):
            (Path(corpus) / str(number)).write_bytes(body)
        longest = max(LONGEST, *map(len, target.seeds()))
        options = [f"-max_total_time={int(seconds)}", f"-seed={seed + 1}", f"-max_len={longest}", "-rss_limit_mb=2600"]
        atheris.Setup(["fuzz", *options, "-print_final_stats=1", "-timeout=60", corpus], one, custom_mutator=custom)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
