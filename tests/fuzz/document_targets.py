"""Parsers of documents that a person adds: PDF in its process, docx and pptx (the file, and the XML in it), HTML."""

import atexit
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from memory.knowledge.readers.html import read_html
from memory.knowledge.readers.isolated import ReaderProcess
from memory.knowledge.readers.office import read_docx, read_pptx
from memory.knowledge.readers.pdf import read_pdf
from tests.fuzz.target import FuzzTarget
from tests.memory.knowledge import files


def _made(make: object, name: str, *rest: object) -> bytes:
    with TemporaryDirectory() as folder:
        return make(Path(folder) / name, *rest).read_bytes()  # type: ignore[operator]  # a maker of tests.memory.knowledge.files


@cache
def _docx() -> bytes:
    return _made(files.docx, "a.docx")


@cache
def _pptx() -> bytes:
    return _made(files.pptx, "a.pptx")


@cache
def _process() -> ReaderProcess:
    process = ReaderProcess()
    atexit.register(process.close)
    return process


def _read_pdf(data: bytes) -> None:
    read_pdf(data, "a.pdf", None, _process())


def _with_part(document: bytes, part: str, body: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(document)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, body if name == part else old.read(name))
    return out.getvalue()


def _part(document: bytes, part: str) -> bytes:
    with zipfile.ZipFile(BytesIO(document)) as opened:
        return opened.read(part)


WORD, SLIDE = "word/document.xml", "ppt/slides/slide1.xml"
_XML = (b"<w:p>", b"</w:p>", b"<w:tbl>", b'w:val="Heading99999"', b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<w:tc/>")

TARGETS = (
    FuzzTarget(
        name="pdf",
        seeds=lambda: [_made(files.pdf, "a.pdf", ["One\nline", ""]), _made(files.scanned, "b.pdf", "drawn")],
        parse=_read_pdf,
        words=(b" 0 R", b"/Kids [", b"/Length 999999999", b"/MediaBox [0 0 1e9 1e9]", b"stream\n", b"/FlateDecode"),
    ),
    FuzzTarget(name="docx", seeds=lambda: [_docx()], parse=read_docx, words=(b"PK\x01\x02", b"PK\x05\x06")),
    FuzzTarget(
        name="docx-text",
        seeds=lambda: [_part(_docx(), WORD)],
        parse=lambda data: read_docx(_with_part(_docx(), WORD, data)),
        words=_XML,
    ),
    FuzzTarget(name="pptx", seeds=lambda: [_pptx()], parse=read_pptx, words=(b"PK\x01\x02", b"PK\x05\x06")),
    FuzzTarget(
        name="pptx-text",
        seeds=lambda: [_part(_pptx(), SLIDE)],
        parse=lambda data: read_pptx(_with_part(_pptx(), SLIDE, data)),
        words=(b"<p:sp>", b"<a:t>", b"<p:grpSp>", b'idx="4294967296"', b"<a:tbl>"),
    ),
    FuzzTarget(
        name="html",
        seeds=lambda: [files.HTML.encode()],
        parse=read_html,
        words=(b"<!--", b"<![CDATA[", b"<script>", b"</script", b"&#x110000;", b'<meta charset="utf-7">', b"<table>"),
    ),
)
