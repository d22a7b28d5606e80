"""A PDF that unpacks to gigabytes is refused, and costs the process that reads knowledge nothing."""

import sys
import zlib

import pytest

from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.pdf import read_pdf


def pdf(stream: bytes, filters: bytes, box: bytes = b"0 0 600 800") -> bytes:
    """One page, drawn by `stream`, which `filters` unpack."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox["
        + box
        + b"]/Contents 4 0 R>>endobj\n4 0 obj<</Length "
        + str(len(stream)).encode()
        + b"/Filter "
        + filters
        + b">>stream\n"
        + stream
        + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n"
    )


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux bounds a process's memory")
def test_a_stream_of_a_gigabyte_ends_its_own_process_and_is_told() -> None:
    zeros = zlib.compress(zlib.compress(b"\0" * 1_000_000_000, 1), 9)
    with pytest.raises(UnreadableDocument, match="it needs too much memory for its size"):
        read_pdf(pdf(zeros, b"[/FlateDecode/FlateDecode]"), "bomb.pdf", None)


def test_a_page_of_a_kilometre_is_drawn_no_larger_than_others() -> None:
    line = zlib.compress(b"0 0 m 1 1 l S\n")
    document = read_pdf(pdf(line, b"/FlateDecode", b"0 0 200000 200000"), "wall.pdf", None)
    assert max(document.pictures[0].width, document.pictures[0].height) <= 2_600


def test_a_page_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.knowledge.readers.pdf.PATIENCE", 0.01)
    with pytest.raises(UnreadableDocument, match="seconds"):
        read_pdf(pdf(zlib.compress(b"0 0 m 1 1 l S\n"), b"/FlateDecode"), "slow.pdf", None)


def test_pages_that_are_pictures_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.knowledge.readers.pdf.MOST_PICTURES", 10)
    with pytest.raises(UnreadableDocument, match="its pages as pictures"):
        read_pdf(pdf(zlib.compress(b"0 0 m 1 1 l S\n"), b"/FlateDecode"), "album.pdf", None)
