"""Pictures brought back as text: a page of ours by its pixels alone, any other by the OCR engine at hand."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import UnsafePath, open_for_reading, real
from memory.pages.types import PageText

if TYPE_CHECKING:  # a page of ours needs no engine
    from memory.pages.read.ocr.lines import OnLine
    from memory.pages.read.reader import OnStage
    from models.ocr.consent import Consent
    from models.ocr.port import OcrEngine
    from models.settings import ModelSettings

OUR_READERS = ("cells", "nearest")
OpenEngine = Callable[[str], "OcrEngine | None"]
"""The OCR engine of that name, or the one to take where the name is `auto`; None where there is none."""

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"BM", b"II*\x00", b"MM\x00*", b"GIF8")


def is_picture(asked: str) -> bool:
    """Whether the argument names a picture: by its ending, or by what the file begins with.

    Raises UnsafePath where it names a pipe, a device or a socket.
    """
    path = Path(asked)
    if path.suffix.lower() in PICTURES:
        return True
    try:
        with open_for_reading(real(path)) as file:
            return file.read(8).startswith(_BEGINNINGS)
    except UnsafePath as error:
        if error.reason == "special":
            raise
        return False
    except (OSError, ValueError):  # no file of that name, or no name that a file could have
        return False


def read_file(
    path: Path,
    *,
    engine: str = "auto",
    open_engine: OpenEngine | None = None,
    on_line: "OnLine | None" = None,
    on_stage: "OnStage | None" = None,
) -> PageText:
    """The text of a picture, by the reader named, or the best that can.

    No engine is opened, and no configuration read for one, before our own readers have failed.
    Raises NotAPage, NotFound, and what the engine raises.
    """
    from memory.pages.read.reader import read_picture

    open_one = open_engine or engines()
    ocr = None if engine in OUR_READERS else partial(open_one, engine)
    return read_picture(path, engine=engine, ocr=ocr, on_line=on_line, on_stage=on_stage)


def engines(
    settings: "Callable[[], ModelSettings] | None" = None,
    env: Mapping[str, str] | None = None,
    consent: "Consent | None" = None,
) -> OpenEngine:
    """Opens engines by the settings, which are asked for when the first one is."""

    def open_one(name: str) -> "OcrEngine | None":
        from models.ocr.open import engine_named, installed_engine

        chosen = settings() if settings else None
        return installed_engine(chosen, env, consent) if name == "auto" else engine_named(name, chosen, env, consent)

    return open_one
