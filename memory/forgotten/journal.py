"""The journal of forgetting: a file a job, which holds what is to go by ids, hashes and fingerprints alone.

A job is written before anything is changed, and again after each step; so one that is cut short goes on where it was.
The name of the file says whether the job is open, so that a start looks at names alone.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from foundation.files import (
    FileLock,
    is_lock_held,
    list_names,
    make_private_folder,
    read_bytes,
    remove,
    write_atomically,
)
from foundation.program import PROGRAM
from foundation.typed_json import decode_json
from memory.errors import Damaged
from memory.forgotten.fingerprints import Fingerprint

_OPEN, _DONE = ".open.json", ".done.json"
_LOCK: Final = "forget.lock"
_NAME: Final = re.compile(r"f_[0-9a-z]{1,40}")


class NoteLine(Struct, frozen=True):
    """A line of a note that goes: keyed hashes of its file's relative name, which may hold words, and of the line."""

    file: str
    line: str


class Receipt(Struct, frozen=True, kw_only=True):
    """What a forgetting came to. `places` is how many files were searched at its end, `found` where words still are."""

    finished_ms: int = 0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    places: int = 0
    bytes: int = 0
    found: tuple[str, ...] = ()  # relative names, with `[forgotten]` for words in them
    left: tuple[str, ...] = ()  # files that the person keeps
    sentences: tuple[str, ...] = ()


class ForgetJob(Struct, frozen=True, kw_only=True):
    """A forgetting: the seqs of entries and of whole conversations, and what is looked for.

    `refs` are keyed hashes of ids that cite them, and of the names of their drafts: an imported id may hold words.
    """

    id: str
    begun_ms: int
    entries: tuple[int, ...] = ()
    conversations: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()  # entries that stay, and hold the words beside their text: other devices are told
    bare: tuple[int, ...] = ()  # those that another device told of: nothing is left beside their text
    renamed: tuple[int, ...] = ()  # those whose ids another device forgot
    refs: tuple[str, ...] = ()
    lines: tuple[NoteLine, ...] = ()
    prints: tuple[Fingerprint, ...] = ()
    typed: tuple[str, ...] = ()  # keyed hashes of messages that the person typed
    images: tuple[str, ...] = ()  # names of images of the clipboard that they attach
    kept_lines: tuple[NoteLine, ...] = ()  # that the person keeps, though they hold the words
    kept: tuple[str, ...] = ()  # keyed hashes of the relative names of files in which the person keeps the words
    kept_prints: tuple[Fingerprint, ...] = ()  # of what the person keeps somewhere: it is not kept from being written
    titled: tuple[int, ...] = ()  # conversations whose titles are the beginning of a message that goes
    also_in: tuple[int, ...] = ()  # conversations that stay and say the same, which the receipt names
    unnamed: tuple[int, ...] = ()  # conversations of files whose names lose words and whose texts stay
    unnamed_notes: tuple[str, ...] = ()  # keyed hashes of the new names of notes
    last_entry: int | None = None  # what was here when it began: later entries, notes and titles stay
    last_conversation: int | None = None
    last_version: int | None = None
    done: tuple[str, ...] = ()  # steps
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    sentences: tuple[str, ...] = ()
    runs: int = 0  # that looked through everything and found some of it
    receipt: Receipt | None = None

    @property
    def distinctive(self) -> tuple[Fingerprint, ...]:
        """The words that nobody says by chance, less those that the person keeps somewhere."""
        return tuple({print_ for print_ in self.prints if not print_.whole} - {*self.kept_prints})

    def with_step(self, step: str, counts: Mapping[str, int], sentences: tuple[str, ...]) -> "ForgetJob":
        """The job after a step, with what it counted."""
        sums = {**self.counts, **{name: self.counts.get(name, 0) + count for name, count in counts.items()}}
        said = tuple(dict.fromkeys((*self.sentences, *sentences)))
        return replace(self, done=(*self.done, step), counts=sums, sentences=said)


class ForgetJournal:
    """The jobs of a workspace, in the folder at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lock(self) -> FileLock:
        """Held by the process that forgets; not waited for."""
        make_private_folder(self.folder)
        return FileLock(self.folder / _LOCK, timeout=0)

    @property
    def is_running(self) -> bool:
        """Whether a process works on a job now. Raises OSError."""
        return is_lock_held(self.folder / _LOCK)

    def open_ids(self) -> list[str]:
        """The jobs that are not finished; reads names alone."""
        return [name.removesuffix(_OPEN) for name in self._names(_OPEN)]

    def ids(self) -> list[str]:
        """All jobs, finished or not."""
        return sorted({name.removesuffix(_OPEN).removesuffix(_DONE) for name in self._names("")})

    def read(self, id_: str) -> ForgetJob:
        """The job of that id. Raises Damaged, FileNotFoundError."""
        for ending in (_DONE, _OPEN):
            path = self.folder / f"{id_}{ending}"
            try:
                return decode_json(read_bytes(path, owned=True), ForgetJob)
            except FileNotFoundError:
                continue
            except msgspec.DecodeError as error:
                raise Damaged(
                    "A deletion cannot continue",
                    f"{path} is damaged, so it is unknown what was to be deleted.",
                    f"Delete it, and forget again: `{PROGRAM} forget`.",
                ) from error
        raise FileNotFoundError(self.folder / f"{id_}{_OPEN}")

    def last_finished(self) -> ForgetJob | None:
        """The job that was finished last, of those that can be read; None where none was."""
        last: ForgetJob | None = None
        for id_ in self.ids():
            with suppress(FileNotFoundError, Damaged):
                job = self.read(id_)
                if _finished_ms(job) > _finished_ms(last):
                    last = job
        return last

    def tombstones(self) -> int:
        """How many tombstones the jobs that can be read have written, at least."""
        count = 0
        for id_ in self.ids():
            with suppress(FileNotFoundError, Damaged):
                count += max(0, self.read(id_).counts.get("tombstones", 0))
        return count

    def write(self, job: ForgetJob) -> None:
        """Stores the job, synced, under the name that says whether it is finished."""
        make_private_folder(self.folder)
        finished = job.receipt is not None and bool(job.receipt.finished_ms)
        write_atomically(self.folder / f"{job.id}{_DONE if finished else _OPEN}", msgspec.json.encode(job))
        if finished:
            remove(self.folder / f"{job.id}{_OPEN}", missing_ok=True)

    def _names(self, ending: str) -> list[str]:
        try:
            names = list_names(self.folder)
        except FileNotFoundError:
            return []
        return sorted(name for name in names if name.endswith(ending or (_OPEN, _DONE)) and _NAME.match(name))


def _finished_ms(job: ForgetJob | None) -> int:
    return job.receipt.finished_ms if job and job.receipt else 0
