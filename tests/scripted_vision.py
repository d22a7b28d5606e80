"""A tiny Qwen3-VL that says exactly what a test wants, through the real mlx-vlm: its encoder runs, its weights are few.

As in tests/scripted_models.py: one-hot embeddings, attention and MLP that put out zeros, and an output matrix that is a
table from each word to the next. Pictures go through the real image processor and the vision tower.
"""

import importlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests import scripted_models

VISION_SPECIALS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' or 'image' in part or 'image_url' in part %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def scripted_qwen3_vl(folder: Path, reply: str, *, context: int = 32_768) -> Path:
    """A folder that mlx-vlm loads as Qwen3-VL, and whose greedy answer to anything is `reply`."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from transformers import PreTrainedTokenizerFast

    words = scripted_models._words(reply)
    scripted_models.byte_tokenizer(folder, words, TEMPLATE)
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(str(folder))
    tokenizer.add_special_tokens({"additional_special_tokens": list(VISION_SPECIALS)})
    tokenizer.save_pretrained(str(folder))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    size, end = len(tokenizer), tokenizer.convert_tokens_to_ids("<|im_end|>")
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in VISION_SPECIALS}
    width = -(-size // 64) * 64
    config = _config(size, width, context, ids, end)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text(json.dumps(_PICTURES))
    (folder / "processor_config.json").write_text(json.dumps({"processor_class": "Qwen3VLProcessor"}))
    module = importlib.import_module("mlx_vlm.models.qwen3_vl")
    model = module.Model(module.ModelConfig.from_dict(json.loads(json.dumps(config))))
    weights: dict[str, Any] = dict(tree_flatten(model.parameters()))
    for name, value in list(weights.items()):  # the next token depends on the last one alone
        if "language_model" in name and ("o_proj" in name or "down_proj" in name):
            weights[name] = mx.zeros_like(value)
    embedding, head = mx.eye(size, width), mx.zeros((size, width))
    newline = tokenizer.convert_tokens_to_ids("Ċ")
    for here, after in pairwise([newline, *(tokenizer.convert_tokens_to_ids(word) for word in words), end]):
        head[after] = head[after] + 10 * embedding[here]
    weights["language_model.model.embed_tokens.weight"] = embedding
    weights["language_model.lm_head.weight"] = head
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    return folder


_PICTURES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "patch_size": 16,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "min_pixels": 65_536,
    "max_pixels": 16_777_216,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def _config(size: int, width: int, context: int, ids: dict[str, int], end: int) -> dict[str, Any]:
    text = {
        "model_type": "qwen3_vl_text",
        "num_hidden_layers": 1,
        "hidden_size": width,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "rms_norm_eps": 1e-6,
        "vocab_size": size,
        "rope_theta": 1e4,
        "max_position_embeddings": context,
        "rope_scaling": {"rope_type": "default", "mrope_section": [8, 4, 4]},
        "tie_word_embeddings": False,
    }
    vision = {
        "model_type": "qwen3_vl",
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 32,
        "out_hidden_size": width,
        "num_heads": 2,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "in_channels": 3,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [],
    }
    return {
        "model_type": "qwen3_vl",
        "text_config": text,
        "vision_config": vision,
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
        "vocab_size": size,
        "eos_token_id": [end],
        "tie_word_embeddings": False,
    }
