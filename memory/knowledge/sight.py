"""What reads words in pictures here: the OCR engine that is installed, found when the first picture is met."""

from collections.abc import Callable
from functools import cache

from memory.knowledge.readers.document import Sight
from models.ocr.open import installed_engine


@cache
def installed_sight() -> Sight | None:
    """The engine at hand; None where there is none."""
    engine = installed_engine()
    if engine is None:
        return None
    read: Callable[[bytes], str] = lambda image: engine.read(image).text  # noqa: E731
    return Sight(engine.name, read)
