"""PP-OCR through rapidocr and onnxruntime: small, on a CPU, with the models inside the wheel (nothing is fetched).

Behind the extra `rapidocr`. Its whole-page detection collapses on our own dense pages (pages are read line by line
elsewhere); on photographs, screenshots and scans it is what it is made for.
"""

import importlib
import threading
from collections import deque
from typing import Any

from foundation.installing import install_extra
from models.errors import MissingLibrary, UnreadableImage
from models.ocr.port import Line, Reading
from models.quiet import quiet


class RapidOcr:
    """Loads the models with the first picture."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return "rapidocr"

    def read(self, image: bytes) -> Reading:
        with self._lock, quiet(deque[str](maxlen=20)):
            try:
                found: Any = self._loaded()(image)
            except (ValueError, OSError, TypeError, AttributeError) as error:
                raise UnreadableImage("Not a picture", f"No picture could be read there: {error}") from error
        if found.txts is None:
            return Reading("rapidocr", ())
        return Reading("rapidocr", tuple(map(_line, found.txts, found.boxes, found.scores)))

    def _loaded(self) -> Any:
        if self._engine is None:
            try:
                library: Any = importlib.import_module("rapidocr")
            except ImportError as error:
                raise MissingLibrary(
                    "rapidocr is not installed",
                    f"Reading a picture's words needs the library rapidocr ({error}).",
                    f"Install it with: {install_extra('rapidocr')}",
                ) from error
            self._engine = library.RapidOCR(params={"Global.log_level": "critical"})
        return self._engine


def _line(text: Any, box: Any, score: Any) -> Line:
    across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
    return Line(str(text), (min(across), min(down), max(across), max(down)), float(score))
