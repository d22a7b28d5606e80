"""The OCR engine for adding files: the one that was chosen, or is installed."""

from collections.abc import Mapping

from foundation.errors import PalimpsestError
from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.document import OcrReader
from models.ocr.open import installed_engine
from models.settings import ModelSettings


def installed_ocr_reader(
    settings: ModelSettings | None = None, env: Mapping[str, str] | None = None
) -> OcrReader | None:
    """The installed engine, not yet loaded; None where there is none. It raises UnreadableDocument for bad images."""
    engine = installed_engine(settings, env)
    if engine is None:
        return None

    def words(image: bytes) -> str:
        try:
            return engine.read(image).text
        except PalimpsestError as error:
            raise UnreadableDocument(
                f"{engine.name} could not read it: {error.message.rstrip('.')}", error.hint
            ) from error

    return OcrReader(engine.name, words)
