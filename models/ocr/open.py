"""Selects the OCR engine by what is installed, and loads nothing."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec

from foundation.errors import Misuse
from models.ocr.port import Consent, OcrEngine
from models.settings import ModelSettings

ENGINES = ("rapidocr", "tesseract", "deepseek", "server")
"""Every engine there is, by name."""


def engine_named(
    name: str,
    settings: ModelSettings | None = None,
    env: Mapping[str, str] | None = None,
    consent: Consent | None = None,
) -> OcrEngine:
    """The engine of that name, not yet loaded.

    `consent` is asked before Python from a checkpoint runs; without it, `models.run_checkpoint_code` decides. Raises
    Misuse for an unknown name; a missing library is reported at the first use.
    """
    settings = settings or ModelSettings()
    match name:
        case "rapidocr":
            from models.ocr.rapidocr import RapidOcr

            return RapidOcr(fast=settings.ocr_fast)
        case "tesseract":
            from models.ocr.tesseract import Tesseract

            return Tesseract()
        case "deepseek":
            from models.ocr.deepseek import DeepSeek

            return DeepSeek(settings.ocr_checkpoint, consent=consent, may_run_code=settings.run_checkpoint_code)
        case "server":
            from models.ocr.server import VisionServer

            return VisionServer(settings.ocr_server, settings=settings, env=env or {})
        case _:
            raise Misuse("OCR engine", f"No OCR engine is named “{name}”.", f"Choose one of {', '.join(ENGINES)}.")


def installed_engine(
    settings: ModelSettings | None = None, env: Mapping[str, str] | None = None, consent: Consent | None = None
) -> OcrEngine | None:
    """The engine that `models.ocr_engine` names, else the first installed of rapidocr and tesseract, else None.

    Engines that take minutes (deepseek) or send the picture away (server) are used only by name.
    """
    chosen = settings.ocr_engine if settings else "auto"
    if chosen != "auto":
        return engine_named(chosen, settings, env, consent)
    at_hand = next((name for name in ("rapidocr", "tesseract") if is_installed(name)), None)
    return engine_named(at_hand, settings, env, consent) if at_hand else None


def image_text_reader(
    settings: ModelSettings | None = None, env: Mapping[str, str] | None = None
) -> Callable[[bytes], str] | None:
    """Reads a picture's text by the engine of `installed_engine`; None without one."""
    engine = installed_engine(settings, env)
    return None if engine is None else lambda image: engine.read(image).text


def is_installed(name: str) -> bool:
    """Whether the engine's library is installed. A server needs none."""
    needs = {"rapidocr": ("rapidocr", "onnxruntime"), "tesseract": ("tesserocr",), "deepseek": ("mlx_vlm",)}
    return all(find_spec(module) is not None for module in needs.get(name, ()))
