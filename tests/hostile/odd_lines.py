"""Lines of a JSONL import that no export writes. Each says whether it can be imported at all."""

import json
import random
from typing import Any

from tests.hostile.streams import ODD

FIELDS = ("id", "conversation", "time", "role", "speaker", "palimpsest", "schema", "mood")
EXTRAS = ("meta", "parent", "title", "created", "source", "kind", "leaf")
METAS = ("tool_calls", "imported", "attachments", "reasoning", "failed", "call_id", "shown", "covers", "type", "files")

KNOWN: dict[str, tuple[bytes, bool]] = {
    "its own parent": (b'{"text":"b","id":"loop","palimpsest":{"parent":"loop"}}', True),
    "a number of 4,401 digits": (b'{"text":"b","n":1' + b"0" * 4400 + b"}", False),
    "a number of 4,000 digits": (b'{"text":"b","n":1' + b"0" * 4000 + b"}", True),
    "a negative exponent without end": (b'{"text":"b","n":1e-99999}', True),
    "an infinite float": (b'{"text":"b","n":1e999}', True),
    "NaN": (b'{"text":"b","n":NaN}', True),
    "nested 200 deep": (b'{"text":"b","n":' + b"[" * 200 + b"]" * 200 + b"}", False),
    "nested 100,000 deep": (b'{"text":"b","n":' + b"[" * 100_000 + b"]" * 100_000 + b"}", False),
    "a lone surrogate": (b'{"text":"b \\ud800 c","id":"\\udfff","speaker":"\\ud800"}', True),
    "a NUL": (b'{"text":"a\\u0000b","id":"i\\u0000","conversation":"c\\u0000","speaker":"s\\u0000"}', True),
    "a bare NUL": (b'{"text":"a\x00b"}', False),
    "the year 0": (b'{"text":"b","time":"0000-01-01T00:00:00Z"}', True),
    "the year 1": (b'{"text":"b","time":"0001-01-01T00:00:00+14:00"}', True),
    "the year 9999": (b'{"text":"b","time":"9999-12-31T23:59:59-14:00"}', True),
    "the year 99999": (b'{"text":"b","time":"99999-01-01T00:00:00Z"}', True),
    "a moment of 400 digits": (b'{"text":"b","time":1' + b"0" * 400 + b"}", True),
    "a moment before the world": (b'{"text":"b","time":-1e17}', True),
    "text of a wrong type": (b'{"text":7}', False),
    "no text": (b'{"id":"x"}', False),
    "text that is empty": (b'{"text":""}', True),
    "a key twice": (b'{"text":"a","text":"b","id":"one","id":"two"}', True),
    "an unknown parent": (b'{"text":"b","palimpsest":{"parent":"nobody"}}', True),
    "meta that is a list": (b'{"text":"b","palimpsest":{"meta":[1]}}', True),
    "tool calls that are a word": (b'{"text":"b","role":"assistant","palimpsest":{"meta":{"tool_calls":"x"}}}', True),
    "tool calls without names": (b'{"text":"b","role":"assistant","palimpsest":{"meta":{"tool_calls":[{}, 3]}}}', True),
    "a leaf that is no entry": (b'{"text":"b","palimpsest":{"leaf":true}}', True),
    "not UTF-8": (b'{"text":"\xff\xfe"}', False),
    "half a line": (b'{"text":"b', False),
    "a list": (b'[{"text":"b"}]', False),
    "a word": (b'"text"', False),
    "two objects": (b'{"text":"a"}{"text":"b"}', False),
    "a million lists": (b'{"text":"b","n":[' + b"[]," * 1_000_000 + b"1]}", False),
    "an id of 100 kB": (b'{"text":"b","id":"' + b"x" * 100_000 + b'"}', True),
    "escape sequences": (b'{"text":"\\u001b[2J","speaker":"\\u001b]0;x\\u0007","id":"\\u001b[2J"}', True),
}


def random_line(chance: random.Random) -> bytes:
    """An entry with a text, some of whose other fields are odd."""
    found: dict[str, Any] = {"text": f"line {chance.random()}"}
    for name in chance.sample(FIELDS, chance.randint(1, 4)):
        found[name] = chance.choice(ODD)
    if chance.random() < 0.6:
        found["palimpsest"] = {name: chance.choice(ODD) for name in chance.sample(EXTRAS, 3)}
    if chance.random() < 0.5:
        found["role"] = chance.choice(("assistant", "tool", "system", "user"))
        kind = chance.choice(("message", "tool_result", "tool_call", "observation"))
        meta = {name: chance.choice(ODD) for name in chance.sample(METAS, 3)}
        extras = found.get("palimpsest")
        found["palimpsest"] = {**(extras if isinstance(extras, dict) else {}), "kind": kind, "meta": meta}
    return json.dumps(found).encode()
