"""The meta of an entry without a word: what its branch, its costs and its calls need."""

from typing import Any, Final, cast

from memory.forgotten.fingerprints import FORGOTTEN
from memory.origin import DERIVED_FROM

_KEPT_META: Final = frozenset(
    {"usage", "model", "reason", "call_id", "failed", "ms", "cost", "covers", "first_kept", "prior", "pinned", "tokens"}
    | {"undoes", "turns", "steers"}
)
"""Of a forgotten entry: what its branch, its costs and its calls need, and no word."""
_OF_THE_TEXT: Final = frozenset({DERIVED_FROM, "device", "name"})


def without_words(meta: dict[str, Any]) -> dict[str, Any]:
    """Of the meta what holds no word; calls without their arguments."""
    kept = {key: value for key, value in meta.items() if key in _KEPT_META}
    if meta.get("untrusted"):
        kept["untrusted"] = FORGOTTEN
    calls: object = meta.get("tool_calls")
    if isinstance(calls, list):
        named = [cast("dict[str, Any]", call) for call in cast("list[object]", calls) if isinstance(call, dict)]
        kept["tool_calls"] = [{"id": call.get("id"), "name": call.get("name"), "arguments": "{}"} for call in named]
    return kept


def bare_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """The same for an entry whose text stays: with its tool, its device, and what its text was derived from."""
    return without_words(meta) | {name: value for name, value in meta.items() if name in _OF_THE_TEXT}
