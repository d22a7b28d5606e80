"""Digest of a request: a hash and a token count per part, to compute the unchanged prefix of the next request."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence

import msgspec

from foundation.privacy import ClearedBytes, bytes_as_made
from foundation.typed_json import decode_json
from models.messages import Image, Message, MessagePart, ProviderFields, Role, Tool, ToolCall, ToolResult, render

Item = tuple[str, int]
"""A part's digest and its tokens."""

_items = msgspec.json.Decoder(list[Item])


def part_bytes(role: Role, part: MessagePart) -> bytes:
    """Canonical bytes of a part as the model reads it; different parts give different bytes."""
    match part:
        case Image(data=data, media_type=media_type):
            content = f"image\0{media_type}\0{hashlib.sha256(data).hexdigest()}"
        case ToolCall(id=call, name=name, arguments=arguments):
            content = f"call\0{call}\0{name}\0{arguments}"
        case ToolResult(call_id=call, name=name, text=text):
            content = f"result\0{call}\0{name}\0{text}"
        case ProviderFields():
            content = f"fields\0{msgspec.json.encode(part, order='sorted').decode()}"
        case _:
            content = f"text\0{render(part)}"
    return f"{role.value}\0{content}\0".encode("utf-8", "surrogatepass")


def part_item(secret: bytes, role: Role, part: MessagePart, tokens: int) -> Item:
    """A part's digest, keyed by the workspace's secret, since a part may hold private text."""
    return hmac.digest(secret, part_bytes(role, part), "sha256").hex()[:16], tokens


def message_item(secret: bytes, message: Message, tokens: int) -> Item:
    """Digest of a whole message."""
    content = b"".join(part_bytes(message.role, part) for part in message.parts)
    return hmac.digest(secret, content, "sha256").hex()[:16], tokens


def messages_sha256(messages: Iterable[Message]) -> str:
    """One hash of the messages, in order."""
    return _hash_of(b"\1" + part_bytes(message.role, part) for message in messages for part in message.parts)


def tools_digest(tools: Sequence[Tool]) -> str:
    """Digest of the offered tools; "" for none."""
    return _hash_of([msgspec.json.encode(tools, order="sorted")])[:16] if tools else ""


def encode_items(items: Sequence[Item]) -> ClearedBytes:
    """Encodes a digest for `SentRequest`."""
    return bytes_as_made(msgspec.json.encode(items))


def decode_items(data: bytes) -> list[Item]:
    """The inverse of `encode_items`; an empty list where the data cannot be decoded."""
    try:
        return decode_json(data, _items) if data else []
    except msgspec.DecodeError:
        return []


def unchanged_tokens(previous: Sequence[Item], current: Sequence[Item]) -> int:
    """Tokens in the longest common prefix of the previous and the current request."""
    tokens = 0
    for previous_item, item in zip(previous, current, strict=False):
        if previous_item[0] != item[0]:
            break
        tokens += previous_item[1]
    return tokens


def _hash_of(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()
