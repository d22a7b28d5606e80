"""Message layer: recalled passages, attachments, and the message itself."""

import hashlib
import mimetypes
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import msgspec
from msgspec import Struct

from context.assembly.tokens import Layer, MessagePiece
from context.errors import BadAttachment
from context.notice import FileNotice
from context.sources.calendar import events_in, readable
from context.types import Attachment
from foundation.files import FileTooLarge, UnsafePath, read_bytes, resolve_path, scan
from foundation.privacy import without_tags
from foundation.program import PROGRAM
from foundation.terminal_text import visible_line
from foundation.typed_json import decode_json
from models.fence import one_line
from models.messages import Image, RecalledSpan, Text
from models.ocr.open import installed_engine
from models.ocr.port import OcrEngine

ReadImage = Callable[[bytes], str]
"""Returns the text in an image; "" where it finds none."""

MOST_BYTES = 20_000_000
MOST_NAMES = 500  # of a folder
CACHED_PICTURES = 8  # OCR results, since one request may be assembled more than once
MOST_PIXELS = 40_000_000  # a larger image may be a decompression bomb
_IMAGES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


class LoadedAttachment(Struct, frozen=True):
    """An attachment as a piece of the tail, its kinds for conditions, and a notice for the person."""

    piece: MessagePiece
    kinds: frozenset[str]
    notice: FileNotice | None = None


def load_attachment(path: Path) -> Attachment:
    """Reads a file, or the names in a folder, as an attachment.

    Raises BadAttachment, also where it is neither text nor an image: a message that cannot go must not be stored.
    """
    try:
        if path.is_dir():
            return Attachment(f"{path.name}/", "text/plain", _listing(resolve_path(path)).encode())
        data = read_bytes(resolve_path(path), most=MOST_BYTES)
    except FileTooLarge as error:
        raise BadAttachment(
            "Too large to attach",
            f"{path.name} has more than {MOST_BYTES:,} bytes, the maximum.",
            f"`{PROGRAM} archive FILE` keeps a long text whole; then ask about it.",
        ) from error
    except UnsafePath as error:
        raise BadAttachment("Not a file", error.message, error.hint) from error
    except OSError as error:
        raise BadAttachment(
            "Not readable", f"{path}: {error.strerror}.", "Check the name and your permissions."
        ) from error
    attachment = Attachment(path.name, media_type_of(path.name, data), data)
    if attachment.is_picture:
        _size(attachment)
    else:
        _text(attachment)
    return attachment


def _listing(folder: Path) -> str:
    """The names in it, a line each; a folder's ends with a slash."""
    found = scan(folder)
    names = [f"{visible_line(path.name)}{'/' * S_ISDIR(status.st_mode)}" for path, status in found[:MOST_NAMES]]
    more = f"\n… and {len(found) - MOST_NAMES:,} more" if len(found) > MOST_NAMES else ""
    return "\n".join(names) + more if names else "(an empty folder)"


def media_type_of(name: str, data: bytes) -> str:
    """Media type by the first bytes for an image, else by the file's name; text/plain where neither tells it."""
    for signature, media_type in _IMAGES.items():
        if data.startswith(signature) and (signature != b"RIFF" or data[8:12] == b"WEBP"):
            return media_type
    guessed, _ = mimetypes.guess_type(name)
    return guessed or "text/plain"


def load_for_model(attachment: Attachment, *, vision: bool, read_image: ReadImage | None) -> LoadedAttachment:
    """Converts an attachment to a piece for the model. Raises BadAttachment where it is neither text nor an image."""
    if attachment.is_picture:
        return _picture(attachment, vision, read_image)
    text = _text(attachment)
    value = _json(attachment, text)
    if value is None:
        return LoadedAttachment(_text_piece(attachment, text), frozenset({"any", "text"}))
    kinds = {"any", "json"} | ({"calendar"} if events_in(value[0]) else set[str]())
    return LoadedAttachment(_text_piece(attachment, readable(value[0])), frozenset(kinds))


def _text(attachment: Attachment) -> str:
    try:
        return attachment.text
    except UnicodeDecodeError as error:
        raise BadAttachment(
            "Not text",
            f"{attachment.name} is neither UTF-8 text nor a picture ({attachment.media_type}).",
            "Save it as text first, or take its @ out of the message.",
        ) from error


def _json(attachment: Attachment, text: str) -> tuple[Any] | None:
    if not (attachment.media_type == "application/json" or attachment.name.lower().endswith(".json")):
        return None
    try:
        return (decode_json(text, object),)
    except msgspec.DecodeError:
        return None  # sent as plain text


def _text_piece(attachment: Attachment, text: str) -> MessagePiece:
    shown = f"{one_line(attachment.name)}\n{text}"  # private tags stay: storing removes the text between them
    part = Text(shown, injected="attachment")
    return MessagePiece(Layer.MESSAGE, attachment_source(attachment.name), part, attachment.archive)


def attachment_source(name: str) -> str:
    """The source of an attachment's piece in reports."""
    return f"attachment {name}"


def _picture(attachment: Attachment, vision: bool, read_image: ReadImage | None) -> LoadedAttachment:
    width, height = _size(attachment)
    name, source, kinds = attachment.name, attachment_source(attachment.name), frozenset({"any", "image"})
    if vision:
        image = Image(attachment.data, attachment.media_type, width, height, name)
        return LoadedAttachment(MessagePiece(Layer.MESSAGE, source, image), kinds)
    ocr_text = read_image(attachment.data).strip() if read_image else ""
    if ocr_text:
        notice = FileNotice(
            "info", f"{name}: this model does not accept images. The text that OCR found in it is sent instead."
        )
        text = f"{one_line(name)} (a picture of {width}×{height} pixels; its words, as read by OCR)\n{ocr_text}"
    else:
        why = "no words were found in it" if read_image else "no OCR engine is installed"
        text = f"{one_line(name)}: a picture of {width}×{height} pixels. This model cannot see it, and {why}."
        notice = FileNotice(
            "warning", f"{name}: this model does not accept images, and {why}. Only its name and size are sent."
        )
    return LoadedAttachment(MessagePiece(Layer.MESSAGE, source, Text(text, injected="attachment")), kinds, notice)


def _size(attachment: Attachment) -> tuple[int, int]:
    from PIL import Image as Pillow

    try:
        with Pillow.open(BytesIO(attachment.data)) as picture:
            width, height = picture.size
    except (OSError, ValueError, Pillow.DecompressionBombError) as error:
        raise BadAttachment("Not a picture", f"{attachment.name} cannot be read as {attachment.media_type}.") from error
    if width * height > MOST_PIXELS:
        raise BadAttachment(
            "Too large a picture",
            f"{attachment.name} has {width * height:,} pixels; {MOST_PIXELS:,} are the most.",
            "Scale it down first.",
        )
    return width, height


def recalled_pieces(recalled: Sequence[RecalledSpan]) -> tuple[MessagePiece, ...]:
    """One piece for each recalled passage, named by its reference."""
    return tuple(MessagePiece(Layer.MESSAGE, f"recalled {part.citation.ref}", part) for part in recalled)


def message_piece(text: str) -> MessagePiece:
    """The message as the model sees it: private text included, without its tags."""
    return MessagePiece(Layer.MESSAGE, "message", Text(without_tags(text)))


class PictureReader:
    """Extracts text from images, one at a time, with a cache of the latest results. Looks up the OCR engine once.

    `read_image` replaces the installed engine.
    """

    def __init__(self, read_image: ReadImage | None = None) -> None:
        self._read_image = read_image
        self._texts: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def read_image(self) -> ReadImage | None:
        """The function that extracts the text of an image; None where no engine is installed."""
        return self._cached_text if self._read_image or self._engine else None

    @cached_property
    def _engine(self) -> OcrEngine | None:
        return installed_engine()

    def _cached_text(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        with self._lock:
            if key not in self._texts:
                if len(self._texts) >= CACHED_PICTURES:
                    self._texts.pop(next(iter(self._texts)))
                self._texts[key] = self._read_text(data)
            return self._texts[key]

    def _read_text(self, data: bytes) -> str:
        if self._read_image:
            return self._read_image(data)
        return self._engine.read(data).text if self._engine else ""
