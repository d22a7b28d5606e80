"""Client of the reader process: starts it with the first file, and replaces it when a file has ended it."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Self, cast

import msgspec

from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.document import Document
from memory.knowledge.readers.frames import (
    TOO_LARGE,
    DocumentFrame,
    EndFrame,
    ReaderFrame,
    RefusalFrame,
    read_frame,
    write_bytes,
)

PATIENCE = 10.0  # seconds for a file that is read at once,
PATIENCE_A_MEGABYTE = 5.0  # and more for a large one; a parser takes a twentieth of that


class ReaderProcess:
    """A process with limits on memory and time. Its files are read one after another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def number(self) -> int | None:
        """The process's id; None where none was started."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """Ends the process. The next file starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with process:  # closes its pipes, and waits for it
            pass

    def document(self, kind: str, raw: bytes) -> Document:
        """A document that is read at once. Raises UnreadableDocument."""
        seconds = PATIENCE + PATIENCE_A_MEGABYTE * len(raw) / 2**20
        found = [frame for frame in self.frames(kind, raw, seconds, "it takes") if isinstance(frame, DocumentFrame)]
        if not found:
            raise UnreadableDocument(TOO_LARGE)
        return found[0].document

    def frames(self, kind: str, raw: bytes, seconds: float, what: str) -> Iterator[ReaderFrame]:
        """The frames as they come, `seconds` for each. Raises UnreadableDocument where one takes longer (`what` says of
        which,
        as in "one of its pages takes"), or the process ends before the last."""
        process = self._started()
        whole = sent = False
        try:
            while not whole:
                watch = threading.Timer(seconds, process.kill)
                watch.start()
                try:
                    if not sent:
                        _send(process, kind, raw)
                        sent = True
                    frame = read_frame(cast("IO[bytes]", process.stdout))
                except msgspec.DecodeError:
                    frame = None
                finally:
                    late = not watch.is_alive()
                    watch.cancel()
                match frame:
                    case EndFrame():
                        whole = True
                    case RefusalFrame(why=why, hint=hint):
                        whole = why != TOO_LARGE
                        raise UnreadableDocument(why, hint) if hint else UnreadableDocument(why)
                    case None:
                        raise UnreadableDocument(f"{what} more than {seconds:,.3g} seconds" if late else TOO_LARGE)
                    case _:
                        yield frame
        finally:
            if not whole:  # it may still write of this file
                self.close()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-P", "-m", "memory.knowledge.readers.reader_process"]  # -P: not this folder's
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=_surroundings())
        return self._process


def _send(process: "subprocess.Popen[bytes]", kind: str, raw: bytes) -> None:
    stream = cast("IO[bytes]", process.stdin)
    try:
        write_bytes(stream, kind.encode())
        write_bytes(stream, raw)
    except OSError:  # it ended before it had read all: its output has the reason
        return


def _surroundings() -> dict[str, str]:
    """The environment of the process, with the path of our own modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))}
