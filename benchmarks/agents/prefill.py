"""A real llama.cpp that reads the same requests, and reports the tokens that it took from its cache and those it read.

Its model is tiny and says one word. Its tokenizer is byte-level BPE, trained on the files that the trace reads, so that
a token is some four bytes as in other models.
"""

import json
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.agents.traces import library_files

VOCABULARY = 8_000
WIDTH = 64
TEMPLATE = (
    "{% if tools %}<|s|>tools{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}<|e|>{% endif %}"
    "{% for m in messages %}<|s|>{{ m.role }}\n{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}\n{{ call.function.name }} {{ call.function.arguments | tojson }}{% endfor %}"
    "<|e|>{% endfor %}<|s|>assistant\n"
)
REPLY = "True"  # a word of the vocabulary
SPECIALS = ("<|s|>", "<|e|>")


def is_installed() -> bool:
    return all(find_spec(name) for name in ("xllamacpp", "gguf", "tokenizers", "numpy"))


class LlamaPrefill:
    """The server, in this process, with one slot. `read` blocks."""

    def __init__(self, folder: Path, window: int) -> None:
        self._server = start_server(write_model(folder / "reader.gguf", window), window)
        self.prompt_tokens = self.read_tokens = 0

    def read(self, asked: dict[str, Any]) -> None:
        """Reads the messages and tools of a request. Raises urllib.error.URLError where the server refuses it."""
        wanted = {name: asked[name] for name in ("messages", "tools") if asked.get(name)}
        body = json.dumps({**wanted, "max_tokens": 1, "cache_prompt": True, "tool_choice": "none"}).encode()
        address = f"{self._server.listening_address}/v1/chat/completions"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as reply:
            timings = json.load(reply)["timings"]
        self.read_tokens += timings["prompt_n"]
        self.prompt_tokens += timings["prompt_n"] + timings["cache_n"]


def start_server(model: Path, window: int, slots: int = 1) -> Any:
    """llama.cpp in this process, with so many tokens a slot, and nothing cached beside its slots."""
    import xllamacpp

    library: Any = xllamacpp
    parameters = library.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = window * slots
    parameters.n_parallel = slots
    parameters.cache_ram_mib = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.use_jinja = True
    parameters.warmup = False
    parameters.verbosity = -1
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = 1
    return library.Server(parameters)


def write_model(path: Path, window: int, template: str = TEMPLATE) -> Path:
    """A llama of one layer without weights, with the trained vocabulary. It says REPLY and ends."""
    import gguf
    import numpy as np
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    trained: Any = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    trained.train_from_iterator((file.read_text("utf-8", "replace") for file in library_files(60)), trainer)
    model = json.loads(trained.to_str())["model"]
    tokens = [*sorted(model["vocab"], key=model["vocab"].__getitem__), *SPECIALS]
    merges = [one if isinstance(one, str) else " ".join(one) for one in model["merges"]]
    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(window)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - len(SPECIALS)) + [3] * len(SPECIALS))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(len(tokens) - 2)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_pad_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    reply, end = tokens.index(REPLY), len(tokens) - 1
    embedding, output = np.ones((len(tokens), WIDTH), np.float32), np.zeros((len(tokens), WIDTH), np.float32)
    embedding[reply], output[reply], output[end] = -1, 1, -1
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros((WIDTH, WIDTH), np.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
