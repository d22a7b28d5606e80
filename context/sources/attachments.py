"""Reads the text in pictures, for models that see none, with the installed OCR engine, loaded on first use."""

import hashlib
import threading
from functools import cached_property

from context.layers.message import ReadImage
from models.ocr.open import installed_engine
from models.ocr.port import OcrEngine

REMEMBERED = 8  # pictures: one request may be assembled more than once


class PictureReader:
    """Finds the engine once, and caches what it read last; it reads one picture at a time.

    `given` replaces the installed engine.
    """

    def __init__(self, given: ReadImage | None = None) -> None:
        self._given = given
        self._read: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def read_image(self) -> ReadImage | None:
        """Reads the text in a picture; None where no engine is installed."""
        return self._remembered if self._given or self._engine else None

    @cached_property
    def _engine(self) -> OcrEngine | None:
        return installed_engine()

    def _remembered(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        with self._lock:
            if key not in self._read:
                if len(self._read) >= REMEMBERED:
                    self._read.pop(next(iter(self._read)))
                self._read[key] = self._words(data)
            return self._read[key]

    def _words(self, data: bytes) -> str:
        if self._given:
            return self._given(data)
        return self._engine.read(data).text if self._engine else ""
