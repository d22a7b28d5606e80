"""The protocol of the reader process: MessagePack frames, each preceded by its length."""

import struct
from typing import IO

import msgspec
from msgspec import Struct

from memory.knowledge.readers.document import Document

_LENGTH = struct.Struct(">Q")
TOO_LARGE = "it needs too much memory for its size"


class OpenedFrame(Struct, frozen=True, tag="opened"):
    """The number of pages of a PDF."""

    pages: int


class PageFrame(Struct, frozen=True, tag="page"):
    """A page's text, or its picture (PNG) where it has none."""

    text: str
    picture: bytes = b""
    width: int = 0
    height: int = 0


class DocumentFrame(Struct, frozen=True, tag="whole"):
    """A document in one frame."""

    document: Document


class RefusalFrame(Struct, frozen=True, tag="refused"):
    """Why the file cannot be read, as the end of a sentence, and a hint."""

    why: str
    hint: str = ""


class EndFrame(Struct, frozen=True, tag="ended"):
    """The end of the file."""


ReaderFrame = OpenedFrame | PageFrame | DocumentFrame | RefusalFrame | EndFrame
_decoder = msgspec.msgpack.Decoder(ReaderFrame)


def read_frame(stream: IO[bytes]) -> ReaderFrame | None:
    """The next frame; None at the end. Raises msgspec.DecodeError for an invalid one."""
    raw = read_bytes(stream)
    return None if raw is None else _decoder.decode(raw)


def write_frame(stream: IO[bytes], frame: ReaderFrame) -> None:
    write_bytes(stream, msgspec.msgpack.encode(frame))


def read_bytes(stream: IO[bytes]) -> bytes | None:
    """The next bytes after their length; None at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    raw = stream.read(length)
    return raw if len(raw) == length else None


def write_bytes(stream: IO[bytes], raw: bytes) -> None:
    stream.write(_LENGTH.pack(len(raw)))
    stream.write(raw)
    stream.flush()
