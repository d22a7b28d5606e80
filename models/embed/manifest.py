"""Settings of an embedding model, from the files that sentence-transformers writes into its folder.

`1_Pooling/config.json` says which hidden states make the vector, `sentence_bert_config.json` how much text the model
was made for, `config_sentence_transformers.json` the prefix of a question. The defaults are those of most models: the
mean of all tokens, 512 of them, no prefix.
"""

import hashlib
import json
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct

from foundation.bounded_json import Json
from models.embed.settings import EmbedSettings

Pooling = Literal["mean", "first", "last"]
MOST_TOKENS = 512  # passages are of 200 and less
_SAMPLE = 65_536  # bytes of each end of a file that tell it from another


class EmbeddingRecipe(Struct, frozen=True, kw_only=True):
    """How this model turns a text into a vector."""

    pooling: Pooling = "mean"
    most_tokens: int = MOST_TOKENS
    pad: int = 0
    query_prefix: str = ""
    text_prefix: str = ""


def recipe_of(folder: Path, settings: EmbedSettings) -> EmbeddingRecipe:
    """The folder's recipe; a prefix that the user set takes precedence."""
    config = read_json(folder / "config.json")
    prompts = _object(read_json(folder / "config_sentence_transformers.json").get("prompts"))
    query = next((str(prompts[key]) for key in ("query", "search_query") if prompts.get(key)), "")
    text = next((str(prompts[key]) for key in ("document", "passage", "search_document") if prompts.get(key)), "")
    return EmbeddingRecipe(
        pooling=_pooling(read_json(folder / "1_Pooling" / "config.json"), config),
        most_tokens=_most_tokens(folder, config),
        pad=config["pad_token_id"] if isinstance(config.get("pad_token_id"), int) else 0,
        query_prefix=query if settings.query_prefix is None else settings.query_prefix,
        text_prefix=text if settings.text_prefix is None else settings.text_prefix,
    )


def fingerprint(paths: list[Path], recipe: EmbeddingRecipe, settings: EmbedSettings) -> str:
    """12 hex digits: of the sizes and ends of the files (a whole checkpoint takes seconds), and of their recipe."""
    digest = hashlib.sha256(f"{recipe} {settings.dimensions}".encode())
    for path in paths:
        with path.open("rb") as file:
            size = path.stat().st_size
            digest.update(f"{path.name} {size}".encode() + file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:12]


def read_json(path: Path) -> Json:
    """The object in a file; empty where there is none."""
    try:
        return _object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _pooling(pooling_config: Json, config: Json) -> Pooling:
    if pooling_config.get("pooling_mode_cls_token"):
        return "first"
    if pooling_config.get("pooling_mode_lasttoken"):
        return "last"
    return "last" if not pooling_config and "CausalLM" in str(config.get("architectures")) else "mean"


def _most_tokens(folder: Path, config: Json) -> int:
    limit = read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = config.get("max_position_embeddings")
    bounds = [MOST_TOKENS]
    if isinstance(limit, int) and limit > 0:
        bounds.append(limit)
    if isinstance(positions, int) and positions > 2:
        bounds.append(positions - 2 if "roberta" in str(config.get("model_type")) else positions)
    return min(bounds)


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
