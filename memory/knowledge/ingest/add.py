"""Adds files: each is read, archived and recorded in its own transaction.

If the process is killed, finished files stay, none is added twice, and the same command resumes where it stopped. A bad
file never stops the others.
"""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import apsw

from foundation.clock import to_ms
from foundation.errors import PalimpsestError
from foundation.files import read_bytes, status
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.secret import keyed
from memory.errors import AlreadyExists, StorageUnreachable, StoreError
from memory.knowledge import rows
from memory.knowledge.errors import UnreadableDocument, UnsupportedFile
from memory.knowledge.ingest.redact import given
from memory.knowledge.ingest.report import AddOptions, AddProgress, AddReport, FileMessage
from memory.knowledge.ingest.store import DocumentStore, IngestFile
from memory.knowledge.ingest.walk import WalkedFile, walk
from memory.knowledge.readers.document import Document, OcrReader
from memory.knowledge.readers.isolated import ReaderProcess
from memory.knowledge.readers.registry import read_file
from memory.knowledge.records import KnowledgeRecord

OnProgress = Callable[[AddProgress], None]
MOST_CHARS = 50_000_000
_OF_ONE_FILE = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
"""What the store says of one file's rows; all else that it raises is of the store itself."""
_OURS = "That is a defect of ours: please report it."


class IngestRun:
    """One run of adding. `sight` gives the OCR engine at hand, and is asked when the first file is read."""

    def __init__(
        self,
        workspace: Workspace,
        vault: Vault,
        cold: ColdStore,
        options: AddOptions,
        sight: Callable[[], OcrReader | None],
    ) -> None:
        self._workspace = workspace
        self._vault = vault
        self._cold = cold
        self._clock = cold.clock
        self._options = options
        self._sight = cache(sight)
        self._apart = ReaderProcess()
        self.report = AddReport(redacted=options.redact)
        self.sources: dict[str, None] = {}  # of the files that are in memory after the run

    def run(self, paths: Sequence[Path], on_progress: OnProgress | None = None) -> None:
        """Adds all that the paths name; `report` says what came of it, and is right at any moment."""
        met = [one for path in paths for one in self._met(path)]
        firsts = dict[str, WalkedFile]()
        for one in sorted(met, key=lambda one: one.linked):  # a file itself before links to it
            firsts.setdefault(one.path, one)
        files = [one for one in met if not one.why and firsts[one.path] is one]
        with self._apart:
            for number, one in enumerate(files):
                if on_progress is not None:
                    on_progress(AddProgress(number, len(files), one.name))
                self._take(one)
        if on_progress is not None and files:
            on_progress(AddProgress(len(files), len(files), ""))

    def _met(self, path: Path) -> Iterable[WalkedFile]:
        for one in walk(path, self._own()):
            if one.failed and self._noticed_gone(one):
                continue
            if one.why:
                told = FileMessage(one.name, one.path, one.why)
                (self.report.bad if one.failed else self.report.skipped).append(told)
            yield one

    def _noticed_gone(self, one: WalkedFile) -> bool:
        """Whether what cannot be opened is a memory whose file was removed: that is no failure."""
        known = self._cold.read(lambda db: rows.at_source(db, one.path))
        if known is None or os.path.lexists(one.path):
            return False
        if known.missing is None:
            self._cold.write(lambda db: rows.set_missing(db, [known.seq], to_ms(self._clock.now())))
        self.report.removed.append(FileMessage(known.name, known.source, id=known.id))
        return True

    def _own(self) -> frozenset[str]:
        """What of the workspace is remembered in other ways."""
        space = self._workspace
        own = (space.system_yaml, space.agents_md, space.soul_md, space.memory_md)
        return frozenset(os.path.realpath(path) for path in (*own, space.memory_dir, space.conversations, space.skills))

    def _take(self, one: WalkedFile) -> None:
        try:
            self._add(one)
        except UnsupportedFile as error:
            named = not one.root  # what a person names, they mean to be read
            (self.report.bad if named else self.report.skipped).append(FileMessage(one.name, one.path, error.message))
        except UnreadableDocument as error:
            self.report.bad.append(FileMessage(one.name, one.path, error.message, error.hint))
        except OSError as error:
            self._not_read(one, error)
        except (StoreError, StorageUnreachable):
            raise
        except PalimpsestError as error:
            self.report.bad.append(FileMessage(one.name, one.path, error.message, error.hint))
        except Exception as error:  # one file's, whatever it is: the others go on, and the person reads its name
            if isinstance(error, apsw.Error) and not isinstance(error, _OF_ONE_FILE):
                raise
            self.report.bad.append(FileMessage(one.name, one.path, _unexpected(error), _OURS))

    def _not_read(self, one: WalkedFile, error: OSError) -> None:
        """One file that the disk refuses is a bad file; a full disk or a broken store ends the run."""
        if error.filename is None or os.path.realpath(error.filename) != one.path:
            raise error
        self.report.bad.append(FileMessage(one.name, one.path, error.strerror or str(error)))

    def _add(self, one: WalkedFile) -> None:
        path = Path(one.path)
        about = _about(path)
        known = self._cold.read(lambda db: rows.at_source(db, one.path))
        fresh = not (self._options.again or self._options.redact)
        if fresh and known and _stands(known, about):
            self._unchanged(one, known, about.st_mtime_ns)
            return
        if about.st_size > self._options.max_file_mb * 2**20:
            raise UnreadableDocument(
                f"it has {about.st_size:,} bytes; {self._options.max_file_mb} MB are the most",
                f"{PROGRAM} config set knowledge.max_file_mb N",
            )
        file = IngestFile(one, _bytes(path, self._options.max_file_mb * 2**20), about.st_mtime_ns)
        if fresh and known and known.sha256 in {file.sha256, self._keyed(file)}:
            self._unchanged(one, known, file.mtime_ns)
            return
        self._keep(file, known)

    def _keyed(self, file: IngestFile) -> str:
        """What stands for the bytes of a file that was redacted: words that were in it cannot be tried on it."""
        return keyed(self._cold.secret, file.sha256)

    def _unchanged(self, one: WalkedFile, known: KnowledgeRecord, mtime_ns: int) -> None:
        self.report.unchanged += 1
        moved = (known.mtime_ns, known.missing) != (mtime_ns, None) or (one.root and not known.root)
        if moved:
            self._cold.write(lambda db: rows.touch(db, known.seq, mtime_ns, one.name, one.root))

    def _keep(self, file: IngestFile, known: KnowledgeRecord | None) -> None:
        document = _read(file, self._sight, self._apart)
        document, text, secrets = given(document, redact=self._options.redact)
        keeping = DocumentStore(self._workspace.knowledge, self._vault, self._options, self._clock.now())
        try:
            made, archived = keeping.keep(file, document, text, self._keyed(file) if self._options.redact else "")
        except AlreadyExists:  # these very bytes were added, by another process meanwhile or redacted before
            self.report.unchanged += 1
            self.sources[file.met.path] = None
            return
        self.sources[made.source] = None
        self.report.secrets += secrets
        self.report.said += document.said
        if document.encoding:
            self.report.read_as.append(FileMessage(made.name, made.source, document.encoding, id=made.id))
        self.report.pages += len(archived.pages)
        self.report.text_tokens += archived.text_tokens
        self.report.vision_tokens += archived.vision_tokens
        (self.report.changed if known else self.report.added).append(FileMessage(made.name, made.source, id=made.id))


def _stands(known: KnowledgeRecord, about: os.stat_result) -> bool:
    """Whether the file is as it was when last seen, by its size and time."""
    return not known.missing and (known.bytes, known.mtime_ns) == (about.st_size, about.st_mtime_ns)


def _about(path: Path) -> os.stat_result:
    if (about := status(path)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return about


def _bytes(path: Path, most: int) -> bytes:
    """Raises UnreadableDocument: a disk that fails in the middle names no file."""
    try:
        return read_bytes(path, most=most)
    except OSError as error:
        raise UnreadableDocument(error.strerror or str(error)) from error


def _unexpected(error: Exception) -> str:
    """What nobody foresaw, by its name and on one line."""
    what = " ".join(str(error).split())[:200]
    return f"an unexpected {type(error).__name__}" + (f" ({what})" if what else "")


def _read(file: IngestFile, sight: Callable[[], OcrReader | None], apart: ReaderProcess) -> Document:
    """Raises UnsupportedFile, UnreadableDocument, and for a full disk OSError."""
    eyes = sight()
    try:
        document = read_file(file.raw, file.met.name, eyes, apart)
    except (UnsupportedFile, UnreadableDocument):
        raise
    except PalimpsestError as error:
        raise UnreadableDocument(error.message, error.hint) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise UnreadableDocument(_unexpected(error), _OURS) from error
    if not document.text.strip():
        raise UnsupportedFile("there is nothing in it")
    if len(document.text) > MOST_CHARS:
        raise UnreadableDocument(f"its text has {len(document.text):,} characters; {MOST_CHARS:,} are the most")
    return document
