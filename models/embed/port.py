"""The port of what turns texts into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from foundation.privacy import Cleared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """A row a text, each of unit length."""


class Embedder(Protocol):
    """Blocks; may be called from several threads at once. Loads or asks nothing before the first text."""

    @property
    def name(self) -> str:
        """What its vectors are known by: whatever would make another vector of the same text is in it."""
        ...

    @property
    def remote(self) -> bool:
        """Whether the text leaves this machine."""
        ...

    def embed(self, texts: Sequence[Cleared], *, query: bool = False) -> "Vectors":
        """float32 (texts, dimensions), rows of unit length. Texts are cleared, for they may leave this machine.

        A `query` is a question, whose asker waits.

        Raises EmbedError; what it raises for one text of several it raises for that text alone, too.
        """
        ...

    def close(self) -> None:
        """Lets go of the model or the connection. The embedder cannot be used after."""
        ...
