"""Opens a picture for an engine: upright, in colour, on white, bounded in size."""

import io
import warnings
from typing import TYPE_CHECKING

from foundation.image_errors import why_unreadable
from models.errors import UnreadableImage

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS = 40_000_000
LONGEST_SIDE = 4_096  # of a photograph: a JPEG is decoded no larger than needed for it
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")


def open_image(image: bytes) -> "Image.Image":
    """The picture as RGB, turned by its EXIF orientation. Raises UnreadableImage for no picture, or more than 40 MP.

    A larger photograph (JPEG) is opened at a half, a quarter or an eighth of its size.
    """
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own bound is lower
            with Image.open(io.BytesIO(image), formats=FORMATS) as file:
                file.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # JPEG alone knows of it
                if file.width * file.height > MOST_PIXELS:
                    raise _too_large(file.width, file.height)
                turned = ImageOps.exif_transpose(file)
                ground = Image.new("RGBA", turned.size, "white")
                ground.alpha_composite(turned.convert("RGBA"))
                return ground.convert("RGB")
    except Image.DecompressionBombError as error:
        many = f"The picture has far more than {MOST_PIXELS:,} pixels, which are the most that OCR reads."
        raise UnreadableImage("Picture too large", many, _SMALLER) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise UnreadableImage("Not a picture", why_unreadable(image, error)) from error


def encode_image(picture: "Image.Image") -> bytes:
    """The picture as PNG."""
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()


_SMALLER = "Scale it down or split it."


def _too_large(width: int, height: int) -> UnreadableImage:
    return UnreadableImage(
        "Picture too large", f"The picture has {width}×{height} pixels; OCR reads at most {MOST_PIXELS:,}.", _SMALLER
    )
