"""Records versions without end, and says each that is acknowledged. Arguments: the folder, a seed."""

import random
import sys
from pathlib import Path

from foundation.clock import SystemClock
from memory.settings import VersionSettings
from memory.versions.cause import BY_HAND
from memory.versions.store import VersionStore

store, dice = VersionStore(Path(sys.argv[1]), SystemClock()), random.Random(sys.argv[2])
body = "\n".join(f"- line {number}" for number in range(60)).encode()
while True:
    place = dice.randrange(len(body))
    body = body[:place] + b"%d\n" % dice.getrandbits(40) + body[place:][: dice.choice((10_000, 900))]
    if version := store.record(dice.choice(("MEMORY.md", "memory/a.md")), body, BY_HAND):
        print(version.number, version.sha256, flush=True)
    if dice.random() < 0.05:
        store.keep(VersionSettings())
