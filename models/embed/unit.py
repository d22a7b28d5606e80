"""Raw vectors into rows of unit length; what cannot be one is refused."""

import numpy as np
from numpy.typing import NDArray

from models.embed.errors import bad_vector_of_text, bad_vectors


def to_unit(raw: NDArray[np.floating], who: str, dimensions: int = 0) -> NDArray[np.float32]:
    """float32 (n, d): the first `dimensions` of each row (0: all), of length 1. Raises EmbedError."""
    if dimensions > raw.shape[1]:
        raise bad_vectors(who, f"gives {raw.shape[1]:,} numbers a text, fewer than embed.dimensions ({dimensions:,})")
    rows = np.asarray(raw[:, :dimensions] if dimensions else raw, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise bad_vector_of_text(who, "gave a vector with numbers that are none (NaN or infinite)")
    if not (lengths > 1e-12).all():
        raise bad_vector_of_text(who, "gave a vector of zeros")
    return (rows / lengths).astype(np.float32)
