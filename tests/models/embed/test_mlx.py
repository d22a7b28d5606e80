"""Vectors by the real mlx, on a CPU, of models that are made here."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from models.embed import mlx
from models.embed.errors import EmbedError
from models.embed.mlx import MlxEmbedder
from models.embed.settings import EmbedSettings
from models.mlx_thread import JobPriority, MlxThread, mlx_thread
from tests.models.embed.conftest import Opened
from tests.models.embed.tiny_models import bert_folder
from tests.scripted_models import scripted_mlx_chat

pytest.importorskip("mlx", reason="mlx has no build for this platform")
pytest.importorskip("safetensors")

TEXTS = ["tea", "the warranty of the boiler", "", "coffee tea coffee tea the of the", "boiler", "ferry lisbon"] * 2


def test_mlx_and_onnx_agree_on_the_same_weights(folder: Path, opened: Opened) -> None:
    pytest.importorskip("onnxruntime")
    bert_folder(folder)
    by_onnx, by_mlx = opened(f"onnx:{folder}").embed(TEXTS), opened(f"mlx:{folder}").embed(TEXTS)
    assert np.allclose(by_onnx, by_mlx, atol=1e-4)


def test_a_batch_gives_what_each_text_gives_alone(folder: Path, opened: Opened) -> None:
    embedder = opened(f"mlx:{bert_folder(folder, onnx=False)}")
    alone = np.concatenate([embedder.embed([text], query=True) for text in TEXTS])
    assert np.allclose(embedder.embed(TEXTS), alone, atol=1e-5)


def test_roberta_counts_its_places_from_behind_the_padding(folder: Path, tmp_path: Path, opened: Opened) -> None:
    """The same weights, the table of places shifted: the same vectors."""
    from safetensors.numpy import load_file, save_file

    bert_folder(folder, onnx=False)
    shifted = tmp_path / "roberta"
    bert_folder(shifted, onnx=False, model_type="xlm-roberta", pad_token_id=1, max_position_embeddings=66)
    weights = load_file(folder / "model.safetensors")
    places = "embeddings.position_embeddings.weight"
    weights[places] = np.concatenate([np.zeros((2, 16), np.float32), weights[places]])
    save_file({f"roberta.{name}": weight for name, weight in weights.items()}, shifted / "model.safetensors")
    assert np.allclose(opened(f"mlx:{folder}").embed(TEXTS), opened(f"mlx:{shifted}").embed(TEXTS), atol=1e-5)


def test_a_quantised_model_is_close_to_the_whole(folder: Path, tmp_path: Path, opened: Opened) -> None:
    import mlx.core as mx
    from safetensors.numpy import load_file

    bert_folder(folder, onnx=False, hidden_size=64, intermediate_size=64)
    small = bert_folder(tmp_path / "small", onnx=False, hidden_size=64, intermediate_size=64)
    config = json.loads((small / "config.json").read_text())
    config["quantization"] = {"group_size": 64, "bits": 8}
    (small / "config.json").write_text(json.dumps(config))

    def quantised() -> None:
        found = {}
        for name, weight in load_file(small / "model.safetensors").items():
            whole = mx.array(weight)
            if weight.ndim == 2 and ("dense" in name or "self" in name or "word_embeddings" in name):
                stem = name.removesuffix(".weight")
                parts = mx.quantize(whole, group_size=64, bits=8)
                found |= dict(zip((f"{stem}.weight", f"{stem}.scales", f"{stem}.biases"), parts, strict=True))
            else:
                found[name] = whole
        mx.save_safetensors(str(small / "model.safetensors"), found)

    mlx_thread().run(JobPriority.EMBEDDING, quantised).result()
    whole, less = opened(f"mlx:{folder}").embed(TEXTS), opened(f"mlx:{small}").embed(TEXTS)
    assert ((whole * less).sum(axis=1) > 0.99).all()
    assert not np.array_equal(whole, less)


def test_a_model_of_mlx_lm_embeds_by_its_last_token(folder: Path, opened: Opened) -> None:
    pytest.importorskip("mlx_lm")
    scripted_mlx_chat(folder, "so be it")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["Qwen3ForCausalLM"]}))
    found = opened(f"mlx:{folder}").embed(["xa", "ya", "xb", "a much longer text in the same batch: a"])
    assert np.allclose(found[0], found[1], atol=1e-5)  # its hidden states are one-hot: the last letter is the vector
    assert np.allclose(found[0], found[3], atol=1e-5)
    assert found[0] @ found[2] < 0.1


def test_a_folder_that_is_none_is_a_sentence(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(EmbedError, match="not in the local Hugging Face cache"):
        opened(f"mlx:{tmp_path / 'nowhere'}")


def test_a_broken_checkpoint_is_a_sentence(folder: Path, opened: Opened) -> None:
    bert_folder(folder, onnx=False)
    (folder / "model.safetensors").unlink()
    with pytest.raises(EmbedError, match="safetensors"):
        opened(f"mlx:{folder}").embed(["tea"])


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_chat_goes_first_and_a_question_does_not_wait_for_it(
    is_loaded: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlx, "LOADING_S", 0.2)
    thread = MlxThread()
    embedder = MlxEmbedder(str(bert_folder(folder, onnx=False)), EmbedSettings(query_timeout=0.2), thread)
    if is_loaded:
        embedder.embed(["tea"])
    ended = threading.Event()
    chat = thread.run(JobPriority.CHAT, lambda: ended.wait(5))
    try:
        began = time.monotonic()
        with pytest.raises(EmbedError, match="another request") as caught:
            embedder.embed(["tea"], query=True)
        assert time.monotonic() - began < 2
        assert caught.value.passing
    finally:
        ended.set()
    chat.result()
    assert embedder.embed(["tea"]).shape == (1, 16)
    embedder.close()
    thread.close()
