"""Metadata of a checkpoint's folder, without loading the model: its path, window and tokenizer. Imports no mlx."""

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any, cast

from foundation.bounded_json import Json
from models.tokens import Tokenizer


def find_folder(name: str) -> Path | None:
    """The folder of this name, or of this hub name in the local cache. Downloads nothing."""
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if folder.is_absolute() or name.startswith((".", "~")):
        return None
    try:
        hub: Any = importlib.import_module("huggingface_hub")
        snapshot = Path(hub.snapshot_download(name, local_files_only=True))
    except (ImportError, OSError, ValueError):  # hub's own errors are of the last two
        return None
    return snapshot if (snapshot / "config.json").is_file() else None


def window_of(folder: Path) -> int | None:
    """`max_position_embeddings`; mlx-lm itself does not enforce it."""
    config = _json(folder / "config.json")
    for part in (config, _object(config.get("text_config")), _object(config.get("language_config"))):
        for key in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
            if isinstance(value := part.get(key), int) and value > 0:
                return value
    return None


def sampling_of(folder: Path) -> dict[str, float]:
    """The sampling that the checkpoint's maker recommends; greedy where there is none."""
    given = _json(folder / "generation_config.json")
    if not given.get("do_sample", "temperature" in given):
        return {"temp": 0.0}
    names = {"temperature": "temp", "top_p": "top_p", "top_k": "top_k", "min_p": "min_p"}
    return {"temp": 0.7} | {names[key]: value for key, value in given.items() if key in names and value is not None}


def parameters_of(folder: Path) -> float | None:
    """Billions of parameters, which mlx-lm writes beside the weights; None where it did not."""
    metadata = _object(_json(folder / "model.safetensors.index.json").get("metadata"))
    count = metadata.get("total_parameters")
    return count / 1e9 if isinstance(count, int) and count > 0 else None


def calls_tools(folder: Path) -> bool:
    """Whether the chat template offers tools, in a call format that can be parsed."""
    config = _json(folder / "tokenizer_config.json")
    named = folder / "chat_template.jinja"
    template = json.dumps(config.get("chat_template")) + (named.read_text(encoding="utf-8") if named.is_file() else "")
    return "tools" in template and ("tool_call" in template or bool(config.get("tool_parser_type")))


def tokenizer_of(folder: Path) -> Tokenizer | None:
    """The checkpoint's own tokenizer, where it has a tokenizer.json and the library is installed."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    try:
        library: Any = importlib.import_module("tokenizers")
        tokenizer: Any = library.Tokenizer.from_file(str(path))
    except Exception:  # the library raises a bare Exception for a file it cannot read
        return None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return Tokenizer(f"tokenizer-{digest}", lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def _json(path: Path) -> Json:
    try:
        return _object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
