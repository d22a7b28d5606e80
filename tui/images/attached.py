"""Thumbnail of an attached picture, shown below its message. Created on a thread; drawn when it is visible."""

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
THUMBNAIL_PIXELS: Final = 2 * MAX_COLUMNS  # pixels of the longer side


class AttachmentPreview(Struct, frozen=True, eq=False):
    """A thumbnail (of Pillow) and a caption. With `protocol` OFF only the caption is shown.

    It is drawn in characters on every terminal: pixels would not scroll with the lines around them.
    """

    thumbnail: Any
    caption: str
    protocol: GraphicsProtocol

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        space = Segment(" " * GUTTER, styles.text)
        caption = wrap_runs([(visible(self.caption), styles.muted)], width - GUTTER, line_breaks)
        return indent([*self._picture_lines(width - GUTTER), *caption], space, space)

    def _picture_lines(self, room: int) -> list[StyledLine]:
        if self.thumbnail is None or self.protocol is GraphicsProtocol.OFF:
            return []
        columns, rows = fit_cells(self.thumbnail.width, self.thumbnail.height, min(MAX_COLUMNS, max(room, 2)), MAX_ROWS)
        return picture_lines(self.thumbnail, columns, rows, self.protocol)


def attachment_previews(
    pictures: "Iterable[Attachment | Image]", rule: "ImageRule", protocol: GraphicsProtocol
) -> list[TranscriptItem]:
    """A preview of each picture among the attachments. Blocks."""
    return [
        _preview_of(picture.data, picture.name, rule, protocol)
        for picture in pictures
        if picture.media_type.startswith("image/") and picture.media_type != "image/svg+xml"
    ]


def _preview_of(data: bytes, name: str, rule: "ImageRule", protocol: GraphicsProtocol) -> AttachmentPreview:
    try:
        picture = load_picture(data)
    except UndrawableImage as error:
        return AttachmentPreview(None, f"{name}: {error.message}", GraphicsProtocol.OFF)
    tokens = image_tokens(rule, picture.width, picture.height)
    cost = f"{tokens:,} tokens" if tokens else "this model does not accept images (models.vision)"
    caption = f"{name} · {picture.width:,}×{picture.height:,} · {cost}"
    picture.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
    return AttachmentPreview(picture, caption, protocol)
