"""Joins pieces of text that arrived together: each event on its way to the disk and the screen has a price."""

from collections.abc import Iterable, Iterator

from models.chat.port import Event, ReasoningChunk, TextChunk


def joined_text(events: Iterable[Event]) -> Iterator[Event]:
    """The events, with neighbouring pieces of text, or of reasoning, as one; an error comes after them."""
    held: TextChunk | ReasoningChunk | None = None
    try:
        for event in events:
            if isinstance(event, TextChunk | ReasoningChunk):
                if held is not None and type(event) is type(held):
                    held = type(event)(held.text + event.text)
                    continue
                if held is not None:
                    yield held
                held = event
                continue
            if held is not None:
                yield held
                held = None
            yield event
    except Exception:
        if held is not None:
            yield held
        raise
    if held is not None:
        yield held
