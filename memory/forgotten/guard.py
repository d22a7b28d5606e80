"""Keeps a process that is open while something is forgotten from writing it back out of its own memory.

Only jobs that began after the process did count: what it reads later from the disk is forgotten already, and a person
may say the same again.
"""

import time
from pathlib import Path
from threading import Lock

from memory.cold.secret import secret_at
from memory.errors import Damaged
from memory.forgotten.fingerprints import Fingerprint, Fingerprints, replaced
from memory.forgotten.journal import ForgetJournal

STARTED_MS = int(time.time() * 1000)


class ForgottenWords:
    """Words that were forgotten since this process began, in the jobs of `folder`."""

    def __init__(self, folder: Path, secret_file: Path, since_ms: int = STARTED_MS) -> None:
        self._journal = ForgetJournal(folder)
        self._secret_file = secret_file
        self._since_ms = since_ms
        self._lock = Lock()
        self._by_job: dict[str, tuple[Fingerprint, ...]] = {}
        self._prints = Fingerprints((), b"")

    def prints(self) -> Fingerprints:
        """Their fingerprints; reads names alone where nothing was forgotten lately."""
        with self._lock:
            new = [id_ for id_ in self._journal.ids() if id_ not in self._by_job]
            for id_ in new:
                try:
                    job = self._journal.read(id_)
                except (FileNotFoundError, Damaged):
                    continue
                words = job.distinctive
                self._by_job[id_] = words if job.begun_ms >= self._since_ms else ()
            if new:
                every = (each for prints in self._by_job.values() for each in prints)
                self._prints = Fingerprints(every, secret_at(self._secret_file, make=False))
            return self._prints

    def holds(self, data: bytes) -> bool:
        """Whether the data holds any of the words."""
        prints = self.prints()
        return bool(prints) and prints.holds(data)

    def without(self, text: str) -> str:
        """The text with `[forgotten]` in the place of the words."""
        prints = self.prints()
        return replaced(prints, text) if prints else text
