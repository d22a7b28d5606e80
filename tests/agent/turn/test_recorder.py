"""What a model says on its way to disk."""

import re
from typing import Any, cast

import pytest

from agent.turn.recorder import AnswerRecorder
from foundation.privacy import EchoFilter
from memory.cold import AnswerWriter
from models.chat.port import TextChunk
from models.messages import ToolCall


class FakeAnswer:
    """Remembers what it was finished with."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.written = ""

    def write(self, text: str) -> None:
        self.written += text

    def abandon(self, _text: object = None, *, meta: dict[str, Any], **_: Any) -> None:
        self.meta = meta

    def finish(self, text: str, *, meta: dict[str, Any], **_: Any) -> None:
        self.meta = meta


def recorded(*calls: ToolCall) -> tuple[AnswerRecorder, dict[str, Any]]:
    answer = FakeAnswer()
    recorder = AnswerRecorder(cast("AnswerWriter", answer), "m")
    for call in calls:
        recorder.take(call)
    recorder.finish()
    return recorder, answer.meta


@pytest.mark.parametrize("id_", ["call_<private>ZORKID</private>", "call_ZORKID\n", "ghp" + "_" + "ZORKID7a" * 5])
def test_an_id_of_the_store_holds_nothing_of_the_model(id_: str) -> None:
    recorder, meta = recorded(ToolCall(id_, "search", "{}"))
    assert "ZORKID" not in str(meta)
    assert meta["tool_calls"][0]["id"] == recorder.calls[0].id


def test_ids_that_were_replaced_still_tell_calls_apart() -> None:
    recorder, _ = recorded(ToolCall("<private>a", "search", "{}"), ToolCall("<private>b", "search", "{}"))
    assert len({call.id for call in recorder.calls}) == 2


def test_ids_have_the_form_that_every_provider_accepts() -> None:
    first, again = (recorded(ToolCall("functions.search:0", "search", "{}"))[0].calls[0].id for _ in range(2))
    assert re.fullmatch("[A-Za-z0-9]{9}", first) and first != again


def test_a_private_tool_name_is_cleared() -> None:
    assert recorded(ToolCall("a", "x<private>ZORK</private>", "{}"))[0].calls[0].name == "x[private]"


def test_what_is_on_its_way_to_disk_has_no_hidden_words() -> None:
    answer = FakeAnswer()
    recorder = AnswerRecorder(cast("AnswerWriter", answer), "m", echoes=EchoFilter(["Berta Zork"]))
    for piece in ("It is Ber", "ta", " zo", "rk, I thi", "nk. Berta Zo"):
        recorder.take(TextChunk(piece))
        assert "zork" not in answer.written.lower()
    assert answer.written == "It is [private], I think. "
    recorder.abandon(stopped=True)
    assert answer.written == "It is [private], I think. Berta Zo"
    assert recorder.text == "It is Berta zork, I think. Berta Zo"


def test_a_call_has_no_hidden_words_in_its_id_and_name() -> None:
    recorder = AnswerRecorder(cast("AnswerWriter", FakeAnswer()), "m", echoes=EchoFilter(["zork7"]))
    recorder.take(ToolCall("call_zork7", "find_Zork7", "{}"))
    assert "zork7" not in recorder.calls[0].id
    assert recorder.calls[0].name == "find_[private]"
