"""Archives a store's entries, and dies at the n-th step: `python killed_archiver.py STATE-FOLDER N`.

A step is any call, Python's or C's, made from the archive's, the store's or the file room's own code, in any thread.
With N = 0 it lives, and prints how many steps it took, and at which the transaction began.
"""

import os
import sys
import threading
from pathlib import Path

import numpy  # noqa: F401 -- loaded before steps are counted

import foundation
import memory
from foundation.clock import SystemClock
from memory.archive import binding, inspection, reading  # noqa: F401
from memory.archive.draw.glyphs import glyphs
from memory.archive.vault import Vault
from memory.cold import ColdStore
from tests.memory.archive.conftest import fake_analyse

OURS = (str(Path(memory.__file__).parent), str(Path(foundation.__file__).parent))


class Steps:
    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.taken = 0
        self.transaction = 0
        self.counting = False

    def hook(self, frame, event: str, _) -> None:
        if not self.counting or event not in ("call", "c_call") or not frame.f_code.co_filename.startswith(OURS):
            return
        self.taken += 1
        if not self.transaction and frame.f_code.co_name == "transaction":
            self.transaction = self.taken
        if self.taken == self.fatal:
            os._exit(137)  # no finally, no atexit, no flush


def main() -> None:
    state, fatal = Path(sys.argv[1]), int(sys.argv[2])
    glyphs()
    steps = Steps(fatal)
    threading.setprofile(steps.hook)
    cold = ColdStore.open(state / "cold.db", analyse=fake_analyse, clock=SystemClock())
    vault = Vault(state / "packs", state / "pages", cold, SystemClock())
    (conversation,) = cold.conversations()
    entries = [entry for entry in list(cold.path(conversation.leaf))[::-1] if entry.text is not None]
    sys.setprofile(steps.hook)
    steps.counting = True
    vault.archive_entries(entries, label="overflow")
    steps.counting = False
    sys.setprofile(None)
    print(steps.taken, steps.transaction)
    cold.close()


main()
