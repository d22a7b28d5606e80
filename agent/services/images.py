"""Text from pictures: our own pages by their pixels alone, other pictures by an installed OCR engine."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import UnsafePath, open_for_reading, resolve_path
from memory.pages.types import PageText
from models.ocr import open as ocr_engines

if TYPE_CHECKING:  # our own pages need no engine
    from memory.pages.read.ocr.lines import OnLine
    from memory.pages.read.reader import OnStage
    from models.ocr.port import Consent, OcrEngine
    from models.settings import ModelSettings

OUR_READERS = ("cells", "nearest")
OpenEngine = Callable[[str], "OcrEngine | None"]
"""Opens the OCR engine of that name, or the preferred one for `auto`; None where there is none."""

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"BM", b"II*\x00", b"MM\x00*", b"GIF8")


def is_picture(argument: str) -> bool:
    """Whether the argument names a picture, by its suffix or by the file's first bytes.

    Raises UnsafePath for a pipe, a device or a socket.
    """
    path = Path(argument)
    if path.suffix.lower() in PICTURES:
        return True
    try:
        with open_for_reading(resolve_path(path)) as file:
            return file.read(8).startswith(_BEGINNINGS)
    except UnsafePath as error:
        if error.reason == "special":
            raise
        return False
    except (OSError, ValueError):  # no such file, or no valid file name
        return False


def read_file(
    path: Path,
    *,
    engine: str = "auto",
    open_engine: OpenEngine | None = None,
    on_line: "OnLine | None" = None,
    on_stage: "OnStage | None" = None,
) -> PageText:
    """The text of a picture, by the named reader, or by the best available.

    No engine is opened, and its configuration is not read, before our own readers have failed.
    Raises NotAPage, NotFound, and what the engine raises.
    """
    from memory.pages.read.reader import read_picture

    open_named = open_engine or engine_opener()
    ocr = None if engine in OUR_READERS else partial(open_named, engine)
    return read_picture(path, engine=engine, ocr=ocr, on_line=on_line, on_stage=on_stage)


def engine_opener(
    settings: "Callable[[], ModelSettings] | None" = None,
    env: Mapping[str, str] | None = None,
    consent: "Consent | None" = None,
) -> OpenEngine:
    """A function that opens engines by the settings; these are read when the first engine is opened."""

    def open_named(name: str) -> "OcrEngine | None":
        model_settings = settings() if settings else None
        if name == "auto":
            return ocr_engines.installed_engine(model_settings, env, consent)
        return ocr_engines.engine_named(name, model_settings, env, consent)

    return open_named
