"""PDF through pypdfium2: the text layer, page by page. A page without one becomes a picture, and its words are read.

PDFium runs in a process of its own, with a bound on memory and on how long a page may take.
"""

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, cast

import msgspec

from memory.knowledge.errors import NoReader, Unreadable
from memory.knowledge.readers.document import BETWEEN, Document, Part, Picture, Sight, joined
from memory.knowledge.readers.pdf_pages import TOO_LARGE, Opened, Page, Refused, read_frame

PATIENCE = 30.0  # seconds for one page
MOST_PICTURES = 1_000_000_000  # bytes of pages that are pictures, together


def read_pdf(raw: bytes, name: str, sight: Sight | None) -> Document:
    """Raises Unreadable, and NoReader where pypdfium2 is not installed."""
    if importlib.util.find_spec("pypdfium2") is None:
        raise NoReader("pypdfium2")
    return _document(name, list(_pages(raw)), sight)


def _pages(raw: bytes) -> Iterator[Page]:
    command = [sys.executable, "-P", "-m", "memory.knowledge.readers.pdf_pages"]  # -P: no code of the current folder
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=_surroundings()) as process:
        feeding = threading.Thread(target=_feed, args=(process, raw), daemon=True)
        feeding.start()
        try:
            yield from _read(process)
        finally:
            process.kill()
            feeding.join()


def _surroundings() -> dict[str, str]:
    """Ours, with the places where our own modules are, wherever the person stands."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))}


def _feed(process: "subprocess.Popen[bytes]", raw: bytes) -> None:
    stream = cast("IO[bytes]", process.stdin)
    try:
        stream.write(raw)
        stream.close()
    except OSError:  # it ended before it had read all: what it wrote says why
        return


def _read(process: "subprocess.Popen[bytes]") -> Iterator[Page]:
    """The pages as they come. Raises Unreadable where a page takes too long, or the process ends before the last."""
    expected, pages, size = -1, 0, 0
    while pages != expected:
        watch = threading.Timer(PATIENCE, process.kill)
        watch.start()
        try:
            frame = read_frame(cast("IO[bytes]", process.stdout))
        except msgspec.DecodeError:
            frame = None
        finally:
            late = not watch.is_alive()
            watch.cancel()
        match frame:
            case Opened(pages=expected):
                continue
            case Refused(why=why, hint=hint):
                raise Unreadable(why, hint) if hint else Unreadable(why)
            case Page():
                pages, size = pages + 1, size + len(frame.picture)
                if size > MOST_PICTURES:
                    raise Unreadable(f"its pages as pictures have more than {MOST_PICTURES / 1e9:g} GB")
                yield frame
            case None:
                raise Unreadable(f"one of its pages takes more than {PATIENCE:g} seconds" if late else TOO_LARGE)


def _document(name: str, pages: list[Page], sight: Sight | None) -> Document:
    parts, pictures, at = list[Part](), list[Picture](), 0
    for number, page in enumerate(pages, 1):
        part = Part(f"page {number}", page.text)
        if page.picture:
            words = sight.words(page.picture).strip() if sight else ""
            part = Part(f"page {number}", words or f"{name}, page {number} (a picture)", sight.name if sight else "")
            pictures.append(Picture(page.picture, ".png", page.width, page.height, at, len(part.text)))
        parts.append(part)
        at += len(part.text) + len(BETWEEN)
    text, places = joined(parts)
    return Document(kind="pdf", text=text, places=places, pictures=tuple(pictures), said=_said(name, pictures, sight))


def _said(name: str, pictures: list[Picture], sight: Sight | None) -> tuple[str, ...]:
    if not pictures:
        return ()
    some = f"{len(pictures):,} page{'s' if len(pictures) != 1 else ''} of {name} had no text"
    how = f"read by {sight.name}" if sight else "kept as pictures: no OCR engine is installed to read them"
    return (f"{some} and {'were' if len(pictures) != 1 else 'was'} {how}.",)
