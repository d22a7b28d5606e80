"""Finds DeepSeek-OCR on this machine, with its version and the Python files in it. Reads small files only."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from models.chat.mlx.files import find_folder, window_of

VERSIONS = {"deepseekocr": 1, "deepseekocr_2": 2}
"""`model_type` in a checkpoint's config.json → the version of DeepSeek-OCR."""

WINDOW = 8_192  # tokens: what both versions were made for


class Checkpoint(Struct, frozen=True):
    """A folder of weights. `code` are the Python files in it that loading would run, or may ask to run."""

    folder: Path
    version: int  # 1 or 2
    window: int  # tokens
    code: tuple[str, ...] = ()
    needs_code: bool = False  # its config names one of them as the model itself


def find_checkpoint(name: str, env: Mapping[str, str]) -> Checkpoint | None:
    """The checkpoint of that folder or hub name; for "", the first in the folders of LM Studio or the hub.

    Version 2 precedes 1, and full precision a quantised one. Downloads nothing.
    """
    if name:
        folder = find_folder(name)
        return _checkpoint(folder) if folder else None
    checkpoints = [checkpoint for folder in _folders(env) if (checkpoint := _checkpoint(folder))]
    return min(checkpoints, key=_preference, default=None)


def _folders(env: Mapping[str, str]) -> Iterator[Path]:
    home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    for models in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield from sorted(models.glob("*/*[Dd]eep[Ss]eek-[Oo][Cc][Rr]*"))
    hub = env.get("HF_HUB_CACHE") or (env.get("HF_HOME") or str(home / ".cache" / "huggingface")) + "/hub"
    yield from sorted(Path(hub).glob("models--*--*[Dd]eep[Ss]eek-[Oo][Cc][Rr]*/snapshots/*"))


def _checkpoint(folder: Path) -> Checkpoint | None:
    config = _json(folder / "config.json")
    version = VERSIONS.get(str(config.get("model_type", "")).lower())
    model_file = str(config.get("model_file") or "")
    if (version is None and not model_file) or not any(folder.glob("*.safetensors")):
        return None
    code_files = sorted(path.name for path in folder.glob("*.py") if path.name != model_file)
    code = (model_file, *code_files) if model_file else tuple(code_files)
    return Checkpoint(folder, version or 2, window_of(folder) or WINDOW, code, bool(model_file))


def _preference(checkpoint: Checkpoint) -> tuple[int, bool, str]:
    quantised = bool(_json(checkpoint.folder / "config.json").get("quantization"))
    return -checkpoint.version, quantised, os.fspath(checkpoint.folder)


def _json(path: Path) -> dict[str, Any]:
    try:
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
