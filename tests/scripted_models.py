"""Tiny models that say exactly what a test wants, through the real llama.cpp and the real mlx-lm.

The embeddings are one-hot, attention and MLP put out zeros, and the output matrix is a table from each word to the
next. So the greedy answer to anything is the reply, whatever was asked; its words (with the blanks before them) must
be different from one another. No merges: outside of those words a token is a byte.
"""

import importlib
import json
import re
from collections.abc import Mapping, Sequence
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


def words_of(reply: str) -> list[str]:
    words = _byte_words(reply)
    if len(set(words)) != len(words):
        raise ValueError("the words of a scripted reply must be different from one another")
    return words


def _byte_words(reply: str) -> list[str]:
    alphabet = byte_alphabet()
    return ["".join(alphabet[byte] for byte in word.encode()) for word in re.findall(r"\s*\S+", reply)]


def scripted_gguf(path: Path, reply: str, *, context: int = 4096, template: str = CHATML) -> Path:
    """A llama.cpp model of a few MB whose greedy answer to anything is `reply`."""
    return _write_gguf(path, {"Ċ": words_of(reply)}, (), context, template)


def conversing_gguf(path: Path, rules: Sequence[tuple[str, str]], *, context: int = 16_384) -> Path:
    """A model that calls tools and answers by the first of the `rules` that holds: a condition in Jinja, and a reply.

    `message` is the person's newest message without what was recalled for it; `is_result`: a tool's result follows it;
    `results` counts them, `result` is the newest, `all_results` are all since that message.
    The template ends with a token of that rule, from which the reply follows.
    """
    used, chains = set(byte_alphabet()), dict[str, list[str]]()
    for number, (_, reply) in enumerate(rules):
        chains[f"<|rule_{number}|>"] = _unused(_byte_words(reply), used)
    choices = "".join(
        f"{{% {'elif' if n else 'if'} {condition} %}}<|rule_{n}|>" for n, (condition, _) in enumerate(rules)
    )
    opening = "<|im_start|>assistant\n"
    template = _NEWEST + CALLING.replace(opening + "{% endif %}", opening + choices + "{% endif %}{% endif %}")
    return _write_gguf(path, chains, tuple(chains), context, template)


_NEWEST = (
    "{% set newest = namespace(message='', is_result=false, results=0, result='', all='') %}{% for m in messages %}"
    "{% if m.role == 'user' %}{% set newest.message = m.content.split('>\n\n')[-1] %}"
    "{% set newest.results = 0 %}{% set newest.all = '' %}{% endif %}"
    "{% if m.role == 'tool' %}{% set newest.results = newest.results + 1 %}{% set newest.result = m.content %}"
    "{% set newest.all = newest.all + m.content %}{% endif %}"
    "{% set newest.is_result = m.role == 'tool' or (m.role == 'user' and '</tool_response>' in m.content) %}"
    "{% endfor %}"
    "{% set message = newest.message %}{% set is_result = newest.is_result %}{% set results = newest.results %}"
    "{% set result = newest.result %}{% set all_results = newest.all %}"
)


def _unused(words: list[str], used: set[str]) -> list[str]:
    """The words as tokens that no other reply uses: several together where one is in `used`, which it adds to."""
    tokens: list[str] = []
    pending = ""
    for word in words:
        pending += word
        if pending not in used:
            used.add(pending)
            tokens.append(pending)
            pending = ""
    while pending:
        pending = tokens.pop() + pending
        if pending not in used:
            used.add(pending)
            tokens.append(pending)
            pending = ""
    return tokens


def _write_gguf(
    path: Path, chains: Mapping[str, Sequence[str]], rules: Sequence[str], context: int, template: str
) -> Path:
    """A model that says each chain of words after the token that it begins with. `rules` are special tokens."""
    import gguf
    import numpy as np

    alphabet, specials = byte_alphabet(), (*SPECIALS, *rules)
    words = [word for chain in chains.values() for word in chain]
    tokens = [*alphabet, *(word for word in words if word not in alphabet), *specials]
    index, size = {token: i for i, token in enumerate(tokens)}, len(tokens)
    head, forward = 64, 64  # one head, smaller than the model is wide: long prompts are read several times faster
    width = max(512, -(-size // 64) * 64)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(forward)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(head)
    writer.add_vocab_size(size)
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (size - len(specials)) + [3] * len(specials))
    writer.add_token_merges(["Ā Ā"])
    end, pad = index[SPECIALS[2]], index[SPECIALS[0]]
    writer.add_bos_token_id(pad)
    writer.add_eos_token_id(end)
    writer.add_pad_token_id(pad)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    embedding, output = np.eye(size, width, dtype=np.float32), np.zeros((size, width), np.float32)
    for start, chain in chains.items():
        for here, after in pairwise([index[start], *(index[word] for word in chain), end]):
            output[after] += 10 * embedding[here]
    shapes = {
        "attn_q": (head, width),
        "attn_k": (head, width),
        "attn_v": (head, width),
        "attn_output": (width, head),
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

    words = words_of(reply)
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
