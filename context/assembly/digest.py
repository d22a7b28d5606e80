"""Digest of a request: a hash and a token count for each part, so that the next can tell how much is unchanged."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence

import msgspec

from foundation.privacy import ClearedBytes, bytes_as_made
from models.messages import Image, Message, MessagePart, Role, Tool, ToolCall, ToolResult, render

Item = tuple[str, int]
"""A part's digest and its tokens."""

_items = msgspec.json.Decoder(list[Item])


def part_bytes(role: Role, part: MessagePart) -> bytes:
    """A part as the model reads it; different parts give different bytes."""
    match part:
        case Image(data=data, media_type=media_type):
            words = f"image\0{media_type}\0{hashlib.sha256(data).hexdigest()}"
        case ToolCall(id=call, name=name, arguments=arguments):
            words = f"call\0{call}\0{name}\0{arguments}"
        case ToolResult(call_id=call, name=name, text=text):
            words = f"result\0{call}\0{name}\0{text}"
        case _:
            words = f"text\0{render(part)}"
    return f"{role.value}\0{words}\0".encode("utf-8", "surrogatepass")


def part_item(secret: bytes, role: Role, part: MessagePart, tokens: int) -> Item:
    """A part's digest, keyed by the workspace's secret, since a part may hold private words."""
    return hmac.digest(secret, part_bytes(role, part), "sha256").hex()[:16], tokens


def message_item(secret: bytes, message: Message, tokens: int) -> Item:
    """A whole message's digest."""
    whole = b"".join(part_bytes(message.role, part) for part in message.parts)
    return hmac.digest(secret, whole, "sha256").hex()[:16], tokens


def messages_sha256(messages: Iterable[Message]) -> str:
    """One hash of the messages, in order."""
    return _sha(b"\1" + part_bytes(message.role, part) for message in messages for part in message.parts)


def tools_digest(tools: Sequence[Tool]) -> str:
    """Digest of the offered tools; "" for none."""
    return _sha([msgspec.json.encode(tools, order="sorted")])[:16] if tools else ""


def encode_items(items: Sequence[Item]) -> ClearedBytes:
    """Encodes a digest for `SentRequest`."""
    return bytes_as_made(msgspec.json.encode(items))


def decode_items(data: bytes) -> list[Item]:
    """The inverse of `encoded_items`; an empty list for what cannot be decoded."""
    try:
        return _items.decode(data) if data else []
    except msgspec.DecodeError:
        return []


def unchanged_tokens(before: Sequence[Item], now: Sequence[Item]) -> int:
    """Tokens of the previous request that are unchanged at the beginning of this one."""
    tokens = 0
    for old, new in zip(before, now, strict=False):
        if old[0] != new[0]:
            break
        tokens += old[1]
    return tokens


def _sha(chunks: Iterable[bytes]) -> str:
    hashed = hashlib.sha256()
    for chunk in chunks:
        hashed.update(chunk)
    return hashed.hexdigest()
