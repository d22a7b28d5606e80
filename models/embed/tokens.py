"""Tokenises texts in batches of similar length, so that little is spent on padding."""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from foundation.install_hints import install_extra
from models.embed.errors import EmbedError
from models.embed.manifest import EmbeddingRecipe
from models.errors import MissingLibrary


class TokenBatch(Struct, frozen=True):
    """`rows` says which texts they are; ids and mask are int64 (rows, length), padded at the right."""

    rows: list[int]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class TextTokens:
    """The tokenizer of a folder (tokenizer.json, of the library tokenizers)."""

    def __init__(self, folder: Path, recipe: EmbeddingRecipe) -> None:
        try:
            library: Any = importlib.import_module("tokenizers")
        except ImportError as error:
            raise MissingLibrary(
                "tokenizers is not installed",
                f"Local embedding models need the library tokenizers ({error}).",
                f"Install it with: {install_extra('embed')}",
            ) from error
        try:
            self._tokenizer: Any = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises a bare Exception for a file it cannot read
            raise EmbedError(
                "No tokenizer",
                f"{folder / 'tokenizer.json'} cannot be read: {error}.",
                "The folder must contain the model's tokenizer.json.",
            ) from error
        self._tokenizer.enable_truncation(recipe.most_tokens)
        self._tokenizer.no_padding()
        self._pad = recipe.pad

    def batches(self, texts: Sequence[str], most: int) -> Iterator[TokenBatch]:
        """Batches of at most `most` texts, shortest first."""
        encodable = [text.encode("utf-8", "replace").decode() for text in texts]
        token_ids: list[list[int]] = [
            list(encoding.ids) or [self._pad] for encoding in self._tokenizer.encode_batch(encodable)
        ]
        order = sorted(range(len(token_ids)), key=lambda row: len(token_ids[row]))
        for start in range(0, len(order), most):
            rows = order[start : start + most]
            length = max(len(token_ids[row]) for row in rows)
            ids = np.full((len(rows), length), self._pad, np.int64)
            mask = np.zeros((len(rows), length), np.int64)
            for index, row in enumerate(rows):
                ids[index, : len(token_ids[row])] = token_ids[row]
                mask[index, : len(token_ids[row])] = 1
            yield TokenBatch(rows, ids, mask)


def pool_states(states: NDArray[Any], mask: NDArray[np.int64], recipe: EmbeddingRecipe) -> NDArray[Any]:
    """(texts, dimensions) of hidden states (texts, length, dimensions)."""
    match recipe.pooling:
        case "first":
            return states[:, 0]
        case "last":
            return states[np.arange(len(states)), mask.sum(axis=1) - 1]
        case "mean":
            return (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
