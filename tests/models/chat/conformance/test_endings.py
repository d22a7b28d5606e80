"""How an answer ends, on every protocol: what broke off is never whole, and nothing is waited for without end."""

import time

import pytest

from models.chat.port import AnswerEnd, StopReason, TextWasReasoning
from tests.loopback import Cut, Loopback, Pause, data, delta, json_reply, stream
from tests.models.chat.conformance.dialects import DIALECTS, Dialect, answered
from tests.models.chat.events import failure, thoughts, words

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.provider)


@every_dialect
@pytest.mark.parametrize(
    "reason", ["insufficient_system_resource", "error", "abort", "pause_turn", "yet_to_be_invented"]
)
async def test_a_reason_that_is_not_known_is_no_end(loopback: Loopback, dialect: Dialect, reason: str) -> None:
    loopback.plays(stream(dialect.text("The first "), dialect.end(reason), dialect.done))
    events = await answered(loopback, dialect)
    failed = failure(events)
    assert words(events) == "The first "
    assert failed.code == "cut_off" and f"`{reason}`" in failed.message


@every_dialect
async def test_a_broken_answer_without_a_word_is_asked_for_again(loopback: Loopback, dialect: Dialect) -> None:
    loopback.plays(
        stream(dialect.end("insufficient_system_resource"), dialect.done),
        stream(dialect.text("Yes."), dialect.end(dialect.stop), dialect.done),
    )
    assert words(await answered(loopback, dialect)) == "Yes."


@every_dialect
async def test_an_error_after_text_keeps_the_text_and_the_servers_words(loopback: Loopback, dialect: Dialect) -> None:
    loopback.plays(stream(dialect.text("Half "), dialect.error("api_error", "Upstream gone")))
    events = await answered(loopback, dialect)
    assert words(events) == "Half "
    assert "Upstream gone" in failure(events).message


OPENAI, OVERFLOW = DIALECTS[0], "the request exceeds the available context size (4096 tokens)"
ERROR = {"code": 502, "message": "Worker limit reached"}
CHOICE = delta("error", content="")["choices"][0]


@pytest.mark.parametrize(
    "chunk",
    [
        data({"choices": [], "error": ERROR}),
        data(delta("error", content="") | {"error": ERROR}),
        data({"choices": [CHOICE | {"error": ERROR}]}),
        data({"choices": [{"index": 0, "delta": {"error": ERROR}}]}),
        data([{"error": ERROR}]),
        data({"object": "error", **ERROR}),
        data({"message": "Worker limit reached"}, event="error"),
        data("Worker limit reached", event="error"),
        b'error: {"code":502,"message":"Worker limit reached"}\n\n',
    ],
)
async def test_an_error_is_told_wherever_it_stands(loopback: Loopback, chunk: bytes) -> None:
    loopback.answers_all(lambda _: stream(OPENAI.text("Half "), chunk, OPENAI.done))
    events = await answered(loopback, OPENAI)
    assert words(events) == "Half "
    assert "Worker limit reached" in failure(events).message


async def test_a_request_that_can_never_be_right_is_sent_once(loopback: Loopback) -> None:
    error = {"type": "invalid_request_error", "message": "bad role"}
    loopback.answers_all(lambda _: stream(data({"choices": [], "error": error})))
    assert failure(await answered(loopback, OPENAI)).code == "bad_request"
    assert len(loopback.posts) == 1


@pytest.mark.parametrize(
    "reply",
    [
        json_reply({"error": {"message": OVERFLOW}}, status=400),
        json_reply([{"error": {"message": OVERFLOW}}], status=400),
        json_reply({"error": {"message": OVERFLOW}}),
        stream(data({"choices": [], "error": {"message": OVERFLOW}})),
        stream(data({"message": OVERFLOW}, event="error")),
        stream(f'error: {{"code":400,"message":"{OVERFLOW}"}}\n\n'.encode()),
        stream(data(delta("error") | {"error": {"code": 400, "message": OVERFLOW}})),
    ],
)
async def test_an_overflow_is_understood_in_any_form(loopback: Loopback, reply: list[bytes]) -> None:
    loopback.answers_all(lambda _: reply)
    failed = failure(await answered(loopback, OPENAI))
    assert (failed.code, failed.overflow.window) == ("too_large", 4096)
    assert len(loopback.posts) == 1


@every_dialect
async def test_an_end_without_an_end_is_none(loopback: Loopback, dialect: Dialect) -> None:
    loopback.plays(stream(dialect.text("Half "), Cut()))
    assert failure(await answered(loopback, dialect)).code == "cut_off"


@every_dialect
@pytest.mark.parametrize("sign", [b": keep-alive\n\n", b'event: ping\ndata: {"type": "ping", "choices": []}\n\n'])
async def test_keep_alives_after_the_end_are_not_waited_for(loopback: Loopback, dialect: Dialect, sign: bytes) -> None:
    alive = [step for _ in range(60) for step in (sign, Pause(0.1))]
    loopback.plays(stream(dialect.text("The whole."), dialect.end(dialect.stop), *alive))
    start = time.monotonic()
    events = await answered(loopback, dialect)
    assert (words(events), events[-1]) == ("The whole.", AnswerEnd(StopReason.STOP))
    assert time.monotonic() - start < 4


@every_dialect
@pytest.mark.parametrize("sign", [b": keep-alive\n\n", b'event: ping\ndata: {"type": "ping", "choices": []}\n\n'])
@pytest.mark.parametrize("has_text", [False, True])
async def test_signs_of_life_alone_are_not_waited_for_without_end(
    loopback: Loopback, dialect: Dialect, sign: bytes, has_text: bool
) -> None:
    alive = [step for _ in range(60) for step in (sign, Pause(0.1))]
    loopback.answers_all(lambda _: stream(*([dialect.text("Half ")] if has_text else []), *alive))
    failed = failure(await answered(loopback, dialect))
    assert (failed.code, failed.title) == ("timed_out", "The answer stalled")
    assert "keep-alives" in failed.message


async def test_text_after_the_end_and_empty_reasons_still_count(loopback: Loopback) -> None:
    chunks = [data(delta("", content="one ")), data(delta("stop", content="two ")), data(delta(content="three"))]
    loopback.plays(stream(*chunks, OPENAI.done))
    assert words(await answered(loopback, OPENAI)) == "one two three"


@every_dialect
async def test_a_closing_tag_alone_makes_reasoning_of_what_was_text(loopback: Loopback, dialect: Dialect) -> None:
    pieces = ("A colour is asked for. ", "I choose blue.", "\n</thi", "nk>\n\n", "Blue.")
    loopback.plays(stream(dialect.text(*pieces), dialect.end(dialect.stop), dialect.done))
    events = await answered(loopback, dialect)
    withdrawn = next(place for place, event in enumerate(events) if isinstance(event, TextWasReasoning))
    assert words(events[:withdrawn]) == "A colour is asked for. I choose blue.\n"
    assert words(events[withdrawn:]) == "Blue."


async def test_mistrals_parts_of_thinking_are_reasoning(loopback: Loopback) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    chunks = [data(delta(content=[thinking])), data(delta(content=[{"type": "text", "text": "Yes."}]))]
    loopback.plays(stream(*chunks, OPENAI.end("stop"), OPENAI.done))
    events = await answered(loopback, OPENAI)
    assert (thoughts(events), words(events)) == ("Hm.", "Yes.")


@pytest.mark.parametrize("reason", ["tool_calls", "function_call"])
async def test_calls_that_are_announced_and_do_not_come_are_none(loopback: Loopback, reason: str) -> None:
    old = data({"choices": [{"index": 0, "delta": {"function_call": {"name": "f", "arguments": "{}"}}}]})
    loopback.plays(stream(old, OPENAI.end(reason), OPENAI.done))
    assert (await answered(loopback, OPENAI))[-1] == AnswerEnd(StopReason.STOP)


async def test_anthropics_announced_calls_that_do_not_come_are_none(loopback: Loopback) -> None:
    anthropic = next(dialect for dialect in DIALECTS if dialect.provider == "anthropic")
    loopback.plays(stream(anthropic.text("Hm."), anthropic.end("tool_use"), anthropic.done))
    assert (await answered(loopback, anthropic))[-1] == AnswerEnd(StopReason.STOP)


async def test_a_refusal_in_words_is_the_answer(loopback: Loopback) -> None:
    chunks = [data(delta(refusal="I cannot ")), data(delta(refusal="help.", content=None))]
    loopback.plays(stream(*chunks, OPENAI.end("stop"), OPENAI.done))
    events = await answered(loopback, OPENAI)
    assert (words(events), events[-1]) == ("I cannot help.", AnswerEnd(StopReason.FILTERED))
