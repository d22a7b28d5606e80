"""Word documents through python-docx: headings, paragraphs, lists, tables and footnotes, in their order."""

import importlib
from collections.abc import Iterator
from typing import Any, cast

from memory.knowledge.errors import NoReader, Unreadable
from memory.knowledge.readers.document import Document, Part, joined
from memory.knowledge.readers.markdown import shortened
from memory.knowledge.readers.tables import table_text
from memory.knowledge.readers.zipped import REPAIR, unpacked_text

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_docx(raw: bytes) -> Document:
    """Raises Unreadable."""
    text_alone = unpacked_text(raw)
    try:
        import docx
    except ImportError as error:
        raise NoReader("python-docx") from error
    try:
        opened = cast(Any, docx).Document(text_alone)
        parts = [*_parts(opened), *_footnotes(opened)]
    except MemoryError:
        raise
    except Exception as error:  # the library raises whatever a damaged part makes it stumble over
        raise Unreadable("it is damaged, or no Word document", REPAIR) from error
    text, places = joined(parts)
    return Document(kind="docx", text=text, places=places)


def _parts(opened: Any) -> list[Part]:
    """What stands under each heading."""
    parts, lines, label = list[Part](), list[str](), ""
    for block in opened.iter_inner_content():
        level = _level(block)
        if level and block.text.strip():
            if lines:
                parts.append(Part(label, "\n".join(lines)))
            label, lines = shortened(block.text), [f"{'#' * level} {block.text.strip()}"]
        elif text := _text(block):
            lines.append(text)
    return [*parts, Part(label, "\n".join(lines))] if lines else parts


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
    """Each row's cells; one that spans several is told once."""
    for row in table.rows:
        cells, seen = list[str](), set[int]()
        for cell in row.cells:
            if id(cell._tc) not in seen:
                seen.add(id(cell._tc))
                cells.append(str(cell.text))
        yield cells


def _footnotes(opened: Any) -> list[Part]:
    etree: Any = importlib.import_module("lxml.etree")  # python-docx stands on it; it has no types
    safe = etree.XMLParser(resolve_entities=False, no_network=True)
    notes = list[str]()
    for relation in opened.part.rels.values():
        if str(relation.reltype).endswith(("/footnotes", "/endnotes")):
            root = etree.fromstring(relation.target_part.blob, safe)
            for note in root:
                text = "".join(piece.text or "" for piece in note.iter(f"{_WORD}t")).strip()
                notes += [text] if text else []
    return [Part("notes", "\n".join(notes))] if notes else []
