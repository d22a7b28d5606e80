"""The port of every embedder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from foundation.privacy import Cleared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """A row a text, each of unit length."""


class Embedder(Protocol):
    """Turns texts into vectors. Blocks; may be called from several threads. Loads or sends nothing before the first
    text."""

    @property
    def name(self) -> str:
        """Identifies its vectors: contains everything that would change the vector of a text."""
        ...

    @property
    def remote(self) -> bool:
        """Whether the text leaves this machine."""
        ...

    def embed(self, texts: Sequence[Cleared], *, query: bool = False) -> "Vectors":
        """float32 (texts, dimensions), rows of unit length. Texts are cleared, since they may leave this machine.

        A `query` is a question, whose asker waits.

        Raises EmbedError; an error for one text of several is raised for that text alone, too.
        """
        ...

    def close(self) -> None:
        """Releases the model or the connection. The embedder cannot be used afterwards."""
        ...
