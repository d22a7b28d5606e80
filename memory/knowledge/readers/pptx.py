"""Slides through python-pptx: titles, text, tables and the speaker's notes, slide by slide."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from memory.knowledge.errors import NoReader, Unreadable
from memory.knowledge.readers.document import Document, Part, joined
from memory.knowledge.readers.markdown import shortened
from memory.knowledge.readers.tables import table_text
from memory.knowledge.readers.zipped import REPAIR, unpacked_text

_DEEPEST = 20  # groups within groups


def read_pptx(raw: bytes) -> Document:
    """Raises Unreadable."""
    text_alone = unpacked_text(raw)
    try:
        import pptx
    except ImportError as error:
        raise NoReader("python-pptx") from error
    try:
        slides = cast(Any, pptx).Presentation(text_alone).slides
        parts = [_part(number, slide) for number, slide in enumerate(slides, 1)]
    except MemoryError:
        raise
    except Exception as error:  # the library raises whatever a damaged part makes it stumble over
        raise Unreadable("it is damaged, or no presentation", REPAIR) from error
    text, places = joined([part for part in parts if part.text])
    return Document(kind="pptx", text=text, places=places)


def _part(number: int, slide: Any) -> Part:
    title = slide.shapes.title
    heading = str(title.text).strip() if title is not None and title.has_text_frame else ""
    lines = [f"# {heading}"] if heading else []
    ours = title.shape_id if title is not None else None
    lines += [text for text in _texts(slide.shapes, ours) if text]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = str(frame.text).strip()
        lines += [f"Notes: {notes}"] if notes else []
    return Part(f"slide {number}" + (f", {shortened(heading)}" if heading else ""), "\n".join(lines))


def _texts(shapes: Iterable[Any], title: int | None, depth: int = 0) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST:
            yield from _texts(shape.shapes, title, depth + 1)
        elif getattr(shape, "has_table", False):
            yield table_text([str(cell.text) for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame and shape.shape_id != title:
            yield str(shape.text_frame.text).strip()
