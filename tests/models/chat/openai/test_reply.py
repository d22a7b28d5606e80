"""Putting chunks together: words, thoughts, tool calls in pieces, and what the server counted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.openai.reply import OpenAIReplyReader
from models.chat.port import Event, PrefillProgress, ReasoningChunk, StopReason, TextChunk, TextWasReasoning
from models.chat.reasoning import ThinkSplitter
from models.messages import ToolCall, Usage
from models.settings import ModelSettings
from tests.loopback import Loopback, chat_bytes, data, delta, http, in_pieces, json_reply, stream
from tests.models.chat.events import events_of, thoughts, words


def read(*chunks: dict[str, Any]) -> tuple[list[Event], OpenAIReplyReader]:
    reader = OpenAIReplyReader()
    events = [event for chunk in chunks for event in reader.feed(json.loads(json.dumps(chunk)))]
    return events + list(reader.finish()), reader


def piece(index: int | None = None, **given: Any) -> dict[str, Any]:
    function = {key: given.pop(key) for key in ("name", "arguments") if key in given}
    call = given | ({"function": function} if function else {}) | ({} if index is None else {"index": index})
    return delta(tool_calls=[call])


def calls(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in events if isinstance(call, ToolCall)]


def test_two_calls_whose_pieces_are_mixed() -> None:
    events, reader = read(
        piece(0, id="a", type="function", name="search", arguments=""),
        piece(1, id="b", type="function", name="read", arguments='{"id'),
        piece(0, arguments='{"q": '),
        piece(1, arguments='": 7}'),
        piece(0, arguments='"白色"}'),
        delta("tool_calls"),
    )
    assert calls(events) == [("a", "search", '{"q": "白色"}'), ("b", "read", '{"id": 7}')]
    assert reader.reason is StopReason.TOOL_CALLS


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain", "application/json"])
async def test_a_stream_is_known_by_how_it_begins(loopback: Loopback, kind: str) -> None:
    steps = [b"\n", b": hi\n\nda", data(delta(content="Hello"))[2:], data(delta("stop")), data("[DONE]")]
    loopback.plays(http(steps, kind=kind))
    assert words(await events_of(f"openai:m@{loopback.address}/v1", ModelSettings())) == "Hello"


def test_calls_without_an_id_get_one_each() -> None:
    events, _ = read(piece(0, name="a", arguments="{}"), piece(1, name="b", arguments="{}"), delta("tool_calls"))
    ids = [call[0] for call in calls(events)]
    assert all(ids)
    assert len(set(ids)) == 2


def test_a_new_id_under_an_old_index_is_another_call() -> None:
    events, _ = read(
        piece(0, id="a", name="f", arguments="{}"), piece(0, id="b", name="g", arguments="{}"), delta("stop")
    )
    assert [call[1] for call in calls(events)] == ["f", "g"]


def test_calls_without_an_index_are_told_apart_by_their_place() -> None:
    two = [
        {"id": "a", "function": {"name": "f", "arguments": "{}"}},
        {"id": "b", "function": {"name": "g", "arguments": "{}"}},
    ]
    events, reader = read(delta(tool_calls=two), delta("stop"))
    assert [call[1] for call in calls(events)] == ["f", "g"]
    assert reader.reason is StopReason.TOOL_CALLS, "Ollama says stop"


@pytest.mark.parametrize(
    "names", [("read_", "file"), ("read_", "read_file"), ("read_file", "read_file"), ("", "read_file")]
)
def test_a_name_in_pieces_is_one_name(names: tuple[str, str]) -> None:
    first, second = names
    events, _ = read(
        piece(0, id="a", name=first, arguments=""), piece(0, name=second), piece(0, arguments='{"n": 1}'), delta("stop")
    )
    assert calls(events) == [("a", "read_file", '{"n": 1}')]


def test_a_name_after_arguments_is_another_call() -> None:
    events, _ = read(piece(0, name="f", arguments="{}"), piece(0, name="g", arguments="{}"), delta("stop"))
    assert [call[1] for call in calls(events)] == ["f", "g"]


def test_arguments_that_are_an_object_or_nothing() -> None:
    events, _ = read(piece(0, id="a", name="f", arguments={"n": 1}), piece(1, id="b", name="g"), delta("tool_calls"))
    assert [call[2] for call in calls(events)] == ['{"n": 1}', "{}"]


def test_half_a_call_is_none() -> None:
    events, reader = read(piece(0, id="a", name="f", arguments='{"n": '), delta("length"))
    assert calls(events) == []
    assert reader.reason is StopReason.LENGTH


def test_an_answer_that_a_filter_ended_says_so() -> None:
    _, reader = read(delta(content="So"), delta("content_filter"))
    assert reader.reason is StopReason.FILTERED


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thoughts_stand_apart(key: str) -> None:
    events, _ = read(delta(**{key: "Hm. "}), delta(**{key: "So."}), delta(content="Yes."), delta("stop"))
    assert (thoughts(events), words(events)) == ("Hm. So.", "Yes.")


def test_surrogates_that_escapes_cut_apart_become_one_character() -> None:
    events, _ = read(delta(content="a\ud83d"), delta(content="\udc0b!"), delta(content="\ud83d"), delta("stop"))
    assert words(events) == "a🐋!\ufffd"
    words(events).encode()


def test_the_count_of_llama_cpp_with_its_cache_and_its_speed() -> None:
    timings = {"cache_n": 40, "prompt_n": 2, "predicted_n": 5, "predicted_per_second": 31.5}
    usage = {"prompt_tokens": 42, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 40}}
    _, reader = read(delta("stop"), {"choices": [], "usage": usage, "timings": timings})
    assert reader.counted() == Usage(42, 5, 40, extra={"timings": timings})
    _, reader = read({**delta("stop"), "timings": timings})
    assert reader.counted() == Usage(42, 5, 40, extra={"timings": timings})


def test_a_prompt_being_read_is_told() -> None:
    events, _ = read({**delta(role="assistant"), "prompt_progress": {"total": 90, "cache": 0, "processed": 30}})
    assert events == [PrefillProgress(30, 90)]


async def test_a_whole_answer_cut_at_every_byte(loopback: Loopback, hasty: ModelSettings) -> None:
    whole = b": keepalive 1/2\r\n\r\n" + chat_bytes("白色 ", "sails 🐋", " é")
    loopback.plays(stream(*in_pieces(whole)))
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "白色 sails 🐋 é"
    assert any(event == Usage(12, 3) for event in events)


async def test_a_server_that_counts_nothing_is_estimated(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(stream(data(delta(content="Yes.")), data(delta("stop")), data("[DONE]")))
    usage = [event for event in await events_of(f"openai:m@{loopback.address}", hasty) if isinstance(event, Usage)]
    assert usage[0].estimated
    assert usage[0].prompt_tokens > 5


async def test_a_server_that_does_not_stream_is_understood(loopback: Loopback, hasty: ModelSettings) -> None:
    message = {"role": "assistant", "content": "At once.", "reasoning_content": "Hm."}
    loopback.plays(json_reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    events = await events_of(f"openai:m@{loopback.address}", hasty)
    assert (words(events), thoughts(events)) == ("At once.", "Hm.")


def split(*chunks: str, thinking: bool = False) -> tuple[str, str]:
    splitter = ThinkSplitter(thinking=thinking)
    thought = text = ""
    for event in [*(event for chunk in chunks for event in splitter.feed(chunk)), *splitter.close()]:
        match event:
            case ReasoningChunk():
                thought += event.text
            case TextChunk():
                text += event.text
            case TextWasReasoning():
                thought, text = thought + text, ""
    return thought, text


@pytest.mark.parametrize(
    ("text", "thinking", "expected"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", False, ("Hm.\n", "Yes.")),
        ("Hm.</think>Yes.", True, ("Hm.", "Yes.")),
        ("Yes, <think> is a tag.", False, ("", "Yes, <think> is a tag.")),
        ("<thin air", False, ("", "<thin air")),
        ("<think>never closed", False, ("never closed", "")),
        ("<think></think>Yes </think> too", False, ("", "Yes </think> too")),
        ("  \n<think>Hm.</think>Yes", False, ("Hm.", "Yes")),
        ("   ", False, ("", "   ")),
        ("I choose blue.\n</think>\n\nBlue.", False, ("I choose blue.\n", "Blue.")),
        ("</think>\n\nBlue.", False, ("", "Blue.")),
        ("The tag `</think>` ends it.", False, ("", "The tag `</think>` ends it.")),
        ("So:\n```\n</think>\n```\nthat.", False, ("", "So:\n```\n</think>\n```\nthat.")),
        ("The tag “</think>” ends it.", False, ("", "The tag “</think>” ends it.")),
        ("A\n```\nb\n```\n</think>C", False, ("A\n```\nb\n```\n", "C")),
        ("<think>Hm.</think>\n<think>So.</think>Yes", False, ("Hm.So.", "Yes")),
        ("<think>Hm.</think>So.\n</think>\nYes", False, ("Hm.So.\n", "Yes")),
        ("Hm.</think>So.</think>Yes", False, ("Hm.So.", "Yes")),
        ("<think>a <think>b</think> c</think>Blue.", False, ("a <think>b c", "Blue.")),
        ("<think>Hm.</think>Write `</think>` after it.", False, ("Hm.", "Write `</think>` after it.")),
        ("<think>Hm.</think>So.</thinking>Yes", False, ("Hm.", "So.</thinking>Yes")),
        ("<think>Hm.</think>Write <think> and\n</think> then.", False, ("Hm.", "Write <think> and\n</think> then.")),
        *(
            (f"{opening}Hm.{closing}Yes", False, ("Hm.", "Yes"))
            for opening, closing in (
                ("<thinking>", "</thinking>"),
                ("<thought>", "</thought>"),
                ("<reasoning>", "</reasoning>"),
                ("<THINK>", "</THINK>"),
                ("<Think>", "</Think>"),
                ("[THINK]", "[/THINK]"),
                ("<seed:think>", "</seed:think>"),
                ("◁think▷", "◁/think▷"),
                ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
            )
        ),
        ("Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes", False, ("Hm.<|end|><|start|>assistant", "Yes")),
    ],
)
def test_thoughts_in_the_text_are_told_from_words(text: str, thinking: bool, expected: tuple[str, str]) -> None:
    assert split(text, thinking=thinking) == expected
    assert split(*text, thinking=thinking) == expected


@given(
    st.lists(
        st.sampled_from(
            ["<think>", "</think>", "<", "think>", "\n", "a", " ", "</", "🐋", "`", "```", "[THINK]", "[/THI", "NK]"]
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_any_cut_tells_the_same_thoughts(pieces: list[str], thinking: bool) -> None:
    assert split(*pieces, thinking=thinking) == split("".join(pieces), thinking=thinking)
