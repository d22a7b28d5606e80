"""The reader process, which parses untrusted files. One that asks for gigabytes ends this process, not the program.

    python -m memory.knowledge.readers.reader_process

Standard input: for each file its kind (pdf, html, docx, pptx) and its bytes, each preceded by its length. Standard
output: the frames of each file, up to EndFrame or RefusalFrame.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.frames import (
    TOO_LARGE,
    DocumentFrame,
    EndFrame,
    OpenedFrame,
    PageFrame,
    ReaderFrame,
    RefusalFrame,
    read_bytes,
    write_frame,
)

MEMORY = 860 * 2**20  # bytes of address space, 300 MB of them for libraries: the parts of a large office document
PDF_MEMORY = 225 * 2**20  # the same for a PDF, beside what the process has: a page drawn at 2,600 pixels takes 30 MB
TIMES = {"pdf": 2}  # and so many times the file
OTHER_TIMES = 12  # the text of a page, of which a parser keeps several copies of up to four bytes a character
MOST_PAGES = 5_000
DOTS_PER_INCH = 200  # of a page that is drawn to be read (seed 001)
MOST_SIDE = 2_600  # pixels
_POINTS_PER_INCH = 72


def main() -> None:
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    while (kind := read_bytes(requests)) is not None and (raw := read_bytes(requests)) is not None:
        name = kind.decode()
        _bound_memory(_memory_limit(name, len(raw)))
        try:
            for frame in _frames(name, raw):
                write_frame(replies, frame)
                if isinstance(frame, RefusalFrame):
                    break
            else:
                write_frame(replies, EndFrame())
        except MemoryError:
            write_frame(replies, RefusalFrame(TOO_LARGE))
            return  # its state is unknown: another process reads the next file
        except UnreadableDocument as error:
            write_frame(replies, RefusalFrame(error.message, error.hint))
        except RecursionError:
            write_frame(replies, RefusalFrame("its parts are nested too deeply"))
        del raw


def _frames(kind: str, raw: bytes) -> Iterator[ReaderFrame]:
    match kind:
        case "pdf":
            yield from _pdf_frames(raw)
        case "docx":
            from memory.knowledge.readers.office import read_docx

            yield DocumentFrame(read_docx(raw))
        case "pptx":
            from memory.knowledge.readers.office import read_pptx

            yield DocumentFrame(read_pptx(raw))
        case _:
            from memory.knowledge.readers.html import read_html

            yield DocumentFrame(read_html(raw))


def _pdf_frames(raw: bytes) -> Iterator[ReaderFrame]:
    """`OpenedFrame`, then a `PageFrame` each; or `RefusalFrame`. Raises MemoryError."""
    import pypdfium2

    library: Any = pypdfium2
    try:
        opened = library.PdfDocument(raw)
    except library.PdfiumError as error:
        yield _refusal(raw, str(error))
        return
    try:
        if len(opened) > MOST_PAGES:
            yield RefusalFrame(f"it has {len(opened):,} pages; the limit is {MOST_PAGES:,}")
            return
        yield OpenedFrame(len(opened))
        for number in range(len(opened)):
            yield _page(opened, number)
    except library.PdfiumError:
        yield RefusalFrame("it is damaged")
    finally:
        opened.close()


def _page(opened: Any, number: int) -> PageFrame:
    page = opened[number]
    try:
        layer = page.get_textpage()
        try:
            text = str(layer.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n").strip()
        finally:
            layer.close()
        if any(letter.isalnum() for letter in text) or _is_blank(page):
            return PageFrame(text)
        return _render_page(page)
    finally:
        page.close()


def _is_blank(page: Any) -> bool:
    """Whether there is nothing on the page."""
    return next(iter(page.get_objects(max_depth=1)), None) is None


def _render_page(page: Any) -> PageFrame:
    longest = max(1.0, page.get_width(), page.get_height())
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, MOST_SIDE / longest)
    picture = page.render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "PNG")
    return PageFrame("", out.getvalue(), picture.width, picture.height)


def _refusal(raw: bytes, why: str) -> RefusalFrame:
    if "password" in why.lower() or b"/Encrypt" in raw[-4096:]:
        return RefusalFrame("it is encrypted", "Save a copy without a password, then add that.")
    return RefusalFrame("it is damaged")


def _memory_limit(kind: str, size: int) -> int:
    """Bytes of address space allowed for a file of that size."""
    more = TIMES.get(kind, OTHER_TIMES) * size
    if kind != "pdf":
        return MEMORY + more
    with suppress(ImportError):  # reported later; loaded now, so that the memory in use includes it
        import pypdfium2
        from PIL import PngImagePlugin

        del pypdfium2, PngImagePlugin
    return min(MEMORY, _memory_used() + PDF_MEMORY) + more


def _memory_used() -> int:
    """Bytes of address space in use; MEMORY where the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return MEMORY


def _bound_memory(most: int) -> None:
    """Limits memory where the system can (Linux); elsewhere the client's time limit is the only bound."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


if __name__ == "__main__":
    main()
