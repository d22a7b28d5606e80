"""Structured values are cleared as what they say, each text with its field's name as context."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.privacy import cleared_fields, cleared_json, cleared_value, encoded_struct
from models.cleared_parts import cleared_parts
from models.messages import Image, Text, ToolCall

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "arguments",
    [
        r'{"note": "my keys:\nTOKEN"}',
        r'{"note": "my keys:\tTOKEN"}',
        r'{"note": "a \u003cprivate\u003eTOKEN\u003c/private\u003e b"}',
        r'{"note": "see <private>TOKEN<\/private> end"}',
        json.dumps({"note": "x " + TOKEN}).replace("ghp", r"\u0067\u0068\u0070"),
        r'{"TOKEN": 1}',
        r'{"a": {"b": ["c", {"d": "\nTOKEN"}]}}',
        json.dumps({"content": json.dumps({"deep": "\nTOKEN"})}),
        r'{"a": "TOKEN", "a": "harmless"}',
        r'{"note": "cut off in the middle:\nTOKEN',
        r'"\nTOKEN"',
    ],
)
def test_no_escaped_spelling_leaks(arguments: str) -> None:
    arguments = arguments.replace("TOKEN", TOKEN)
    cleared = cleared_json(arguments)
    assert TOKEN not in cleared
    assert TOKEN not in cleared.encode().decode("unicode_escape")
    if not arguments.endswith(TOKEN):
        assert TOKEN not in json.dumps(json.loads(cleared))


def test_what_holds_nothing_private_stays_to_the_byte() -> None:
    for text in ('{"path":"a/b.md","n": 3}', "[ ]", "", "no json at all {", r'{"a": "line\nnext \u00e9"}', "[" * 5000):
        assert cleared_json(text) == text


@pytest.mark.parametrize(
    "fields",
    [
        {"password": "Xk29!fjqLm2"},
        {"client_secret": "Xk29fjqLm2aB"},
        {"imported": {"auth": [{"password": "Xk29!fjqLm2"}]}},
        {"password": {"value": "Xk29!fjqLm2"}},
        {"env": [{"name": "DB_PASSWORD", "value": "Xk29!fjqLm2"}]},
        {"headers": [{"key": "client_secret", "value": "Xk29fjqLm2aB"}]},
        {"list": {"password": ["Xk29!fjqLm2"]}},
    ],
)
def test_the_name_of_a_field_tells_what_its_value_is(fields: dict[str, Any]) -> None:
    cleared = cleared_fields(fields)
    assert "fjqLm2" not in json.dumps(cleared)
    assert "[secret:" in json.dumps(cleared)
    assert cleared_fields(cleared) == cleared


def test_ordinary_fields_stay() -> None:
    fields = {
        "covers": [1, 9],
        "token_count": 512,
        "model": "gpt-4o-mini-2024",
        "password": "",
        "id": "e_4kx7m2p0q9ab",
        "tokens": {"prompt": 10, "cached": None},
        "key": "value",
        "time": "2026-01-02T03:04:05Z",
        "n": 1.5,
        "ok": True,
    }
    assert cleared_fields(fields) == fields


def test_two_names_that_are_cleared_to_the_same_are_both_kept() -> None:
    cleared = cleared_fields({"<private>a</private>": 1, "<private>b</private>": 2})
    assert cleared == {"[private]": 1, "[private] 2": 2}


def test_parts_of_a_message_keep_their_pictures_and_lose_what_is_private() -> None:
    raw = b"\x89PNG" + TOKEN.encode()
    parts = (Text(f"x {TOKEN}"), Image(raw, "image/png", 1, 1, "a.png"), ToolCall("c1", "t", json.dumps([TOKEN])))
    text, image, call = cleared_parts(parts)
    assert text == Text("x [secret: github-pat]")
    assert image == parts[1]
    assert isinstance(call, ToolCall)
    assert TOKEN not in call.arguments
    assert TOKEN.encode() not in encoded_struct(parts[0])


@pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
@given(JSON)
def test_a_second_time_changes_nothing(value: Any) -> None:
    once = cleared_value(value)
    assert cleared_value(once) == once


@given(JSON)
def test_json_stays_json(value: Any) -> None:
    json.loads(cleared_json(json.dumps(value)))
