"""KV caches of a model, one a conversation: kept in memory, saved when the model is closed, loaded when it goes on.

What may be saved is what is in the store: a request that carries private text names no folder, and text in which the
privacy rules find anything is not saved. Everything here runs on the mlx thread.
"""

import copy
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from foundation.files import UnsafePath, remove
from foundation.privacy import TextSource, clear
from models.chat.mlx import cache_files
from models.messages import PromptCacheSlot

VERSION: Final = "1"
WORTH_SHARING: Final = 256  # tokens that another conversation's cache must have beyond one's own to be taken over
NO_SLOT: Final = PromptCacheSlot("")
_log = logging.getLogger("palimpsest.mlx")


class KeptCache:
    """The cache of one conversation, which holds `tokens`. `slot` is that of its newest request."""

    def __init__(self, layers: list[Any], tokens: list[int]) -> None:
        self.layers = layers
        self.tokens = tokens
        self.slot = NO_SLOT

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(int(getattr(layer, "nbytes", 0)) for layer in self.layers)

    def shares(self, prompt: Sequence[int]) -> int:
        """Number of leading tokens that the prompt repeats."""
        pairs = zip(prompt, self.tokens, strict=False)
        differs = next((number for number, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
        return min(len(prompt), len(self.tokens)) if differs is None else differs


class PromptCaches:
    """The caches of one loaded model. `library` is mlx_lm.models.cache; the limits are bytes.

    The cache in use always stays; of the others the least recently used leave.
    """

    def __init__(  # noqa: PLR0917 — a model, its library, and the limits
        self,
        library: Any,
        model: Any,
        decode: Callable[[list[int]], str],
        model_id: str,
        most_memory: int,
        most_disk: int,
    ) -> None:
        self._library = library
        self._model = model
        self._decode = decode
        self._model_id = model_id
        self._most_memory = most_memory
        self._most_disk = most_disk
        self._kept: OrderedDict[str, KeptCache] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, prompt: list[int], slot: PromptCacheSlot) -> KeptCache:
        """The conversation's cache, trimmed to what the prompt repeats of it."""
        kept = self._kept.pop(slot.conversation, None) or self._loaded(slot) or self._new()
        kept = self._shared(prompt, kept.shares(prompt)) or kept
        common = min(kept.shares(prompt), len(prompt) - 1)  # at least one token must be read to answer
        surplus = len(kept.tokens) - common
        if surplus and not self._library.can_trim_prompt_cache(kept.layers):
            kept = self._new()
        elif surplus:
            self._library.trim_prompt_cache(kept.layers, surplus)
            kept.tokens = kept.tokens[:common]
        kept.slot = slot
        self._kept[slot.conversation] = kept
        self._evict()
        return kept

    def note(self, kept: KeptCache, tokens: list[int]) -> None:
        """Records what the cache holds, as it reports; nothing where it does not report or was interrupted."""
        offset = getattr(kept.layers[0], "offset", None) if kept.layers else None
        if isinstance(offset, int) and offset <= len(tokens):
            kept.tokens = tokens[:offset]
        else:
            fresh = self._new()
            kept.layers, kept.tokens = fresh.layers, fresh.tokens
        self._evict()

    def save(self) -> None:
        """Saves every cache that may be saved."""
        for kept in self._kept.values():
            try:
                self._save(kept)
            except (OSError, UnsafePath, ValueError, RuntimeError) as error:
                _log.warning("The KV cache of a conversation was not saved: %s", error)

    def _new(self) -> KeptCache:
        return KeptCache(self._library.make_prompt_cache(self._model), [])

    def _shared(self, prompt: list[int], own: int) -> KeptCache | None:
        """Another conversation's cache where it begins with much more of the prompt: a copy, or itself where memory
        holds no two."""
        key, best = max(self._kept.items(), key=lambda item: item[1].shares(prompt), default=("", None))
        if best is None or best.shares(prompt) < own + WORTH_SHARING:
            return None
        if 2 * best.size + self.size - best.size > self._most_memory:
            return self._kept.pop(key)
        return KeptCache(copy.deepcopy(best.layers), list(best.tokens))

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(kept.size for kept in self._kept.values())

    def _evict(self) -> None:
        while len(self._kept) > 1 and self.size > self._most_memory:
            self._kept.popitem(last=False)

    # ── on disk ──

    def _save(self, kept: KeptCache) -> None:
        slot, folder = kept.slot, Path(kept.slot.folder)
        if not (slot.folder and kept.tokens and self._is_plain(kept.layers)):
            return
        for layer in kept.layers:  # what was trimmed is still behind the end
            layer.keys, layer.values = (part[..., : layer.offset, :] for part in (layer.keys, layer.values))
        if kept.size > self._most_disk or not cache_files.is_current(folder, slot.generation):
            return
        text = self._decode(kept.tokens)
        if clear(text, TextSource.OTHER) != text:
            _log.info("The KV cache of a conversation was not saved: it holds what is not stored.")
            return
        about = {"version": VERSION, "model": self._model_id, "tokens": json.dumps(kept.tokens)}

        def write(file: BinaryIO) -> None:
            self._library.save_prompt_cache(file, kept.layers, about)

        path = cache_files.save(folder, slot.conversation, self._model_id, write, self._most_disk)
        if not cache_files.is_current(folder, slot.generation):  # something was deleted meanwhile
            remove(path, missing_ok=True)

    def _loaded(self, slot: PromptCacheSlot) -> KeptCache | None:
        """The saved cache; one that is damaged, or of something else, is deleted, and the log says so."""
        if not slot.folder or not self._most_disk:
            return None
        path: Path | None = None
        try:
            path = cache_files.find(Path(slot.folder), slot.conversation, self._model_id)
            return None if path is None else self._read(path)
        except (OSError, UnsafePath) as error:
            _log.warning("A saved KV cache could not be read: %s", error)
        except Exception as error:  # mlx raises what it likes for a file that is no cache
            bad = path or Path(str(error))
            _log.warning("A saved KV cache was deleted, because it is damaged or of another model: %s", bad)
            with suppress(OSError, UnsafePath):
                remove(bad, missing_ok=True)
        return None

    def _read(self, path: Path) -> KeptCache:
        """Raises where the file does not hold a cache of this model, of as many tokens as it says."""
        layers, about = self._library.load_prompt_cache(str(path), return_metadata=True)
        tokens = [int(token) for token in json.loads(about["tokens"])]
        fresh = self._library.make_prompt_cache(self._model)
        if (about["version"], about["model"]) != (VERSION, self._model_id) or not self._is_plain(layers):
            raise ValueError(path)
        if len(layers) != len(fresh) or any(
            layer.offset != len(tokens) or layer.keys.shape[2] != len(tokens) for layer in layers
        ):
            raise ValueError(path)
        self._library.mx.eval([part for layer in layers for part in (layer.keys, layer.values)])
        return KeptCache(layers, tokens)

    def _is_plain(self, layers: Sequence[Any]) -> bool:
        """Whether each layer keeps all keys and values; others (a sliding window, a recurrent state) are not saved."""
        return all(type(layer) is self._library.KVCache and layer.keys is not None for layer in layers)
