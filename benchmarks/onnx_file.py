"""ONNX files written by hand: the few messages of onnx.proto3 that a graph needs, without the onnx package.

Field numbers are those of onnx.proto3 (IR version 8). Tests make their tiny models with it, and `minilm_onnx` makes
MiniLM's graph out of the weights in its package.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Attribute = int | float | Sequence[int]

_TYPES = {np.dtype("float32"): 1, np.dtype("int32"): 6, np.dtype("int64"): 7}


def model(
    nodes: Sequence[bytes], weights: Mapping[str, NDArray[Any]], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    """A ModelProto: opset 17 of ONNX and 1 of com.microsoft, which onnxruntime brings."""
    graph = b"".join(_blob(1, node) for node in nodes) + _text(2, "graph")
    graph += b"".join(_blob(5, _tensor(name, array)) for name, array in weights.items())
    graph += b"".join(_blob(11, one) for one in inputs) + b"".join(_blob(12, one) for one in outputs)
    opsets = b"".join(
        _blob(8, _text(1, domain) + _number(2, number)) for domain, number in (("", 17), ("com.microsoft", 1))
    )
    return _number(1, 8) + _text(2, "palimpsest") + _blob(7, graph) + opsets


def node(kind: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: Attribute) -> bytes:
    """A NodeProto with one output."""
    body = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind)
    body += b"".join(_blob(5, _attribute(name, value)) for name, value in attributes.items())
    return body + (_text(7, domain) if domain else b"")


def value(name: str, dtype: str, dims: Sequence[str | int]) -> bytes:
    """A ValueInfoProto: an input or an output; a dimension is a name or a number."""
    shape = b"".join(_blob(1, _text(2, dim) if isinstance(dim, str) else _number(1, dim)) for dim in dims)
    return _text(1, name) + _blob(2, _blob(1, _number(1, _TYPES[np.dtype(dtype)]) + _blob(2, shape)))


def _attribute(name: str, value: Attribute) -> bytes:
    body = _text(1, name)
    if isinstance(value, int):
        return body + _number(3, value) + _number(20, 2)
    if isinstance(value, float):
        return body + _key(2, 5) + struct.pack("<f", value) + _number(20, 1)
    return body + b"".join(_number(8, one) for one in value) + _number(20, 7)


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    dims = b"".join(_number(1, dim) for dim in array.shape)
    return dims + _number(2, _TYPES[array.dtype]) + _text(8, name) + _blob(9, np.ascontiguousarray(array).tobytes())


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value & (1 << 64) - 1)


def _text(field: int, value: str) -> bytes:
    return _blob(field, value.encode())


def _blob(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
