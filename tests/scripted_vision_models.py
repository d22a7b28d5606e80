"""Tiny vision models that answer with a scripted reply: DeepSeek-OCR and Qwen3-VL, for the real mlx-vlm."""

import importlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.scripted_models import byte_tokenizer, words_of

DEEPSEEK_SPECIALS = (
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<｜▁pad▁｜>",
    "<image>",
    "<|ref|>",
    "<|/ref|>",
    "<|det|>",
    "<|/det|>",
    "<|grounding|>",
    "<|User|>",
    "<|Assistant|>",
)
VISION_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for part in m['content'] %}{% if part['type'] in ('image', 'image_url') %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VISION_SPECIALS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")


def shrink_deepseek_ocr(version: int, monkeypatch: Any) -> None:
    """DeepSeek-OCR's encoders have their sizes in mlx-vlm's code, not in the checkpoint: for a tiny one they shrink."""
    if version == 2:
        target = importlib.import_module("mlx_vlm.models.deepseekocr_2.deepseekocr_2")
        vision = importlib.import_module("mlx_vlm.models.deepseekocr_2.vision")
        whole = vision.Qwen2EncoderConfig

        def encoder(**given: Any) -> Any:
            return whole(**{**given, "layers": 1, "heads": 14, "kv_heads": 2, "intermediate_size": 64})

        monkeypatch.setattr(vision, "Qwen2EncoderConfig", encoder)
    else:
        target = importlib.import_module("mlx_vlm.models.deepseekocr.deepseekocr")
    sam = importlib.import_module("mlx_vlm.models.deepseekocr.config").SAMViTConfig
    monkeypatch.setattr(target, "SAMViTConfig", lambda: sam(width=32, layers=1, heads=2, global_attn_indexes=[]))


def scripted_deepseek_ocr(folder: Path, reply: str | None, *, version: int = 2, loops: bool = False) -> Path:
    """A tiny float32 DeepSeek-OCR that mlx_vlm loads (after shrink_deepseek_ocr) and that reads `reply` on any picture.

    Its attention, MLPs and experts put out zeros, so that a token depends on the one before alone. With `loops` its
    last word leads back to its first; without a reply its weights are random throughout.
    """
    import mlx.core as mx
    from mlx.utils import tree_flatten

    words = words_of(reply) if reply else []
    tokenizer = _deepseek_tokenizer(folder, words)
    size = tokenizer.get_vocab_size()
    width = max(64, -(-size // 64) * 64)
    config = _deepseek_config(tokenizer, width, version)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "processor_config.json").write_text(json.dumps(_deepseek_processor(version)))
    module = importlib.import_module(f"mlx_vlm.models.{config['model_type']}")
    mx.random.seed(0)
    model = module.Model(module.ModelConfig.from_dict(json.loads(json.dumps(config))))
    weights: dict[str, Any] = {}
    for name, value in tree_flatten(model.parameters()):
        noise = mx.random.normal(value.shape) * 0.02 if not value.any().item() else value
        silent = reply is not None and "language_model" in name and ("o_proj" in name or "down_proj" in name)
        weights[name] = (mx.zeros_like(value) if silent else noise).astype(mx.float32)
    if reply is not None:
        embedding, head = mx.eye(size, width), mx.zeros((size, width))
        ids = [tokenizer.token_to_id(word) for word in words]
        end = ids[0] if loops else tokenizer.token_to_id("<｜end▁of▁sentence｜>")
        for here, after in pairwise([tokenizer.token_to_id("."), *ids, end]):
            head[after] = head[after] + 10 * embedding[here]
        weights["language_model.model.embed_tokens.weight"] = embedding
        weights["language_model.lm_head.weight"] = head
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    return folder


def _deepseek_tokenizer(folder: Path, words: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for word in words:
        vocabulary.setdefault(word, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(DEEPSEEK_SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": DEEPSEEK_SPECIALS[1],
        "pad_token": DEEPSEEK_SPECIALS[2],
        "model_max_length": 8192,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tokenizer


def _deepseek_config(tokenizer: Any, width: int, version: int) -> dict[str, Any]:
    two = version == 2
    text = {
        "model_type": "deepseek_v2",
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": width,
        "intermediate_size": 64,
        "moe_intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "n_shared_experts": 1,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "first_k_dense_replace": 1,
        "q_lora_rank": None,
        "kv_lora_rank": None,
        "qk_nope_head_dim": 0,
        "qk_rope_head_dim": 0,
        "v_head_dim": 0,
        "max_position_embeddings": 8192,
        "topk_method": "greedy",
    }
    first = {"layers": 1, "hidden_size": 1024, "intermediate_size": 64, "num_attention_heads": 16, "image_size": 224}
    second = {
        "image_size": 1024,
        "mlp_ratio": 3.7362,
        "width": {"qwen2-0-5b": {"dim": 896}, "sam_vit_b": {"layers": 12, "width": 768}},
    }
    return {
        "model_type": "deepseekocr_2" if two else "deepseekocr",
        "language_config": text,
        "vision_config": {"model_type": "vision", **(second if two else {**first, "patch_size": 14})},
        "image_token_index": tokenizer.token_to_id("<image>"),
        "projector_config": {
            "model_type": "mlp_projector",
            "projector_type": "linear",
            "input_dim": 896 if two else 2048,
            "n_embed": width,
        },
        "pad_id": tokenizer.token_to_id(DEEPSEEK_SPECIALS[2]),
        "vocab_size": text["vocab_size"],
        "tile_tag": "2D",
        "global_view_pos": "head",
        "eos_token_id": [tokenizer.token_to_id(DEEPSEEK_SPECIALS[1])],
        "torch_dtype": "float32",
        "candidate_resolutions": [[1024, 1024]],
    }


def _deepseek_processor(version: int) -> dict[str, Any]:
    """Without it mlx-vlm takes the bare tokenizer, and says nothing."""
    return {
        "processor_class": "DeepseekOCR2Processor" if version == 2 else "DeepseekOCRProcessor",
        "candidate_resolutions": [[1024, 1024]],
        "patch_size": 16,
        "downsample_ratio": 4,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "normalize": True,
        "image_token": "<image>",
        "pad_token": DEEPSEEK_SPECIALS[2],
        "add_special_token": False,
        "sft_format": "deepseek",
        "mask_prompt": False,
        "ignore_id": -100,
    }


def scripted_qwen3_vl(folder: Path, reply: str, *, context: int = 8192) -> Path:
    """A tiny Qwen3-VL that mlx_vlm and mlx_vlm.server load: it sees pictures, and its answer to anything is `reply`."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from tokenizers import Tokenizer

    words = words_of(reply)
    byte_tokenizer(folder, words, VISION_CHATML)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(list(VISION_SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))
    size, end = tokenizer.get_vocab_size(), tokenizer.token_to_id("<|im_end|>")
    width = -(-size // 64) * 64
    config = _qwen3_vl_config(tokenizer, width, context)
    (folder / "config.json").write_text(json.dumps(config))
    picture = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": 1024, "max_pixels": 1048576}
    (folder / "preprocessor_config.json").write_text(
        json.dumps({**picture, "image_mean": [0.5] * 3, "image_std": [0.5] * 3})
    )
    module = importlib.import_module("mlx_vlm.models.qwen3_vl")
    mx.random.seed(0)
    model = module.Model(module.ModelConfig.from_dict(json.loads(json.dumps(config))))
    weights: dict[str, Any] = {}
    for name, value in tree_flatten(model.parameters()):
        silent = "language_model" in name and ("o_proj" in name or "down_proj" in name)
        weights[name] = (mx.zeros_like(value) if silent else value).astype(mx.float32)
    embedding, head = mx.eye(size, width), mx.zeros((size, width))
    for here, after in pairwise([tokenizer.token_to_id("Ċ"), *(tokenizer.token_to_id(word) for word in words), end]):
        head[after] = head[after] + 10 * embedding[here]
    weights["language_model.model.embed_tokens.weight"], weights["language_model.lm_head.weight"] = embedding, head
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    return folder


def _qwen3_vl_config(tokenizer: Any, width: int, context: int) -> dict[str, Any]:
    text = {
        "model_type": "qwen3_vl_text",
        "num_hidden_layers": 1,
        "hidden_size": width,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "vocab_size": tokenizer.get_vocab_size(),
        "rope_theta": 1e4,
        "max_position_embeddings": context,
        "rope_scaling": {"type": "default", "mrope_section": [4, 2, 2]},
        "tie_word_embeddings": False,
    }
    vision = {
        "model_type": "qwen3_vl",
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 64,
        "out_hidden_size": width,
        "num_heads": 2,
        "patch_size": 16,
        "spatial_patch_size": 16,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": [],
    }
    return {
        "model_type": "qwen3_vl",
        "text_config": text,
        "vision_config": vision,
        "image_token_id": tokenizer.token_to_id("<|image_pad|>"),
        "video_token_id": tokenizer.token_to_id("<|video_pad|>"),
        "vision_start_token_id": tokenizer.token_to_id("<|vision_start|>"),
        "vision_end_token_id": tokenizer.token_to_id("<|vision_end|>"),
        "vocab_size": tokenizer.get_vocab_size(),
        "eos_token_id": [tokenizer.token_to_id("<|im_end|>")],
        "torch_dtype": "float32",
    }
