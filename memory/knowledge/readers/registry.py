"""Selects the reader of a file: by its suffix, and where that says nothing by its first bytes."""

import importlib.util
from pathlib import PurePath

from memory.knowledge.errors import MissingReader, UnreadableDocument, UnsupportedFile
from memory.knowledge.readers.document import Document, OcrReader
from memory.knowledge.readers.encodings import utf16
from memory.knowledge.readers.html import read_html
from memory.knowledge.readers.image import PICTURES, read_picture
from memory.knowledge.readers.isolated import ReaderProcess
from memory.knowledge.readers.office import check_zip
from memory.knowledge.readers.pdf import read_pdf
from memory.knowledge.readers.text import read_code, read_markdown, read_text

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd"})
HTML = frozenset({".html", ".htm", ".xhtml"})
TEXT = frozenset({".txt", ".text", ".log", ".csv", ".tsv", ".rst", ".org", ".tex", ".adoc", ".srt", ".vtt", ".eml"})
_CODE = """
    .py .pyi .js .mjs .cjs .ts .tsx .jsx .c .h .cc .cpp .cxx .hpp .hh .rs .go .java .kt .kts .swift .m .mm .rb .php .pl
    .pm .lua .r .jl .scala .clj .cljs .ex .exs .erl .hs .ml .mli .fs .fsx .cs .vb .dart .zig .nim .sh .bash .zsh .fish
    .ps1 .bat .cmd .sql .yaml .yml .toml .json .jsonl .xml .ini .cfg .conf .css .scss .less .vue .svelte .tf .proto
    .graphql .gradle .cmake .mk .dockerfile .ipynb .el .lisp .scm .vim .asm .s
"""
CODE = frozenset(_CODE.split())
_NAMES = frozenset({"makefile", "dockerfile", "gemfile", "rakefile", "jenkinsfile", "cmakelists.txt"})
_OLD = {".doc": ".docx", ".ppt": ".pptx", ".rtf": ".docx", ".odt": ".docx", ".odp": ".pptx"}
_WORDS = frozenset({"text", "code", "markdown", "html"})
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # byte order marks of what may hold NULs
SMALL_HTML = 2_000  # bytes: html.parser takes 20 ms at most for so much, and the cube of it for more
LOOKED_AT = 8192  # bytes read to detect the type of a file without a known suffix


def kind_of(name: str, beginning: bytes) -> str:
    """pdf | docx | pptx | markdown | html | text | code | picture. Raises UnsupportedFile."""
    path = PurePath(name.lower())
    suffix = path.suffix
    named = {".pdf": "pdf", ".docx": "docx", ".pptx": "pptx"}.get(suffix)
    for endings, kind in (
        (PICTURES, "picture"),
        (MARKDOWN, "markdown"),
        (HTML, "html"),
        (TEXT, "text"),
        (CODE, "code"),
    ):
        named = kind if suffix in endings else named
    if path.name in _NAMES:
        named = "code"
    if named:
        return named
    if suffix in _OLD:
        raise UnsupportedFile(f"{suffix} files are not read; save it as {_OLD[suffix]}")
    if beginning.startswith(b"%PDF-"):
        return "pdf"
    if looks_like_text(beginning):
        return "code" if beginning.startswith(b"#!") else "text"
    raise UnsupportedFile(f"no reader for {suffix or 'binary'} files")


def looks_like_text(beginning: bytes) -> bool:
    """Whether the first bytes are UTF-8 without control characters, or have a byte order mark."""
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    try:
        text = beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(beginning) < LOOKED_AT or error.start < len(beginning) - 3:
            return False
        text = beginning[: error.start].decode("utf-8")  # a character was cut in two
    return not any(letter < " " and letter not in "\t\n\r\f\x1b" for letter in text)


def read_file(raw: bytes, name: str, ocr_reader: OcrReader | None, apart: ReaderProcess | None = None) -> Document:
    """Reads the file by the reader of its kind. Raises UnsupportedFile, UnreadableDocument.

    Untrusted formats are parsed in the process `apart`; without one, a process is started for this file.
    """
    kind = kind_of(name, raw[:LOOKED_AT])
    if kind in _WORDS and b"\x00" in raw[:LOOKED_AT] and not raw.startswith(_WIDE) and not utf16(raw):
        raise UnreadableDocument("it contains binary data, despite its name")
    if apart is not None:
        return _read_kind(kind, raw, name, ocr_reader, apart)
    with ReaderProcess() as process:
        return _read_kind(kind, raw, name, ocr_reader, process)


def _read_kind(kind: str, raw: bytes, name: str, ocr_reader: OcrReader | None, apart: ReaderProcess) -> Document:
    match kind:
        case "pdf":
            return read_pdf(raw, name, ocr_reader, apart)
        case "docx" | "pptx":
            check_zip(raw)
            if importlib.util.find_spec(kind) is None:
                raise MissingReader(f"python-{kind}")
            return apart.document(kind, raw)
        case "html" if len(raw) > SMALL_HTML:
            return apart.document(kind, raw)
        case "picture":
            return read_picture(raw, name, ocr_reader)
        case _:
            return _read_text(kind, raw)


def _read_text(kind: str, raw: bytes) -> Document:
    readers = {"markdown": read_markdown, "html": read_html, "code": read_code}
    return readers.get(kind, read_text)(raw)
