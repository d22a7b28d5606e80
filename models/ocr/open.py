"""Which engine reads pictures here. Looks for what is installed, and loads nothing."""

from importlib.util import find_spec

from models.ocr.port import OcrEngine


def installed_engine() -> OcrEngine | None:
    """The engine at hand, unloaded; None where there is none."""
    if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
        return None
    from models.ocr.rapidocr import RapidOcr

    return RapidOcr()
