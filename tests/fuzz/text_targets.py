"""Parsers of text: YAML, exports of other programs, notes, mirrors, patches, command lines."""

import atexit
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.importers.formats import _LINE_READERS, read_file
from agent.importers.jsonl import bounded_lines
from agent.permissions.shell_reader import read_line
from agent.tools.files.patch import parse_patch
from foundation.bounded_json import BadJson, load_json
from foundation.text.entities.custom import BrokenRules, parse_rules
from foundation.yaml import BadYaml, load_yaml
from memory.cold.mirrors.parse import parse_mirror
from memory.hot.parse import parse
from tests.agent.importers.exports import BRANCHED, CLAUDE
from tests.fuzz.target import FuzzTarget

_YAML = [
    b"model: &m\n  spec: offline\n  window: 8192\nrules:\n  - {allow: 'read_file(*)', when: 2026-03-14}\nagain: *m\n",
    b"? a b\n: |\n  text\n  more\nsize: !!float .inf\n<<: {x: 0x1F, y: 1_000, z: 0o7}\n",
]
_JSONL = b"".join(
    json.dumps(line, ensure_ascii=False).encode() + b"\n"
    for line in (
        {"id": "e1", "conversation": "c", "time": "2026-03-14T09:26:53Z", "role": "user", "text": "二 🐋", "mood": 1},
        {"id": "e2", "role": "assistant", "content": [{"type": "text", "text": "b"}], "timestamp": 1.7e9},
        {"text": "x", "palimpsest": {"kind": "tool_result", "parent": "e1", "meta": {"call_id": "1", "failed": True}}},
    )
)
_CODEX = (
    b'{"type":"session_meta","timestamp":"2026-01-01T00:00:00Z","payload":{"id":"s","cwd":"/x"}}\n'
    b'{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}\n'
    b'{"type":"response_item","payload":{"type":"function_call","call_id":"1","name":"n","arguments":"{}"}}\n'
    b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\\"output\\":\\"b\\"}"}}\n'
)
_CLAUDE_CODE = (
    b'{"type":"user","sessionId":"s","uuid":"u","timestamp":"2026-01-01T00:00:00Z",'
    b'"message":{"role":"user","content":"a"}}\n'
    b'{"type":"assistant","sessionId":"s","uuid":"v","parentUuid":"u","message":{"role":"assistant",'
    b'"content":[{"type":"text","text":"b"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}\n'
    b'{"type":"user","sessionId":"s","uuid":"w","parentUuid":"v","message":{"role":"user",'
    b'"content":[{"type":"tool_result","tool_use_id":"t","content":"c"}]}}\n'
)
_CHUNK = b'{"novel_id":"n","messages":[{"role":"user","content":"a","timestamp":1},{"user":"q","assistant":"r"}]}'
_MIRROR = (
    b"---\nid: c_1\ntitle: Boat\nsource: palimpsest\ncreated: 2026-03-14T09:26:53+00:00\nformat: 2\n---\n\n"
    b"## user \xc2\xb7 2026-03-14 09:26:53 \xc2\xb7 e_1\n\nThe ferry.\n\n```\ncode\n```\n"
)
_NOTES = (
    b"---\ntags: [x]\n---\n# Boat\n<!-- hidden -->\n- ferry at 07:40\n  - quay 3\n\n[2026-03-14 09:26] said so\n"
    b"```py\n# no heading\n```\n## \xe5\x8d\x97\n1. one\n[Boat](../conversations/c_1.md)\n"
)
_PATCH = (
    b"*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-old\n+new\n*** Add File: c\n+x\n"
    b"*** Delete File: d\n*** End Patch\n"
)
_DIFF = b"--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"


@cache
def _folder() -> Path:
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_yaml(data: bytes) -> None:
    load_yaml(_text(data))


def _read_rules(data: bytes) -> None:
    parse_rules(_text(data)).tags("The boiler ref AB-1234 of 2026-03-14")


def _read_export(data: bytes) -> None:
    """As detected, and as every format of lines."""
    path = _folder() / "conversations.json"
    path.write_bytes(data)
    for _ in read_file(path, "chatgpt"):
        pass
    for _ in read_file(path, "claude"):
        pass
    for _ in read_file(path, None):
        pass


def _read_lines(data: bytes) -> None:
    path = _folder() / "lines.jsonl"
    path.write_bytes(data)
    for reader in _LINE_READERS.values():
        with path.open("rb") as stream:
            for _ in reader(bounded_lines(stream, 2**20), "c"):
                pass
    for _ in read_file(path, None):
        pass


def _read_chunk(data: bytes) -> None:
    path = _folder() / "n_chunk_001.json"
    path.write_bytes(data)
    for _ in read_file(path, None):
        pass


def _read_notes(data: bytes) -> None:
    text = _text(data)
    lines = text.count("\n") + 1
    for note in parse(text, "memory/2026-03-14.md"):
        assert 1 <= note.line_first <= note.line_last <= lines


TARGETS = (
    FuzzTarget(
        name="yaml",
        seeds=lambda: _YAML,
        parse=_read_yaml,
        refusals=(BadYaml,),
        words=(
            b"&a ",
            b"*a",
            b"<<: ",
            b"!!python/object:os.system ",
            b"!!int ",
            b"!!timestamp ",
            b"? ",
            b"- - - ",
            b"|+2",
        ),
    ),
    FuzzTarget(
        name="entity-rules",
        seeds=lambda: ["ref:\n  patterns: ['AB-[0-9]+', 'a+b']\n  words: [boiler, 渡轮]\n".encode()],
        parse=_read_rules,
        refusals=(BrokenRules, BadYaml),
    ),
    FuzzTarget(
        name="json",
        seeds=lambda: [json.dumps(BRANCHED).encode(), _CHUNK],
        parse=load_json,
        refusals=(BadJson,),
    ),
    FuzzTarget(
        name="json-exports",
        seeds=lambda: [json.dumps([BRANCHED]).encode(), json.dumps([CLAUDE]).encode(), _JSONL],
        parse=_read_export,
        words=(
            b'"mapping":',
            b'"children":',
            b'"parts":',
            b'"create_time":',
            b'"chat_messages":',
            b"1e400",
            b'"parent":',
        ),
    ),
    FuzzTarget(
        name="jsonl-exports",
        seeds=lambda: [_JSONL, _CODEX, _CLAUDE_CODE],
        parse=_read_lines,
        words=(b'"time":', b'"palimpsest":{', b'"role":', b'"content":[', b'"tool_use"', b"-1e17", b'"timestamp":'),
    ),
    FuzzTarget(name="chunks", seeds=lambda: [_CHUNK], parse=_read_chunk, words=(b'"messages":', b'"user":', b"[[")),
    FuzzTarget(name="notes", seeds=lambda: [_NOTES], parse=_read_notes, words=(b"<!--", b"-->", b"```", b"# ", b"- ")),
    FuzzTarget(
        name="mirror",
        seeds=lambda: [_MIRROR],
        parse=lambda data: parse_mirror("c_1.md", data),
        words=(b"\n---\n", b"## ", b"```", b" \xc2\xb7 "),
    ),
    FuzzTarget(name="patch", seeds=lambda: [_PATCH, _DIFF], parse=lambda data: parse_patch(_text(data))),
    FuzzTarget(
        name="command-line",
        seeds=lambda: [b"cat <<'E' >x && FOO=1 $(echo {a,b}) \"$y\" ${z:-`w`} | tee 2>&1 $'\\x41'\nE\n"],
        parse=lambda data: read_line(_text(data)),
        refusals=(),
        words=(b"$(", b"${", b"`", b"<<E\n", b"$'", b"{1..9}", b"&&", b">&", b"\\\n"),
    ),
)
