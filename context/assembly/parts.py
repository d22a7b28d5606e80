"""Parts of a request in the order in which they are sent, each with its tokens and its exact text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from context.assembly.digest import Item
from models.messages import Image, Message, MessagePart, RecalledSpan, Role, Tool, ToolCall, render, wire_parts
from models.tokens import REQUEST_OVERHEAD

if TYPE_CHECKING:
    from context.assembly.request import RequestInputs
    from context.assembly.tokens import CountedMessage


class RequestPart(Struct, frozen=True, kw_only=True):
    """A part of a request. `zone` is A, B, C or D; `is_unchanged`: it and all parts before it were sent before.

    The tokens of all parts sum to those of the request.
    """

    zone: str
    layer: str
    source: str
    tokens: int
    role: Role
    contents: tuple[MessagePart, ...] = ()
    tools: tuple[Tool, ...] = ()
    is_unchanged: bool = False

    @property
    def text(self) -> str:
        """The text as the model reads it; pictures and tool calls are described, tools are JSON."""
        if self.tools:
            return msgspec.json.format(msgspec.json.encode(self.tools), indent=2).decode()
        return shown_text(Message(self.role, self.contents))

    @property
    def recalled(self) -> RecalledSpan | None:
        """The recalled passage that this part is; None for other parts."""
        match self.contents:
            case (RecalledSpan() as span,):
                return span
            case _:
                return None


def request_parts(
    inputs: "RequestInputs", last: "CountedMessage | None", items: Sequence[Item]
) -> tuple[RequestPart, ...]:
    """The parts of the request with these digest items."""
    unchanged = _unchanged_items(inputs.previous, items)
    return tuple(_parts(inputs, last, unchanged))


def _parts(inputs: "RequestInputs", last: "CountedMessage | None", unchanged: int) -> Iterator[RequestPart]:
    """Yields the parts; `unchanged` counts the digest items that were sent before."""
    tokens = REQUEST_OVERHEAD + inputs.tool_tokens
    name = f"tools ({len(inputs.tools)})" if inputs.tools else "opening"
    number = 1
    yield RequestPart(
        zone="A",
        layer="system",
        source=name,
        tokens=tokens,
        role=Role.SYSTEM,
        tools=inputs.tools,
        is_unchanged=number <= unchanged,
    )
    head = ((counted.message.role, *piece) for counted in inputs.head.messages for piece in counted.pieces)
    for role, piece, count in head:
        number += 1
        yield RequestPart(
            zone="A",
            layer=piece.layer.value,
            source=piece.source,
            tokens=count,
            role=role,
            contents=(piece.part,),
            is_unchanged=number <= unchanged,
        )
    history = (("B", inputs.history.summaries), ("C", inputs.history.turns))
    for zone, item, count in ((zone, item, count) for zone, rows in history for item, count in rows):
        number += 1
        yield RequestPart(
            zone=zone,
            layer="conversation",
            source="summaries and pages" if zone == "B" and item.message.role is Role.USER else "",
            tokens=count,
            role=item.message.role,
            contents=item.message.parts,
            is_unchanged=number <= unchanged,
        )
    for piece, count in last.pieces if last else ():
        yield RequestPart(
            zone="D",
            layer=piece.layer.value,
            source=piece.source,
            tokens=count,
            role=Role.USER,
            contents=(piece.part,),
            is_unchanged=number < unchanged,
        )


def shown_text(message: Message) -> str:
    """The message as text for display: images and tool calls are described."""
    return "\n\n".join(text for part in wire_parts(message) if (text := _part_text(part)))


def _unchanged_items(previous: Sequence[Item], items: Sequence[Item]) -> int:
    """Number of digest items in the longest common prefix."""
    pairs = enumerate(zip(previous, items, strict=False))
    return next((n for n, (before, now) in pairs if before[0] != now[0]), min(len(previous), len(items)))


def _part_text(part: MessagePart) -> str:
    match part:
        case Image(name=name, width=width, height=height):
            return f"[picture {name}: {width}×{height}]"
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} {arguments}]"
        case _:
            return render(part)
