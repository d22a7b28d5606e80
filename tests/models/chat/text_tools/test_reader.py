"""Tool calls in streamed text: what is a call, what is text, however the stream is cut."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.port import TextChunk
from models.chat.text_tools.prompt import call_text
from models.chat.text_tools.reader import TextCallReader

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'


def read(pieces: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
    reader = TextCallReader()
    events = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.finish()
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    return text, [(event.name, event.arguments) for event in events if not isinstance(event, TextChunk)]


def test_a_call_is_taken_out_of_the_text() -> None:
    assert read(["I look. \n" + CALL]) == ("I look. \n", [("read_file", '{"path": "a.py"}')])


def test_several_blocks_are_several_calls_in_order() -> None:
    other = call_text("list_files", '{"path": "."}')
    assert [name for name, _ in read([f"{CALL}\n{other}"])[1]] == ["read_file", "list_files"]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n```json\n" + '{"name": "read_file", "arguments": {"path": "a.py"}}' + "\n```\n</tool_call>",
        '<tool_call>{"name": "read_file", "parameters": {"path": "a.py"}}</tool_call>',
        '<tool_call>[{"name": "read_file", "arguments": {"path": "a.py"}}]</tool_call>',
        '<tool_call>{"function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}}</tool_call>',
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}',  # the closing tag is missing
        '<tool_calls>\n[{"name": "read_file", "arguments": {"path": "a.py"}}]\n</tool_calls>',
    ],
)
def test_what_small_models_write_is_a_call_too(text: str) -> None:
    shown, calls = read([text])
    assert not shown.strip()
    assert [(name, json.loads(arguments)) for name, arguments in calls] == [("read_file", {"path": "a.py"})]


@pytest.mark.parametrize(
    "text",
    [
        f"Write it so:\n```\n{CALL}\n```\nand wait.",
        f"~~~text\n{CALL}\n~~~",
        f"````\n```\n{CALL}\n```\n````",
        "The tag is `<tool_call>{` in code.",
        'A quote:\n> <tool_call>{"name": "remember", "arguments": {}}</tool_call>',
        'It says "<tool_call>{}</tool_call>" there.',
        "Use <tool_call> to call a tool.",
        '<tool_call>\n{"name": "read_file", "arguments": {"pa',  # unfinished
        "a < b and <tool",
        "1 <2",
    ],
)
def test_what_is_quoted_or_unfinished_is_text(text: str) -> None:
    assert read([text]) == (text, [])
    assert read(text) == (text, [])


def test_a_closing_tag_within_an_argument_ends_nothing() -> None:
    content = "ends with </tool_call> here"
    text = call_text("write_file", json.dumps({"path": "a", "text": content}))
    ((name, arguments),) = read([text])[1]
    assert (name, json.loads(arguments)["text"]) == ("write_file", content)


def test_line_breaks_in_a_string_are_read_as_they_are() -> None:
    ((_, arguments),) = read(['<tool_call>{"name": "write_file", "arguments": {"text": "a\nb"}}</tool_call>'])[1]
    assert json.loads(arguments) == {"text": "a\nb"}


@pytest.mark.parametrize("body", ['{"name": "read_file", "arguments": {path}}', '{"arguments": {}}', '{"name": 3}'])
def test_a_closed_block_that_is_no_call_is_a_malformed_one(body: str) -> None:
    text, ((name, arguments),) = read([f"<tool_call>\n{body}\n</tool_call>"])
    assert (text, name) == ("", "")
    assert "name" in arguments or "arguments" in arguments


def test_text_after_a_call_ends_the_answer() -> None:
    reader = TextCallReader()
    list(reader.feed(CALL + "\n"))
    assert not reader.is_over
    list(reader.feed("<tool_response>made up"))
    assert reader.is_over


def test_ordinary_text_is_given_out_at_once() -> None:
    reader = TextCallReader()
    assert [event.text for event in reader.feed("a ") if isinstance(event, TextChunk)] == ["a "]
    assert not list(reader.feed("<tool_ca"))
    assert "".join(event.text for event in reader.feed("ke>") if isinstance(event, TextChunk)) == "<tool_cake>"


PARTS = st.sampled_from(
    ["text ", "\n", "```\n", "> ", "`", "<", CALL, "<tool_call>", "</tool_call>", "{", "}", '"', "\n~~~\n", " ", "世界"]
)


@given(parts=st.lists(PARTS, max_size=12), cuts=st.lists(st.integers(1, 9), max_size=60))
def test_any_cut_gives_the_same(parts: list[str], cuts: list[int]) -> None:
    whole = "".join(parts)
    pieces, at = list[str](), 0
    for cut in cuts:
        pieces.append(whole[at : at + cut])
        at += cut
    pieces.append(whole[at:])
    assert read(pieces) == read([whole])


NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)


@given(name=NAMES, arguments=st.dictionaries(NAMES, st.text() | st.integers(), max_size=3))
def test_what_is_written_is_read_back(name: str, arguments: dict[str, object]) -> None:
    ((read_name, read_arguments),) = read(call_text(name, json.dumps(arguments)))[1]
    assert (read_name, json.loads(read_arguments)) == (name, arguments)
