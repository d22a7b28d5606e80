"""What was forgotten, for a repair: whether an old pack or mirror would bring it back.

An entry is known by its tombstone. Words are known by the fingerprints of the jobs that began later than the text was
written: what is said again later is kept as anything else.
"""

from bisect import bisect_left
from contextlib import suppress
from pathlib import Path

from foundation.privacy import Cleared
from memory.cold.secret import SECRET, secret_at
from memory.errors import Damaged
from memory.forgotten.fingerprints import Fingerprints, replaced
from memory.forgotten.journal import ForgetJob, ForgetJournal
from memory.forgotten.tombstones import TOMBSTONES, ForgottenName, Tombstones


class ForgottenEarlier:
    """The tombstones and jobs of a workspace. `folder` is that of the jobs, `secret` the workspace's."""

    @classmethod
    def beside(cls, database: Path) -> "ForgottenEarlier":
        """What was forgotten in the workspace of that database. Makes no key."""
        secret, file = secret_at(database.with_name(SECRET), make=False), database.with_name(TOMBSTONES)
        return cls(Tombstones(file, secret), file.with_suffix(""), secret)

    def __init__(self, tombstones: Tombstones, folder: Path, secret: bytes) -> None:
        self._tombstones = tombstones
        self._secret = secret
        self._jobs = _jobs(ForgetJournal(folder))
        self._begun = [job.begun_ms for job in self._jobs]
        self._prints: dict[int, Fingerprints] = {}

    def __bool__(self) -> bool:
        return bool(self._tombstones.all())

    def has(self, source: str, conversation: str, entry: str) -> bool:
        """Whether the entry of that name was forgotten."""
        return self._tombstones.has(ForgottenName(source, conversation, entry))

    def known_conversation(self, source: Cleared, id_: Cleared) -> tuple[Cleared, Cleared]:
        """The source and the id of a conversation, as they are here since one of them was forgotten."""
        known = self._tombstones.known_name
        return known(source, is_source=True), known(id_)

    def has_text(self, text: str, written_ms: int) -> bool:
        """Whether a text of that moment was forgotten, or holds words that were: for an entry whose name is lost."""
        return self._tombstones.has_text(text, written_ms) or self.words(written_ms).holds(
            text.encode("utf-8", "surrogatepass")
        )

    def without(self, name: str, written_ms: int) -> str:
        """A title, label or tag of that moment, with `[forgotten]` in the place of words that were forgotten later."""
        return replaced(self.words(written_ms), name)

    def words(self, written_ms: int) -> Fingerprints:
        """Fingerprints of the words that were forgotten at that moment or later."""
        first = bisect_left(self._begun, written_ms)
        if first not in self._prints:
            every = (print_ for job in self._jobs[first:] for print_ in job.distinctive)
            self._prints[first] = Fingerprints(every, self._secret)
        return self._prints[first]


def _jobs(journal: ForgetJournal) -> list[ForgetJob]:
    jobs: list[ForgetJob] = []
    for id_ in journal.ids():
        with suppress(FileNotFoundError, Damaged):
            jobs.append(journal.read(id_))
    return sorted(jobs, key=lambda job: job.begun_ms)
