"""Encodes and decodes `/v1/embeddings`, and normalises vectors. Pure: bytes in, bytes out, or a sentence.

Raw vectors become rows of unit length; invalid ones are refused.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from models.chat.errors import parse_error_body, shorten
from models.embed.errors import EmbedError, bad_vector_of_text, bad_vectors

MOST_NUMBERS = 65_536  # of one vector


class EmbeddingRow(Struct, frozen=True):
    embedding: list[float | None] | str
    index: int | None = None


class EmbeddingsResponse(Struct, frozen=True):
    data: list[EmbeddingRow]


def request_body(model: str, texts: Sequence[str], dimensions: int = 0) -> bytes:
    """`dimensions` 0 leaves their number to the model. A lone surrogate, which UTF-8 cannot carry, becomes a mark."""
    encodable = [text.encode("utf-8", "replace").decode() for text in texts]
    body: dict[str, object] = {"model": model, "input": encodable, "encoding_format": "float"}
    if dimensions:
        body["dimensions"] = dimensions
    return msgspec.json.encode(body)


def read_answer(body: bytes, count: int, source: str) -> NDArray[np.float64]:
    """(count, d), in the order of the texts. Raises EmbedError with what is wrong about it."""
    if body.count(b",") > count * MOST_NUMBERS + 1_000_000 or body.count(b"[") + body.count(b"{") > 4 * count + 100_000:
        raise bad_vectors(source, f"sent far more values than {count:,} vectors have")
    try:
        answer = msgspec.json.decode(body, type=EmbeddingsResponse)
    except RecursionError:
        raise bad_vectors(source, "answered with JSON that is nested too deep") from None
    except msgspec.ValidationError:
        raise _no_vectors(body, source) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        shown = shorten(body[:300].decode("utf-8", "replace")) or "nothing"
        raise bad_vectors(source, f"answered with something that is not JSON: {shown}") from None
    rows = _in_order(answer.data, count, source)
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not min(lengths):
        raise bad_vectors(source, f"sent vectors of different lengths ({', '.join(map(str, sorted(lengths)))} numbers)")
    if any(number is None for row in rows for number in row):
        raise bad_vector_of_text(source, "sent a vector that contains null")
    return np.array(rows, np.float64)


def _in_order(rows: Sequence[EmbeddingRow], count: int, source: str) -> list[list[float | None]]:
    if len(rows) != count:
        raise bad_vectors(source, f"sent {len(rows):,} vectors for {count:,} texts")
    if all(row.index is None for row in rows):
        ordered = list(rows)
    else:
        ordered = sorted(rows, key=lambda row: -1 if row.index is None else row.index)
        if [row.index for row in ordered] != list(range(count)):
            raise bad_vectors(source, "numbered its vectors ambiguously")
    vectors = [row.embedding for row in ordered if isinstance(row.embedding, list)]
    if len(vectors) != count:
        raise bad_vectors(source, "sent base64 vectors, although numbers were requested")
    return vectors


def _no_vectors(body: bytes, source: str) -> EmbedError:
    code, message = parse_error_body(body)
    if body.lstrip().startswith(b"{") and b'"error"' in body:
        return bad_vectors(source, f"answered with an error: {shorten(f'{code} {message}'.strip())}")
    return bad_vectors(source, f"answered with JSON without vectors: {shorten(body[:300].decode('utf-8', 'replace'))}")


def normalise(raw: NDArray[np.floating], source: str, dimensions: int = 0) -> NDArray[np.float32]:
    """float32 (n, d): the first `dimensions` of each row (0: all), of length 1. Raises EmbedError."""
    if dimensions > raw.shape[1]:
        raise bad_vectors(
            source, f"sends vectors of {raw.shape[1]:,} numbers, fewer than embed.dimensions ({dimensions:,})"
        )
    rows = np.asarray(raw[:, :dimensions] if dimensions else raw, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise bad_vector_of_text(source, "sent a vector that contains NaN or infinity")
    if not (lengths > 1e-12).all():
        raise bad_vector_of_text(source, "sent a vector of zeros")
    return (rows / lengths).astype(np.float32)
