"""Provider fields of a stored answer: in its metadata, and on their way back to the provider.

Signatures and encrypted reasoning are stored byte for byte: a provider rejects them if one character differs. Text
beside them that the privacy rules change is not sent back at all, because its signature would no longer fit.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from foundation.privacy import clear
from memory.records import Entry, EntryKind
from models.messages import ProviderFields, Role

PROVIDER_FIELDS, REASONING = "provider_fields", "reasoning"
"""Meta of an answer: what its provider attached, and its reasoning."""
_SIGNED: Final = re.compile(r"(^|_)(signature|encrypted_content|encrypted|data|redacted_thinking|blob|hash)$")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_=-]{64,}")


class _Stored(Struct):
    """The form in metadata. `message` and `calls` are JSON; `check` tells whether they are as they were stored."""

    origin: str
    message: str = "{}"
    calls: dict[str, str] = {}
    reasoning_field: str = ""
    check: str = ""


def stored_fields(
    fields: ProviderFields, ids: Mapping[str, str], is_unchanged: Callable[[Any], bool]
) -> dict[str, Any]:
    """Returns the fields as metadata. `ids` are those of the calls in the store by those that the answer gave.

    `is_unchanged` says of a value whether the privacy rules leave it as it is. A field that they change is left out.
    """

    def kept(given: Mapping[str, Any]) -> str:
        whole = {name: value for name, value in given.items() if is_unchanged(without_signatures({name: value}))}
        return json.dumps(whole, ensure_ascii=False)

    message, calls = kept(fields.message), {ids[id_]: kept(given) for id_, given in fields.calls.items() if id_ in ids}
    check = _check(message, calls)
    return msgspec.to_builtins(_Stored(clear(fields.origin), message, calls, fields.reasoning_field, check))


def provider_fields(entry: Entry) -> ProviderFields | None:
    """Returns what the provider attached to this answer; None if nothing, or if it was changed since (by /forget)."""
    if entry.kind is not EntryKind.MESSAGE or entry.role is not Role.ASSISTANT or not entry.complete:
        return None
    try:
        stored = msgspec.convert(entry.meta.get(PROVIDER_FIELDS), _Stored)
        is_whole = _check(stored.message, stored.calls) == stored.check
        message = msgspec.json.decode(stored.message if is_whole else "{}", type=dict[str, Any])
        calls = {
            id_: msgspec.json.decode(given, type=dict[str, Any])
            for id_, given in (stored.calls if is_whole else {}).items()
        }
    except (msgspec.MsgspecError, UnicodeError):
        return None
    reasoning = entry.meta.get(REASONING) if stored.reasoning_field else ""
    return ProviderFields(
        stored.origin, message, calls, stored.reasoning_field, reasoning if isinstance(reasoning, str) else ""
    )


def without_signatures(value: Any, name: str = "") -> Any:
    """Returns a JSON value without its signatures and encoded data, which hold no words."""
    match value:
        case str() if _SIGNED.search(name) and not any(map(str.isspace, value)):
            return ""
        case str() if _ENCODED.fullmatch(value) and not clear(value).startswith("["):  # a key, as a whole
            return ""
        case dict():
            return {key: without_signatures(item, key) for key, item in cast("dict[str, Any]", value).items()}
        case list():
            return [without_signatures(item, name) for item in cast("list[Any]", value)]
        case _:
            return value


def _check(message: str, calls: Mapping[str, str]) -> str:
    """A checksum, too short to confirm a guess at forgotten words."""
    text = "\0".join((message, *(part for pair in sorted(calls.items()) for part in pair)))
    return f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')) & 0xFFFF:04x}"
