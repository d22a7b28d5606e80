"""Office readers: docx through python-docx, pptx through python-pptx.

A document gives headings, paragraphs, lists, tables and footnotes in their order; a presentation gives titles, text,
tables and speaker's notes by slide. A table row is a line, its cells separated by bars; empty rows are left out. The
unpacked size is limited twice: by the sizes that the zip declares, and again while it is unpacked.
"""

import importlib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any, cast

from memory.knowledge.errors import MissingReader, UnreadableDocument
from memory.knowledge.readers.document import Document, DocumentSection, join_parts
from memory.knowledge.readers.text import shortened


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """A table, a line a row: `name | amount | due`."""
    lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))


DAMAGED = "it is damaged, truncated, or of another type than its name says"
_BROKEN = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, zlib.error, EOFError)
PIECE = 64 * 1024  # bytes unpacked at once
MOST_FILES = 20_000
MOST_BYTES = 400 * 2**20  # all that is in it, unpacked: pictures mostly
MOST_XML = 64 * 2**20  # one part of the text, unpacked
MOST_TEXT = 128 * 2**20  # all of the text, unpacked
MOST_RATIO = 400  # unpacked to packed, of a part above SMALL
SMALL = 2**20
REPAIR = "If an office program can open it, save it again from there, then add it."


def check_zip(raw: bytes) -> None:
    """Raises UnreadableDocument for what is no zip, is encrypted, or would unpack to more than a document does.

    These are the figures that the zip itself gives; `unpacked_text` counts.
    """
    try:
        with zipfile.ZipFile(BytesIO(raw)) as pack:
            parts = pack.infolist()
    except _BROKEN as error:
        raise UnreadableDocument(DAMAGED, REPAIR) from error
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        raise UnreadableDocument("it is compressed in an unusual way", REPAIR)
    if not all(part.filename for part in parts):
        raise UnreadableDocument(DAMAGED, REPAIR)
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableDocument("it is encrypted", "Save a copy without a password, then add that.")
    largest = max(parts, key=lambda part: part.file_size, default=None)
    if largest is None or len(parts) > MOST_FILES or sum(part.file_size for part in parts) > MOST_BYTES:
        raise UnreadableDocument(
            f"it would unpack to {sum(part.file_size for part in parts):,} bytes in {len(parts):,} parts"
        )
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels")) and part.file_size > MOST_XML:
            raise UnreadableDocument(f"its part {part.filename} would unpack to {part.file_size:,} bytes")
        if part.file_size > SMALL and part.file_size > MOST_RATIO * max(1, part.compress_size):
            raise UnreadableDocument(
                f"its part {part.filename} unpacks to {MOST_RATIO} times its size, as no document does"
            )


def unpacked_text(raw: bytes) -> BytesIO:
    """The same document with its text alone, as a zip that is not compressed: all other parts are empty.

    zipfile unpacks up to 2 GB at once before it looks at the length that the zip declares, so each part is counted
    piece by piece here, and what reads the document meets no compressed part. Raises UnreadableDocument.
    """
    check_zip(raw)
    out, total = BytesIO(), 0
    try:
        with zipfile.ZipFile(BytesIO(raw)) as pack, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as text:
            for part in {part.filename: part for part in pack.infolist()}.values():
                data = _counted(pack, part) if part.filename.lower().endswith((".xml", ".rels")) else b""
                total += len(data)
                if total > MOST_TEXT:
                    raise UnreadableDocument(f"its text unpacks to more than {MOST_TEXT:,} bytes")
                text.writestr(part.filename, data)
    except _BROKEN as error:
        raise UnreadableDocument(DAMAGED, REPAIR) from error
    out.seek(0)
    return out


def _counted(pack: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    data = bytearray()
    with pack.open(part) as stream:
        while piece := stream.read(PIECE):
            data += piece
            if len(data) > MOST_XML:
                raise UnreadableDocument(f"its part {part.filename} unpacks to more than {MOST_XML:,} bytes")
    return bytes(data)


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_docx(raw: bytes) -> Document:
    """Reads a Word document. Raises UnreadableDocument."""
    text_alone = unpacked_text(raw)
    try:
        import docx
    except ImportError as error:
        raise MissingReader("python-docx") from error
    try:
        opened = cast(Any, docx).Document(text_alone)
        parts = [*_parts(opened), *_footnotes(opened)]
    except MemoryError:
        raise
    except Exception as error:  # the library raises whatever a damaged part makes it stumble over
        raise UnreadableDocument("it is damaged, or no Word document", REPAIR) from error
    text, places = join_parts(parts)
    return Document(kind="docx", text=text, places=places)


def _parts(opened: Any) -> list[DocumentSection]:
    """The text under each heading."""
    parts, lines, label = list[DocumentSection](), list[str](), ""
    for block in opened.iter_inner_content():
        level = _level(block)
        if level and block.text.strip():
            if lines:
                parts.append(DocumentSection(label, "\n".join(lines)))
            label, lines = shortened(block.text), [f"{'#' * level} {block.text.strip()}"]
        elif text := _text(block):
            lines.append(text)
    return [*parts, DocumentSection(label, "\n".join(lines))] if lines else parts


def _level(block: Any) -> int:
    """1 to 6 for a heading, by the style's own id where its name is in another language; 0 for all else."""
    style = getattr(block, "style", None)
    if style is None or not hasattr(block, "runs"):
        return 0
    for name in (str(style.style_id or ""), str(style.name or "")):
        word = name.replace(" ", "").casefold()
        if word == "title":
            return 1
        if word.startswith("heading") and word[7:].isdigit():
            return min(6, max(1, int(word[7:])))
    return 0


def _text(block: Any) -> str:
    if hasattr(block, "rows"):
        return table_text(_rows(block))
    text = str(block.text).rstrip()
    listed = str(getattr(block.style, "name", "") or "").casefold().startswith("list")
    return f"- {text}" if listed and text else text


def _rows(table: Any) -> Iterator[list[str]]:
    """Each row's cells; a cell that spans several is given once."""
    for row in table.rows:
        cells, seen = list[str](), set[int]()
        for cell in row.cells:
            if id(cell._tc) not in seen:
                seen.add(id(cell._tc))
                cells.append(str(cell.text))
        yield cells


def _footnotes(opened: Any) -> list[DocumentSection]:
    etree: Any = importlib.import_module("lxml.etree")  # a dependency of python-docx; it has no types
    safe = etree.XMLParser(resolve_entities=False, no_network=True)
    notes = list[str]()
    for relation in opened.part.rels.values():
        if str(relation.reltype).endswith(("/footnotes", "/endnotes")):
            root = etree.fromstring(relation.target_part.blob, safe)
            for note in root:
                text = "".join(piece.text or "" for piece in note.iter(f"{_WORD}t")).strip()
                notes += [text] if text else []
    return [DocumentSection("notes", "\n".join(notes))] if notes else []


_DEEPEST = 20  # groups within groups


def read_pptx(raw: bytes) -> Document:
    """Reads a presentation. Raises UnreadableDocument."""
    text_alone = unpacked_text(raw)
    try:
        import pptx
    except ImportError as error:
        raise MissingReader("python-pptx") from error
    try:
        slides = cast(Any, pptx).Presentation(text_alone).slides
        parts = [_part(number, slide) for number, slide in enumerate(slides, 1)]
    except MemoryError:
        raise
    except Exception as error:  # the library raises whatever a damaged part makes it stumble over
        raise UnreadableDocument("it is damaged, or no presentation", REPAIR) from error
    text, places = join_parts([part for part in parts if part.text])
    return Document(kind="pptx", text=text, places=places)


def _part(number: int, slide: Any) -> DocumentSection:
    title = slide.shapes.title
    heading = str(title.text).strip() if title is not None and title.has_text_frame else ""
    lines = [f"# {heading}"] if heading else []
    ours = title.shape_id if title is not None else None
    lines += [text for text in _texts(slide.shapes, ours) if text]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = str(frame.text).strip()
        lines += [f"Notes: {notes}"] if notes else []
    return DocumentSection(f"slide {number}" + (f", {shortened(heading)}" if heading else ""), "\n".join(lines))


def _texts(shapes: Iterable[Any], title: int | None, depth: int = 0) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _texts(shape.shapes, title, depth + 1)
        elif getattr(shape, "has_table", False):
            yield table_text([str(cell.text) for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame and shape.shape_id != title:
            yield str(shape.text_frame.text).strip()
