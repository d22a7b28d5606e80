"""What a test starts beside it. `write`: appends entries until its input ends. `shrink`: fills the store with what is
deleted again, and shrinks it, without end."""

import sys
from pathlib import Path

from memory.cold import ColdStore
from memory.cold.shrink import shrink
from tests.memory.cold.drafts import open_store
from tests.memory.cold.test_shrink import fill, say


def write(cold: ColdStore) -> None:
    talk = cold.new_conversation()
    number = 0
    while True:
        print(say(cold, talk.seq, f"{number} of the other process"), flush=True)
        number += 1


def shrink_again(cold: ColdStore) -> None:
    while True:
        fill(cold, 28)
        print("shrinking", flush=True)
        print(shrink(cold, copying_s=60), flush=True)


if __name__ == "__main__":
    store = open_store(Path(sys.argv[2]))
    {"write": write, "shrink": shrink_again}[sys.argv[1]](store)
