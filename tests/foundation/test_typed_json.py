"""Whatever is not such a JSON value is one kind of error, also for what reads it from outside."""

import msgspec
import pytest
from msgspec import Struct

from agent.tools.port import MalformedCall, arguments_of
from agent.turn.call_limits import _identity
from context.assembly.digest import decode_items
from context.epoch import decode_epoch
from foundation.typed_json import decode_json
from models.messages import ToolCall

DEEP = b'{"a":' * 20_000
NOT_UTF8 = b'{"a":"\xff\xfe"}'
SURROGATE = '{"a":"\udfff"}'


class Named(Struct):
    a: str = ""


@pytest.mark.parametrize(
    "body", [DEEP, DEEP.decode(), NOT_UTF8, SURROGATE, b"", b"[1]", b"{", b'{"a": 1}'], ids=lambda body: str(body)[:12]
)
def test_what_is_no_such_value_is_a_decode_error(body: bytes | str) -> None:
    for kind in (Named, dict[str, dict[str, str]], msgspec.json.Decoder(Named)):
        with pytest.raises(msgspec.DecodeError):
            decode_json(body, kind)


def test_a_sound_value_is_given() -> None:
    assert decode_json(b'{"a": "b"}', Named) == decode_json('{"a": "b"}', msgspec.json.Decoder(Named)) == Named("b")


@pytest.mark.parametrize("arguments", [DEEP.decode(), "[" * 20_000, SURROGATE], ids=lambda body: ascii(body)[:12])
def test_a_models_arguments_that_cannot_be_read_are_malformed(arguments: str) -> None:
    call = ToolCall("c", "read_file", arguments)
    with pytest.raises(MalformedCall):
        arguments_of(call)
    assert _identity(call)


@pytest.mark.parametrize("body", [DEEP, b"[" * 20_000, b'[["\xff", 1]]'], ids=lambda body: str(body)[:12])
def test_a_stored_request_that_cannot_be_read_is_none(body: bytes) -> None:
    assert decode_items(body) == []
    assert decode_epoch(body) is None
