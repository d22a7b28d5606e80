"""The program's log, `.palimpsest/log.txt`: a line an event, for whoever looks for what went wrong.

Lines have figures, ids and the program's own names. What was said, files' names, addresses and the words of errors are
in none; lines pass the privacy boundary all the same.
"""

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from foundation.clock import iso
from foundation.files import append, make_private_folder, read_bytes, status, write_atomically
from foundation.privacy import TextSource, clear
from foundation.terminal_text import visible_line

MOST_BYTES: Final = 1_000_000
"""Of the file; a larger one keeps its newest half."""
OFF: Final = "off"

_root: Final = logging.getLogger("palimpsest")
_root.addHandler(logging.NullHandler())  # else Python writes warnings to the terminal, into the screen


class LogSettings(Struct, frozen=True, kw_only=True):
    """What goes to the log."""

    level: Annotated[
        Literal["off", "error", "warning", "info", "debug"],
        Meta(
            description="The log level of .palimpsest/log.txt: nothing, errors, warnings, actions, or each step. The "
            "log has figures "
            "and ids, and no text of yours."
        ),
    ] = "warning"


def logger(name: str) -> logging.Logger:
    """The logger of a part of the program. Give it figures, ids and names of the program's own."""
    return _root.getChild(name)


def open_log(path: Path, settings: LogSettings) -> None:
    """Has this process log to the file at `path` from now on, and to no other."""
    for handler in [handler for handler in _root.handlers if isinstance(handler, _LogFile)]:
        _root.removeHandler(handler)
    if settings.level == OFF:
        _root.setLevel(logging.CRITICAL + 1)
        return
    _root.setLevel(settings.level.upper())
    _root.addHandler(_LogFile(path))


class _LogFile(logging.Handler):
    """Appends lines to a private file. A log that cannot be written stops nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        moment = iso(datetime.fromtimestamp(record.created, UTC))
        name = record.name.removeprefix("palimpsest.")
        line = clear(visible_line(f"{moment} {record.levelname} {name}: {record.getMessage()}"), TextSource.OTHER)
        try:
            make_private_folder(self._path.parent)
            self._shorten()
            append(self._path, f"{line}\n".encode())
        except OSError:
            return

    def _shorten(self) -> None:
        found = status(self._path)
        if found is not None and found.st_size > MOST_BYTES:
            _, _, newest = read_bytes(self._path)[-MOST_BYTES // 2 :].partition(b"\n")
            write_atomically(self._path, newest, sync=False)
