"""Embedders of a search: the current one, and the previous one, whose vectors are used until the new ones exist."""

from collections.abc import Callable
from typing import Self

from msgspec import Struct

from models.embed.port import Embedder

Opens = Callable[[], Embedder | None]
"""Opens an embedder; None where none is configured. Raises PalimpsestError."""


def _no_embedder() -> None:
    return None


class EmbedderSet(Struct, frozen=True):
    """`now` embeds; the vectors of `before` serve until its own are complete. Each is opened on first use."""

    now: Opens = _no_embedder
    before: Opens = _no_embedder

    @classmethod
    def of(cls, embedder: Embedder, before: Embedder | None = None) -> Self:
        """A set of embedders that are open already. The caller closes them."""
        return cls(lambda: embedder, lambda: before)
