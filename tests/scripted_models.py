"""Tiny models that say exactly what a test wants, through the real llama.cpp and the real mlx-lm.

The embeddings are one-hot, attention and MLP put out zeros, and the output matrix is a table from each word to the
next. So the greedy answer to anything is the reply, whatever was asked; its words (with the blanks before them) must
be different from one another. No merges: outside of those words a token is a byte.
"""

import importlib
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

CALLING = (  # as Hermes and Qwen write their calls; llama.cpp and mlx-lm both know them by it
    "{% if tools %}<|im_start|>system\nYou may call these functions:\n<tools>"
    "{% for tool in tools %}\n{{ tool | tojson }}"
    '{% endfor %}\n</tools>\nFor each call, return <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>'
    "<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] or '' }}"
    "{% if m.tool_calls %}{% for tool_call in m.tool_calls %}{% set tool_call = tool_call.function %}"
    '\n<tool_call>\n{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_alphabet() -> list[str]:
    """GPT-2's printable stand-ins for the 256 bytes, by byte."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)]


def _words(reply: str) -> list[str]:
    alphabet = byte_alphabet()
    words = ["".join(alphabet[byte] for byte in word.encode()) for word in re.findall(r"\s*\S+", reply)]
    if len(set(words)) != len(words):
        raise ValueError("the words of a scripted reply must be different from one another")
    return words


def scripted_gguf(path: Path, reply: str, *, context: int = 4096, template: str = CHATML) -> Path:
    """A llama.cpp model of a few MB whose greedy answer to anything is `reply`."""
    import gguf
    import numpy as np

    alphabet, words = byte_alphabet(), _words(reply)
    tokens = [*alphabet, *(word for word in words if word not in alphabet), *SPECIALS]
    index, size = {token: i for i, token in enumerate(tokens)}, len(tokens)
    heads, forward = 8, 64
    width = max(512, -(-size // 64) * 64)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(forward)
    writer.add_head_count(heads)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(size)
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (size - 3) + [3] * 3)
    writer.add_token_merges(["Ā Ā"])
    writer.add_bos_token_id(size - 3)
    writer.add_eos_token_id(size - 1)
    writer.add_pad_token_id(size - 3)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    embedding, output = np.eye(size, width, dtype=np.float32), np.zeros((size, width), np.float32)
    for here, after in pairwise([index["Ċ"], *(index[word] for word in words), size - 1]):
        output[after] += 10 * embedding[here]
    head = width // heads
    shapes = {
        "attn_q": (width, width),
        "attn_k": (head, width),
        "attn_v": (head, width),
        "attn_output": (width, width),
        "ffn_gate": (forward, width),
        "ffn_up": (forward, width),
        "ffn_down": (width, forward),
    }
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    for name, shape in shapes.items():
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros(shape, np.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def byte_tokenizer(folder: Path, words: list[str], template: str) -> Any:
    """A byte-level tokenizer without merges: the bytes, the words, the specials. No training, no download."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for word in words:
        vocabulary.setdefault(word, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "model_max_length": 1_000_000,
        "clean_up_tokenization_spaces": False,
        "chat_template": template,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tokenizer


def scripted_mlx_chat(folder: Path, reply: str, *, context: int = 4096, template: str = CHATML) -> Path:
    """An mlx-lm folder (Qwen3) whose greedy answer to anything is `reply`."""
    import mlx.core as mx
    from mlx.utils import tree_flatten

    words = _words(reply)
    tokenizer = byte_tokenizer(folder, words, template)
    size, end = tokenizer.get_vocab_size(), tokenizer.token_to_id("<|im_end|>")
    width = max(512, -(-size // 64) * 64)
    config = {
        "model_type": "qwen3",
        "hidden_size": width,
        "num_hidden_layers": 2,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "rms_norm_eps": 1e-6,
        "vocab_size": size,
        "max_position_embeddings": context,
        "rope_theta": 1e4,
        "tie_word_embeddings": False,
        "eos_token_id": end,
    }
    (folder / "config.json").write_text(json.dumps(config))
    qwen3 = importlib.import_module("mlx_lm.models.qwen3")
    model = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    weights: dict[str, Any] = dict(tree_flatten(model.parameters()))
    for name, value in list(weights.items()):  # the next token depends on the last one alone
        if "o_proj" in name or "down_proj" in name:
            weights[name] = mx.zeros_like(value)
    embedding, head = mx.eye(size, width), mx.zeros((size, width))
    chain = [tokenizer.token_to_id("Ċ"), *(tokenizer.token_to_id(word) for word in words), end]
    for here, after in pairwise(chain):
        head[after] = head[after] + 10 * embedding[here]
    weights["model.embed_tokens.weight"], weights["lm_head.weight"] = embedding, head
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    return folder


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

    words = _words(reply) if reply else []
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


VISION_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for part in m['content'] %}{% if part['type'] in ('image', 'image_url') %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in part %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VISION_SPECIALS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")


def scripted_qwen3_vl(folder: Path, reply: str, *, context: int = 8192) -> Path:
    """A tiny Qwen3-VL that mlx_vlm and mlx_vlm.server load: it sees pictures, and its answer to anything is `reply`."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from tokenizers import Tokenizer

    words = _words(reply)
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
