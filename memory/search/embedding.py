"""Choice of embedders: the current one, and the previous one, whose vectors are used until the new ones exist."""

from collections.abc import Callable
from typing import Self

from msgspec import Struct

from models.embed.port import Embedder

Opens = Callable[[], Embedder | None]
"""Opens an embedder, or raises PalimpsestError; None where there is none."""


def _nobody() -> None:
    return None


class EmbedderSet(Struct, frozen=True):
    """`now` embeds; the vectors of `before` serve until its own are made. Each is opened when it is first needed."""

    now: Opens = _nobody
    before: Opens = _nobody

    @classmethod
    def of(cls, embedder: Embedder, before: Embedder | None = None) -> Self:
        """These very embedders; whoever made them closes them."""
        return cls(lambda: embedder, lambda: before)
