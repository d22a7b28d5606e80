"""Thumbnail of an attached picture, shown under its message. Created on a thread; drawn when it comes into view."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from rich.segment import Segment

from foundation.terminal_text import visible
from models.tokens import image_tokens
from tui.images.half_blocks import fit_cells, picture_lines
from tui.images.load import UndrawableImage, load_picture
from tui.images.protocol import GraphicsProtocol
from tui.widgets.transcript.items import GUTTER, TranscriptItem
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, indent, line_breaks, wrap_runs

if TYPE_CHECKING:
    from context import Attachment
    from models.chat.port import ImageRule
    from models.messages import Image

MAX_COLUMNS: Final = 48
MAX_ROWS: Final = 12
THUMBNAIL: Final = 2 * MAX_COLUMNS  # pixels of the longer side that are kept


class AttachmentPreview(Struct, frozen=True, eq=False):
    """A small copy of a picture (of Pillow), and a line about it. `drawing` OFF leaves the line alone.

    It is drawn in characters on every terminal: pixels would not scroll with the lines about them.
    """

    small: Any
    caption: str
    drawing: GraphicsProtocol

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        space = Segment(" " * GUTTER, styles.text)
        about = wrap_runs([(visible(self.caption), styles.muted)], width - GUTTER, line_breaks)
        return indent([*self._drawn(width - GUTTER), *about], space, space)

    def _drawn(self, room: int) -> list[StyledLine]:
        if self.small is None or self.drawing is GraphicsProtocol.OFF:
            return []
        columns, rows = fit_cells(self.small.width, self.small.height, min(MAX_COLUMNS, max(room, 2)), MAX_ROWS)
        return picture_lines(self.small, columns, rows, self.drawing)


def attachment_previews(
    pictures: "Iterable[Attachment | Image]", rule: "ImageRule", drawing: GraphicsProtocol
) -> list[TranscriptItem]:
    """A piece for each that is a picture, whatever else is among them. Blocks."""
    return [
        _piece(picture.data, picture.name, rule, drawing)
        for picture in pictures
        if picture.media_type.startswith("image/") and picture.media_type != "image/svg+xml"
    ]


def _piece(data: bytes, name: str, rule: "ImageRule", drawing: GraphicsProtocol) -> AttachmentPreview:
    try:
        picture = load_picture(data)
    except UndrawableImage as error:
        return AttachmentPreview(None, f"{name}: {error.message}", GraphicsProtocol.OFF)
    tokens = image_tokens(rule, picture.width, picture.height)
    cost = f"{tokens:,} tokens" if tokens else "this model sees no pictures"
    caption = f"{name} · {picture.width:,}×{picture.height:,} · {cost}"
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    return AttachmentPreview(picture, caption, drawing)
