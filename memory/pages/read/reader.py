"""Reads one picture, timed, by the best reader for it.

In this order: the cell reader; the nearest glyph; an OCR engine, line by line on the known grid; the engine on the
whole picture, for pictures that are not ours. Only a page whose text has the hash in its header is exact. A text of the
nearest-glyph reader without that hash goes to an OCR engine too: where the two agree on every line, it is verified.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

import numpy as np

from foundation.errors import PalimpsestError
from foundation.files import FileTooLarge, read_bytes, resolve_path
from foundation.install_hints import install_extra
from foundation.trust import Trust
from memory.errors import NotAPage, NotFound
from memory.pages.read.exact import ENGINE, PageReading, read_exact
from memory.pages.read.nearest.reader import read_nearest
from memory.pages.read.ocr.pages import OcrPageText, OnLine, read_by_ocr, verify_by_ocr
from memory.pages.read.readable import HeaderlessPage, refuse_for_people
from memory.pages.render.png import decode_grey
from memory.pages.types import PageText
from models.ocr.open import engine_named
from models.ocr.port import OcrEngine

READERS = ("auto", "cells", "nearest", "rapidocr", "tesseract", "deepseek", "server")
"""What `engine` may be: `auto` for all of them in order."""
NEAREST = "nearest"
OpenOcr = Callable[[], OcrEngine | None]
"""The engine to ask, or None where there is none; called when our own readers have failed."""
OnStage = Callable[[str], None]
"""Told what is done from now on, where that takes long. Raise from it to stop."""
_LARGEST_FILE = 64 * 2**20


def read_picture(
    picture: Path | bytes,
    *,
    label: str = "",
    sha256: str = "",
    page_id: str = "",
    engine: str = "auto",
    ocr: OcrEngine | OpenOcr | None = None,
    on_line: OnLine | None = None,
    on_stage: OnStage | None = None,
) -> PageText:
    """The picture's text. Where the index knows its hash and id, the page must agree with both to be exact.

    `ocr` is an engine, or opens one, for pictures beyond our own two readers, without which `auto` uses these alone.
    `engine` names a single reader. `on_line` gets the count of lines that OCR has read and their total, `on_stage` the
    current stage; raising from them stops the reading. Raises NotAPage, NotFound, and the engine's errors.
    """
    began = time.perf_counter()
    data = picture if isinstance(picture, bytes) else _bytes(picture)
    match engine:
        case "auto":
            reading = _in_order(data, ocr, on_line, on_stage or _ignore_stage)
        case "cells":
            reading = _by_cells(data)
        case "nearest":
            refuse_for_people(data)
            reading = _by_nearest(data)
        case _:
            reading = read_by_ocr(data, _open_engine(ocr) or engine_named(engine), on_line)
    ms = (time.perf_counter() - began) * 1000
    header = reading.header
    trust, doubt = reading.trust, reading.doubt
    another = header is not None and ((sha256 and header.sha256 != sha256) or (page_id and header.page != page_id))
    if another and trust is not Trust.APPROXIMATE:  # a sound page, but not the one that should be here
        trust, doubt = Trust.APPROXIMATE, tuple(range(1, reading.text.count("\n") + 2))
    return PageText(
        text=reading.text,
        trust=trust,
        engine=reading.engine,
        read_ms=round(ms, 3),
        doubt=doubt,
        page_id=header.page if header else "",
        number=header.number if header else 0,
        label=label,
        heads=reading.heads,
        warnings=reading.warnings,
    )


def _in_order(data: bytes, ocr: OcrEngine | OpenOcr | None, on_line: OnLine | None, on_stage: OnStage) -> OcrPageText:
    try:
        best = _by_own_readers(data, on_stage)
    except HeaderlessPage:
        raise
    except NotAPage as error:
        if (engine := _open_engine(ocr)) is None:
            raise _unreadable(error) from error
        on_stage(f"not a Palimpsest page; read by {engine.name}")
        return read_by_ocr(data, engine, on_line)
    if best.trust is Trust.EXACT or best.is_settled:
        return best
    try:
        if (engine := _open_engine(ocr)) is None:
            return best
        on_stage(f"read a second time, by {engine.name}")
        return verify_by_ocr(best, data, engine, on_line)
    except PalimpsestError as error:  # a second reader is no condition for the first
        return best.saying(f"Not verified by a second reader: {error.message}")


def _by_own_readers(data: bytes, on_stage: OnStage) -> OcrPageText:
    """The text by the cells, where that is exact; else by the nearest glyph, which reads all that the cells do, and
    more."""
    reading: OcrPageText | None = None
    with suppress(NotAPage):
        reading = _by_cells(data)
        if reading.trust is Trust.EXACT:
            return reading
    refuse_for_people(data)
    on_stage("looking for a page that was scaled, cut or photographed")
    try:
        nearest = _by_nearest(data)
    except NotAPage:
        if reading is None:
            raise
        return reading
    if reading is not None and reading.header is not None and nearest.trust is Trust.EXACT and _is_two_toned(data):
        return nearest if nearest.warnings else nearest.saying(_altered(_differing_lines(reading.text, nearest.text)))
    if reading is not None and reading.stands and nearest.trust is not Trust.EXACT and nearest.header is None:
        return reading  # pixel for pixel our glyphs, and where its header was it knows
    return nearest


def _is_two_toned(data: bytes) -> bool:
    """Whether the picture was never compressed or scaled: then each pixel that is not the page's was changed."""
    return len(np.unique(decode_grey(data))) <= 2


def _differing_lines(text: str, other: str) -> tuple[int, ...]:
    """The lines, from 1, in which two texts differ; none where they do not have as many."""
    pairs = list(zip_longest(text.split("\n"), other.split("\n")))
    return tuple(n for n, (a, b) in enumerate(pairs, 1) if a != b) if None not in {x for p in pairs for x in p} else ()


def _altered(lines: Sequence[int]) -> str:
    """The warning about a picture that differs, in pixels, from the page that its hash proves it to be."""
    where = f" in line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:12]))}" if lines else ""
    return f"The picture was altered{where}: its pixels differ from the page. The text is verified by its hash."


def _open_engine(ocr: OcrEngine | OpenOcr | None) -> OcrEngine | None:
    return ocr() if callable(ocr) else ocr


def _ignore_stage(_: str) -> None:
    """The default `on_stage`."""


def _by_cells(data: bytes) -> OcrPageText:
    return _page_text(read_exact(data), ENGINE)


def _by_nearest(data: bytes) -> OcrPageText:
    return _page_text(read_nearest(data), NEAREST)


def _page_text(reading: PageReading, engine: str) -> OcrPageText:
    warnings = (_altered(reading.altered),) if reading.altered else ()
    return OcrPageText(
        text=reading.text,
        trust=reading.trust,
        engine=engine,
        doubt=reading.doubt,
        header=reading.header,
        heads=reading.heads,
        grid=reading.grid,
        noise=reading.noise,
        warnings=warnings,
    )


def _unreadable(error: NotAPage) -> NotAPage:
    """The error of our own readers, with the command that installs an engine for other pictures."""
    hint = f"Other pictures need an OCR engine, and none is installed: {install_extra('rapidocr')}"
    return NotAPage(error.title, error.message, hint)


def _bytes(path: Path) -> bytes:
    try:
        if data := read_bytes(resolve_path(path), most=_LARGEST_FILE):
            return data
    except FileTooLarge as error:
        raise NotAPage("Picture too large", f"{path} is larger than 64 MB; a page has 0.2 MB.") from error
    except OSError as error:
        raise NotFound("No such picture", f"{path} cannot be read: {error.strerror}.") from error
    raise NotAPage("Not a picture", "The file is empty.")
