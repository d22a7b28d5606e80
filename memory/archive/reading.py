"""One picture read, timed."""

import time
from pathlib import Path

from foundation.trust import Trust
from memory.archive.cells import ENGINE, read
from memory.archive.passage import PageText
from memory.errors import NotAPage, NotFound

_LARGEST_FILE = 64 * 2**20


def read_picture(picture: Path | bytes, *, label: str = "", sha256: str = "", page_id: str = "") -> PageText:
    """The page's text. Where the index knows its hash and id, the page must agree with both to be exact.

    Raises NotAPage, NotFound.
    """
    began = time.perf_counter()
    reading = read(picture if isinstance(picture, bytes) else _bytes(picture))
    ms = (time.perf_counter() - began) * 1000
    header = reading.header
    trust, doubt = reading.trust, reading.doubt
    another = header is not None and ((sha256 and header.sha256 != sha256) or (page_id and header.page != page_id))
    if another and trust is Trust.EXACT:  # a sound page, but not the one that should be here
        trust, doubt = Trust.APPROXIMATE, tuple(range(1, reading.text.count("\n") + 2))
    return PageText(
        text=reading.text,
        trust=trust,
        engine=ENGINE,
        read_ms=round(ms, 3),
        doubt=doubt,
        page_id=header.page if header else "",
        number=header.number if header else 0,
        label=label,
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise NotAPage("Picture too large", f"{path} has more than 64 MB; a page of ours has 0.2 MB.")
        return path.read_bytes()
    except OSError as error:
        raise NotFound("No such picture", f"{path} cannot be read: {error.strerror}.") from error
