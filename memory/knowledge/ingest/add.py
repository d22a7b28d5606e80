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
from memory.knowledge.ingest.redact import clear_document
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
"""Store errors that concern one file's rows; any other is a failure of the store and ends the run."""
_OURS = "This is a bug in Palimpsest: please report it."


class IngestRun:
    """One run of adding. `ocr_reader` gives the installed OCR engine; it is called when the first file is read."""

    def __init__(
        self,
        workspace: Workspace,
        vault: Vault,
        cold: ColdStore,
        options: AddOptions,
        ocr_reader: Callable[[], OcrReader | None],
    ) -> None:
        self._workspace = workspace
        self._vault = vault
        self._cold = cold
        self._clock = cold.clock
        self._options = options
        self._ocr_reader = cache(ocr_reader)
        self._reader_process = ReaderProcess()
        self.report = AddReport(redacted=options.redact)
        self.sources: dict[str, None] = {}  # of the files that are in memory after the run

    def run(self, paths: Sequence[Path], on_progress: OnProgress | None = None) -> None:
        """Adds all files under the paths. `report` is current at any moment."""
        met = [walked for path in paths for walked in self._walk(path)]
        firsts = dict[str, WalkedFile]()
        for walked in sorted(met, key=lambda walked: walked.linked):  # a file itself before links to it
            firsts.setdefault(walked.path, walked)
        files = [walked for walked in met if not walked.why and firsts[walked.path] is walked]
        with self._reader_process:
            for number, walked in enumerate(files):
                if on_progress is not None:
                    on_progress(AddProgress(number, len(files), walked.name))
                self._add_or_report(walked)
        if on_progress is not None and files:
            on_progress(AddProgress(len(files), len(files), ""))

    def _walk(self, path: Path) -> Iterable[WalkedFile]:
        for walked in walk(path, self._excluded_paths()):
            if walked.failed and self._record_if_removed(walked):
                continue
            if walked.why:
                message = FileMessage(walked.name, walked.path, walked.why)
                (self.report.bad if walked.failed else self.report.skipped).append(message)
            yield walked

    def _record_if_removed(self, walked: WalkedFile) -> bool:
        """Whether a path that cannot be opened is a memory whose file was removed, which is no failure."""
        known = self._cold.read(lambda db: rows.at_source(db, walked.path))
        if known is None or os.path.lexists(walked.path):
            return False
        if known.missing is None:
            self._cold.write(lambda db: rows.set_missing(db, [known.seq], to_ms(self._clock.now())))
        self.report.removed.append(FileMessage(known.name, known.source, id=known.id))
        return True

    def _excluded_paths(self) -> frozenset[str]:
        """The workspace's own files, which are indexed in other ways."""
        space = self._workspace
        own = (space.system_yaml, space.agents_md, space.soul_md, space.memory_md)
        return frozenset(os.path.realpath(path) for path in (*own, space.memory_dir, space.conversations, space.skills))

    def _add_or_report(self, walked: WalkedFile) -> None:
        try:
            self._add(walked)
        except UnsupportedFile as error:
            named = not walked.root  # what a person names, they mean to be read
            (self.report.bad if named else self.report.skipped).append(
                FileMessage(walked.name, walked.path, error.message)
            )
        except UnreadableDocument as error:
            self.report.bad.append(FileMessage(walked.name, walked.path, error.message, error.hint))
        except OSError as error:
            self._report_unreadable(walked, error)
        except (StoreError, StorageUnreachable):
            raise
        except PalimpsestError as error:
            self.report.bad.append(FileMessage(walked.name, walked.path, error.message, error.hint))
        except Exception as error:  # any error of one file: the run continues, and the report names the file
            if isinstance(error, apsw.Error) and not isinstance(error, _OF_ONE_FILE):
                raise
            self.report.bad.append(FileMessage(walked.name, walked.path, _unexpected(error), _OURS))

    def _report_unreadable(self, walked: WalkedFile, error: OSError) -> None:
        """One file that the disk refuses is a bad file; a full disk or a broken store ends the run."""
        if error.filename is None or os.path.realpath(error.filename) != walked.path:
            raise error
        self.report.bad.append(FileMessage(walked.name, walked.path, error.strerror or str(error)))

    def _add(self, walked: WalkedFile) -> None:
        path = Path(walked.path)
        status_now = _stat(path)
        known = self._cold.read(lambda db: rows.at_source(db, walked.path))
        fresh = not (self._options.again or self._options.redact)
        if fresh and known and _is_unchanged(known, status_now):
            self._touch(walked, known, status_now.st_mtime_ns)
            return
        if status_now.st_size > self._options.max_file_mb * 2**20:
            raise UnreadableDocument(
                f"it has {status_now.st_size:,} bytes; the limit is {self._options.max_file_mb} MB",
                f"{PROGRAM} config set knowledge.max_file_mb N",
            )
        file = IngestFile(walked, _bytes(path, self._options.max_file_mb * 2**20), status_now.st_mtime_ns)
        if fresh and known and known.sha256 in {file.sha256, self._keyed(file)}:
            self._touch(walked, known, file.mtime_ns)
            return
        self._keep(file, known)

    def _keyed(self, file: IngestFile) -> str:
        """A keyed hash in place of the digest of a redacted file, so that a guess of its words cannot be tested."""
        return keyed(self._cold.secret, file.sha256)

    def _touch(self, walked: WalkedFile, known: KnowledgeRecord, mtime_ns: int) -> None:
        self.report.unchanged += 1
        moved = (known.mtime_ns, known.missing) != (mtime_ns, None) or (walked.root and not known.root)
        if moved:
            self._cold.write(lambda db: rows.touch(db, known.seq, mtime_ns, walked.name, walked.root))

    def _keep(self, file: IngestFile, known: KnowledgeRecord | None) -> None:
        document = _read_document(file, self._ocr_reader, self._reader_process)
        document, text, secrets = clear_document(document, redact=self._options.redact)
        keeping = DocumentStore(self._workspace.knowledge, self._vault, self._options, self._clock.now())
        try:
            record, archived = keeping.keep(file, document, text, self._keyed(file) if self._options.redact else "")
        except AlreadyExists:  # these very bytes were added, by another process meanwhile or redacted before
            self.report.unchanged += 1
            self.sources[file.met.path] = None
            return
        self.sources[record.source] = None
        self.report.secrets += secrets
        self.report.said += document.said
        if document.encoding:
            self.report.read_as.append(FileMessage(record.name, record.source, document.encoding, id=record.id))
        self.report.pages += len(archived.pages)
        self.report.text_tokens += archived.text_tokens
        self.report.vision_tokens += archived.vision_tokens
        (self.report.changed if known else self.report.added).append(
            FileMessage(record.name, record.source, id=record.id)
        )


def _is_unchanged(known: KnowledgeRecord, status_now: os.stat_result) -> bool:
    """Whether the file's size and modification time are those of its record."""
    return not known.missing and (known.bytes, known.mtime_ns) == (status_now.st_size, status_now.st_mtime_ns)


def _stat(path: Path) -> os.stat_result:
    if (status_now := status(path)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return status_now


def _bytes(path: Path, most: int) -> bytes:
    """Raises UnreadableDocument: a disk that fails in the middle names no file."""
    try:
        return read_bytes(path, most=most)
    except OSError as error:
        raise UnreadableDocument(error.strerror or str(error)) from error


def _unexpected(error: Exception) -> str:
    """An unexpected error, by its type and on one line."""
    what = " ".join(str(error).split())[:200]
    return f"an unexpected {type(error).__name__}" + (f" ({what})" if what else "")


def _read_document(file: IngestFile, ocr_reader: Callable[[], OcrReader | None], apart: ReaderProcess) -> Document:
    """Raises UnsupportedFile, UnreadableDocument, and for a full disk OSError."""
    reader = ocr_reader()
    try:
        document = read_file(file.raw, file.met.name, reader, apart)
    except (UnsupportedFile, UnreadableDocument):
        raise
    except PalimpsestError as error:
        raise UnreadableDocument(error.message, error.hint) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise UnreadableDocument(_unexpected(error), _OURS) from error
    if not document.text.strip():
        raise UnsupportedFile("it is empty")
    if len(document.text) > MOST_CHARS:
        raise UnreadableDocument(f"its text has {len(document.text):,} characters; the limit is {MOST_CHARS:,}")
    return document
