"""The pages of one PDF, read in a process of its own: a file that asks for gigabytes ends that process, not ours.

    python -m memory.knowledge.readers.pdf_pages < file.pdf

Writes frames to standard output: four bytes of length, then MessagePack: `Opened`, then a `Page` each, or `Refused`.
"""

import struct
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any

import msgspec
from msgspec import Struct

MOST_PAGES = 5_000
MEMORY = 700_000_000  # bytes of address space, beside twice the file; a page drawn at 2,600 pixels takes some 30 MB
DOTS_PER_INCH = 200  # of a page that is drawn to be read (seed 001)
MOST_SIDE = 2_600  # pixels
_POINTS_PER_INCH = 72
_LENGTH = struct.Struct(">I")


class Opened(Struct, frozen=True, tag="opened"):
    """How many pages there are."""

    pages: int


class Page(Struct, frozen=True, tag="page"):
    """A page's text, or where it has none its picture (PNG)."""

    text: str
    picture: bytes = b""
    width: int = 0
    height: int = 0


class Refused(Struct, frozen=True, tag="refused"):
    """Why it cannot be read, as the end of a sentence, and what to do."""

    why: str
    hint: str = ""


Frame = Opened | Page | Refused
_decoder = msgspec.msgpack.Decoder(Frame)


def read_frame(stream: IO[bytes]) -> Frame | None:
    """The next frame; None at the end. Raises msgspec.DecodeError for what is none."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    return _decoder.decode(stream.read(_LENGTH.unpack(head)[0]))


def main() -> None:
    raw = sys.stdin.buffer.read()
    _bound_memory(MEMORY + 2 * len(raw))
    for frame in _frames(raw):
        data = msgspec.msgpack.encode(frame)
        sys.stdout.buffer.write(_LENGTH.pack(len(data)) + data)
        sys.stdout.buffer.flush()


def _bound_memory(most: int) -> None:
    """Where the system can (Linux): elsewhere the reader's patience is the only bound."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


def _frames(raw: bytes) -> Iterator[Frame]:
    import pypdfium2

    library: Any = pypdfium2
    try:
        opened = library.PdfDocument(raw)
    except library.PdfiumError as error:
        yield _refusal(raw, str(error))
        return
    try:
        if len(opened) > MOST_PAGES:
            yield Refused(f"it has {len(opened):,} pages; {MOST_PAGES:,} are the most")
            return
        yield Opened(len(opened))
        for number in range(len(opened)):
            yield _page(opened, number)
    except library.PdfiumError:
        yield Refused("it is damaged")
    except MemoryError:
        yield Refused(TOO_LARGE)
    finally:
        opened.close()


TOO_LARGE = "it asks for more memory than a file of its size should"


def _page(opened: Any, number: int) -> Page:
    page = opened[number]
    try:
        layer = page.get_textpage()
        try:
            text = str(layer.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n").strip()
        finally:
            layer.close()
        if any(letter.isalnum() for letter in text) or _is_blank(page):
            return Page(text)
        return _drawn(page)
    finally:
        page.close()


def _is_blank(page: Any) -> bool:
    """Whether there is nothing on the page."""
    return next(iter(page.get_objects(max_depth=1)), None) is None


def _drawn(page: Any) -> Page:
    longest = max(1.0, page.get_width(), page.get_height())
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, MOST_SIDE / longest)
    picture = page.render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "PNG")
    return Page("", out.getvalue(), picture.width, picture.height)


def _refusal(raw: bytes, why: str) -> Refused:
    if "password" in why.lower() or b"/Encrypt" in raw[-4096:]:
        return Refused("it is encrypted", "Save a copy without a password, then add that.")
    return Refused("it is damaged")


if __name__ == "__main__":
    main()
