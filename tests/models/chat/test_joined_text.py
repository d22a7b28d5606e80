"""Text that arrived together is one event, in order, also before an error."""

from collections.abc import Iterator

import pytest

from models.chat.joined_text import joined_text
from models.chat.port import Event, ReasoningChunk, TextChunk
from models.messages import ToolCall

CALL = ToolCall("call_1", "read", "{}")


def test_neighbouring_pieces_are_one_event() -> None:
    events = [ReasoningChunk("a"), ReasoningChunk("b"), TextChunk("c"), TextChunk("d"), CALL, TextChunk("e")]
    assert list(joined_text(events)) == [ReasoningChunk("ab"), TextChunk("cd"), CALL, TextChunk("e")]


def test_what_came_before_an_error_is_given_first() -> None:
    def failing() -> Iterator[Event]:
        yield TextChunk("kept")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(joined_text(failing()))
    events = joined_text(failing())
    assert next(events) == TextChunk("kept")
