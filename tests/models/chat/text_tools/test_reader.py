"""Tool calls in streamed text: what is a call, what is text, however the stream is cut."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.port import TextChunk
from models.chat.text_tools.candidate import is_written_call
from models.chat.text_tools.prompt import call_text
from models.chat.text_tools.reader import TextCallReader
from models.messages import Tool

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'


CORPUS = Path(__file__).parent / "corpus"
TOOLS = {tool["name"]: Tool(**tool) for tool in json.loads((CORPUS / "tools.json").read_text("utf-8"))}


def read(
    pieces: Iterable[str], tools: Iterable[Tool] = TOOLS.values(), question: str = "", *, is_cut: bool = False
) -> tuple[str, list[tuple[str, str]]]:
    reader = TextCallReader(tools, question)
    events = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.finish(is_cut=is_cut)
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


def test_a_set_of_objects_is_a_malformed_call() -> None:
    text, ((name, _),) = read(["<tool_call>[{{'a': 1}}]</tool_call>"])
    assert (text, name) == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "> <function_calls>\n> read_file(path='notes.txt')\n> </function_calls>\n\nis what it wrote.",
        '> functools[{"name": "read_file", "arguments": {"path": "a"}}]\n\nis what it wrote.',
        '> {"name": "read_file", "arguments": {"path": "a"}}\n\nis what it wrote.',
    ],
)
def test_a_call_in_a_quotation_is_text_however_the_stream_is_cut(text: str) -> None:
    for size in (1, 2, 3, len(text)):
        assert read([text[at : at + size] for at in range(0, len(text), size)]) == (text, [])


def test_text_after_a_call_ends_the_answer() -> None:
    reader = TextCallReader(TOOLS.values())
    list(reader.feed(CALL + "\n"))
    assert not reader.is_over
    list(reader.feed("<tool_response>made up"))
    assert reader.is_over


def test_ordinary_text_is_given_out_at_once() -> None:
    reader = TextCallReader(TOOLS.values())
    assert "".join(event.text for event in reader.feed("a ") if isinstance(event, TextChunk)) == "a "
    assert not list(reader.feed("<tool_ca"))
    assert "".join(event.text for event in reader.feed("ke>") if isinstance(event, TextChunk)) == "<tool_cake>"


MARKS = [
    *(
        "text ",
        "\n",
        "```\n",
        "> ",
        "`",
        "<",
        CALL,
        "<tool_call>",
        "</tool_call>",
        "{",
        "}",
        '"',
        "\n~~~\n",
        " ",
        "世界",
    ),
    *(
        "\n\n",
        "```json\n",
        '{"name": "read_file", "arguments": {"path": "a"}}',
        '{"name": "x", ',
        '"arguments": {}',
        "[",
        "]",
    ),
    *(
        "<function=read_file>",
        "<parameter=path>",
        "</parameter>",
        "</function>",
        "<|python_tag|>",
        "[TOOL_CALLS]",
        "[ARGS]",
    ),
    *(
        "read_file",
        '(path="a")',
        "functions.read_file:0",
        "to=",
        "<arg_key>path</arg_key>",
        "<arg_value>b</arg_value>",
        "'",
    ),
    *(
        "<tools>",
        "</tools>",
        '<invoke name="read_file">',
        "json",
        ":",
        ".",
        "=",
        "<｜tool▁sep｜>",
        "\\",
        "<tool_response>",
        "/>",
    ),
    *("<start_function_call>", "<end_function_call>", "call:", "{path:<escape>a<escape>}", "<escape>", '<|"|>'),
    *("<|tool_call>", "<tool_call|>", "<minimax:tool_call>", '<｜DSML｜invoke name="read_file">', "<TOOLCALL>"),
    *("Action: read_file", "Action:", "Action Input:", "functools", "read_file.call", '{"read_file": {"path": "x"}}'),
    *("<read_file>", "</read_file>", "<path>", "</path>", "<invoke>", "default_api.", '{"read_file": ', "> "),
    *(
        '<function name="read_file" arguments=\'{"path": "a"}\'',
        ",",
        "``` json",
        "  {",
        "    ",
        " [",
        "For example:",
        "<palimpsest-x",
    ),
]
PARTS = st.sampled_from(MARKS)


@given(parts=st.lists(PARTS, max_size=12), cuts=st.lists(st.integers(1, 9), max_size=60), is_cut=st.booleans())
def test_any_cut_gives_the_same(parts: list[str], cuts: list[int], is_cut: bool) -> None:
    whole = "".join(parts)
    pieces, at = list[str](), 0
    for cut in cuts:
        pieces.append(whole[at : at + cut])
        at += cut
    pieces.append(whole[at:])
    assert read(pieces, is_cut=is_cut) == read([whole], is_cut=is_cut)


NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)


@given(name=NAMES, arguments=st.dictionaries(NAMES, st.text() | st.integers(), max_size=3))
def test_what_is_written_is_read_back(name: str, arguments: dict[str, object]) -> None:
    ((read_name, read_arguments),) = read(call_text(name, json.dumps(arguments)))[1]
    assert (read_name, json.loads(read_arguments)) == (name, arguments)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def called(row: dict[str, Any], step: int) -> tuple[str, list[list[Any]]]:
    tools = TOOLS.values() if row["tools"] == "all" else [TOOLS[name] for name in row["tools"]]
    pieces = [row["text"][at : at + step] for at in range(0, len(row["text"]), step)]
    text, calls = read(pieces, tools, row.get("question", ""))
    return text, [[name, json.loads(arguments) if name else arguments] for name, arguments in calls]


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_calls_of_the_corpus_are_recognised_and_other_texts_are_not(half: str) -> None:
    positives, negatives = rows(f"{half}_positive"), rows(f"{half}_negative")
    for step in (4, 100_000):
        results = [(*called(row, step), row) for row in positives]
        missed = [row["text"] for _, calls, row in results if calls != row["calls"]]
        assert len(missed) <= 0.03 * len(positives), missed
        taken = [row["text"] for row in negatives if called(row, step) != (row["text"], [])]
        assert len(taken) <= 0.01 * len(negatives), taken
        tagged = [text for text, calls, row in results if calls == row["calls"] and set("<{") & set(text)]
        assert not tagged


def test_a_text_that_only_begins_like_a_call_is_shown_soon() -> None:
    for row in rows("seen_negative") + rows("unseen_negative"):
        if row["kind"] != "document":
            continue
        reader, shown = TextCallReader(TOOLS.values(), row["question"]), 0
        for number, char in enumerate(row["text"], 1):
            shown += sum(len(event.text) for event in reader.feed(char) if isinstance(event, TextChunk))
            assert number - shown <= 80, row["text"][shown:number]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "hello", "arguments": {}}', "hello"),
        ('```json\n{"name": "hello", "arguments": {"text": "Hello"}}\n```', "hello"),
        ('I greet.\n{"name": "read_file", "arguments": {"file": "a"}}', "read_file"),
        ('<function=launch>{"a": 1}</function>', "launch"),
        ("<tools>\n{broken}\n</tools>", ""),
        ('<tool_response>\n{"a": 1}\n</tool_response>', ""),
        ('<palimpsest-recalled-abcdefgh deadline="2026-11-28" />', ""),
    ],
)
def test_a_call_that_cannot_be_made_is_malformed_and_not_shown(text: str, name: str) -> None:
    shown, calls = read(text)
    assert [call for call, _ in calls] == [name]
    assert "{" not in shown and "<" not in shown
    assert read([text]) == (shown, calls)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ('{"name": "hello", "arguments": {}}', "Write a JSON object with name and arguments"),
        ('{"name": "read_file", "arguments": {"path": "a"}}', "Show me a tool call as JSON"),
        ('{"name": "Rex", "age": 3}', "my dog"),
        ('{"name": "hello", "arguments": {}}\n\nis what it wrote.', "?"),
        ("<tool_response> is a tag.", "?"),
    ],
)
def test_what_the_user_asked_for_is_text(text: str, question: str) -> None:
    assert read([text], question=question) == (text, [])


def test_a_call_is_not_shown_before_it_is_whole() -> None:
    reader = TextCallReader(TOOLS.values())
    shown = [event for char in '{"name": "read_file", "arguments": {"path": "a"}}' for event in reader.feed(char)]
    assert not shown
    assert [event.name for event in reader.finish() if not isinstance(event, TextChunk)] == ["read_file"]


def test_json_that_is_no_call_is_shown_from_its_first_telling_key_on() -> None:
    reader = TextCallReader(TOOLS.values())
    assert not list(reader.feed('```json\n{"name": "demo"'))
    assert "".join(event.text for event in reader.feed(', "version": ') if isinstance(event, TextChunk)).endswith(": ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"name": "hello", "arguments": {}}', True),
        ('```json\n{"name": "hello", "arguments": {"a": 1}}\n```', True),
        ("<tool_response>x</tool_response>", True),
        ('{"name": "read_fi', True),
        ('<tool_call>\n{"name": "read_file", "arguments": {"pa', True),
        ('{"name": "Rex", "age": 3}', False),
        ('{"name": "Rex", "age": 3, "friends": [', False),
        ("Hello! How can I help?", False),
        ('He wrote {"name": "hello", "arguments": {}}', False),
    ],
)
def test_a_stored_text_that_is_a_call_is_told_from_an_answer(text: str, expected: bool) -> None:
    assert is_written_call(text) is expected


EXPLAINED = '{"name": "read_file", "arguments": {"path": "notes.txt"}}'


@pytest.mark.parametrize(
    "answer",
    [
        f"You can use the `read_file` tool. Here's how you can do it:\n```json\n{EXPLAINED}\n```\nThis will read it.",
        f"读取: {EXPLAINED}",
        f"To use a tool, reply with only this JSON: {EXPLAINED}\n\nThe result",
        "{" + EXPLAINED + "}",
        "{" + EXPLAINED + "}}",
    ],
)
def test_a_call_that_a_model_explains_counts_unless_the_user_asks_about_calls(answer: str) -> None:
    for question, count in (("Read notes.txt.", 1), ("How do I call read_file?", 0)):
        reader = TextCallReader(TOOLS.values(), question)
        events = [*(event for char in answer for event in reader.feed(char)), *reader.finish()]
        calls = [(event.name, event.arguments) for event in events if not isinstance(event, TextChunk)]
        is_bare = answer.startswith("{")
        assert calls == [("read_file", '{"path": "notes.txt"}')] * (1 if is_bare else count)


@pytest.mark.parametrize("quoted", [EXPLAINED, f"The file says:\n{EXPLAINED}", f"```json\n{EXPLAINED}\n```", CALL])
def test_what_a_text_of_the_request_holds_word_for_word_is_no_call(quoted: str) -> None:
    for texts, count in (((), 1), ((f"line 1\n{quoted}\nline 3",), 0)):
        reader = TextCallReader(TOOLS.values(), "Print a.txt.", lambda texts=texts: texts)
        events = [*reader.feed(quoted), *reader.finish()]
        assert len([event for event in events if not isinstance(event, TextChunk)]) == count


@pytest.mark.parametrize(
    "question",
    [
        "Show me an example of a run_command call as JSON",
        "给我一个 read_file 调用的例子",
        "Write JSON with fields name and arguments for read_file",
        "What does the model emit to read a file? Only show it, don't run it.",
        "Give me the JSON of a call of read_file for a.txt, do not run it",
        "What would the JSON look like?",
        "What would be the python line that calls my function read_file on a.txt?",
        "Explain what you would do to read a file",
    ],
)
def test_a_call_that_the_user_asks_to_see_is_text(question: str) -> None:
    for answer in (EXPLAINED, f"```json\n{EXPLAINED}\n```"):
        assert read([answer], question=question)[1] == []


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "read_file", "arguments": {"path": "notes.txt"}',
        "{'name': 'read_file', 'arguments': {'path': 'notes.txt'}}",
        '{"name": "read_file", "arguments": {"path": "notes.txt",},}',
        '```json\n{"name": "read_file", "arguments": {"path": "notes.txt"},}\n```',
        '{"name": "read_file", "arguments": {"path": "notes.txt"}}\n\nI will tell you when I have it.',
        'Let me look at it: {"name": "read_file", "arguments": {"path": "notes.txt"}}',
    ],
)
def test_a_call_with_a_slip_or_with_words_around_it_is_a_call(answer: str) -> None:
    assert read(answer, question="Read notes.txt.")[1] == [("read_file", '{"path": "notes.txt"}')]
