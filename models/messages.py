"""The types that every package shares: a request is messages, a message is parts.

Only `wire_parts` and `render` turn a part into what a model reads, so that the text that is counted is the text that is
sent, and foreign text passes the fence (models.fence).
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from msgspec import Struct, field

from foundation.trust import Citation
from models.fence import fence_text, label, neutralise, neutralise_json
from models.recalled import RecalledSpan, recalled_block

__all__ = [
    "Fact",
    "Image",
    "Message",
    "MessagePart",
    "PromptCacheSlot",
    "ProviderFields",
    "RecalledSpan",
    "Request",
    "Role",
    "Text",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Usage",
    "assistant",
    "holds_nonce",
    "image_placeholder",
    "parts_text",
    "render",
    "request_nonces",
    "system",
    "user",
    "wire_parts",
]


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Text(Struct, frozen=True, tag="text"):
    """Text. `injected` names the kind of a part that the program added: never stored or recalled as a message; its tags
    carry `nonce`."""

    text: str
    injected: str = ""  # "", or what it is: instructions | changes | skill | attachment | …
    nonce: str = ""


class Image(Struct, frozen=True, tag="image"):
    """A picture for a vision model: encoded bytes, pixels wide and high."""

    data: bytes
    media_type: str
    width: int
    height: int
    name: str = ""


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """The model's call of a tool. `arguments` is JSON, as received. `is_unoffered`: it was written as text, and names a
    tool that the request did not offer."""

    id: str
    name: str
    arguments: str
    is_unoffered: bool = False


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """A tool's result, bounded for the model; the whole is in the cold store."""

    call_id: str
    name: str
    text: str
    failed: bool = False


class ProviderFields(Struct, frozen=True, tag="provider_fields"):
    """Fields that a provider attached to an answer and expects back: signatures, reasoning, its own ids of calls.

    Sent unchanged to the same `origin`, a provider and model, and to no other. `calls` are by the id of the call.
    `reasoning` is sent back as plain text under the name `reasoning_field`.
    """

    origin: str
    message: dict[str, Any] = {}
    calls: dict[str, dict[str, Any]] = {}
    reasoning_field: str = ""
    reasoning: str = ""


MessagePart = Text | Image | ToolCall | ToolResult | RecalledSpan | ProviderFields


class Message(Struct, frozen=True):
    role: Role
    parts: tuple[MessagePart, ...]

    @property
    def text(self) -> str:
        """All of the message's words, as a model reads them (images left out)."""
        return parts_text(wire_parts(self))


class Tool(Struct, frozen=True):
    """A tool offered to the model. `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Fact(Struct, frozen=True):
    """A fact about the program itself, from which `offline` answers questions about it."""

    topic: str
    text: str
    keywords: tuple[str, ...] = ()


class PromptCacheSlot(Struct, frozen=True):
    """Whose request it is, for a model that keeps what it computed of the prompt.

    `folder` is where it may be saved, with the `generation` of that folder; "" where nothing may be.
    """

    conversation: str
    folder: str = ""
    generation: str = ""


class Request(Struct, frozen=True, kw_only=True):
    """Everything that is sent to a model.

    `zones` holds, for zones A to D, how many leading messages lie in or before it (the last is len(messages)).
    `max_tokens` is the reserve kept for the answer.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    zones: tuple[int, int, int, int] = (0, 0, 0, 0)
    tools_stated: bool = False  # the messages list the tools, for a model that calls them in text
    max_tokens: int = 1024
    temperature: float | None = None
    schema: dict[str, Any] | None = None  # a JSON Schema of the answer, for servers that enforce one
    may_repeat: bool = False  # whether an answer that repeats itself is let go on; sent nowhere
    facts: tuple[Fact, ...] = ()  # for offline alone; sent nowhere
    whole: tuple[RecalledSpan, ...] = ()  # whole passages that offline quotes from, best first; sent nowhere
    cited: tuple[Citation | None, ...] = ()  # of each message, for offline; sent nowhere
    notes: tuple[RecalledSpan, ...] = ()  # that the head or a change in the request holds, for offline; sent nowhere
    cache_slot: PromptCacheSlot = PromptCacheSlot("")  # for mlx, and for slots of llama.cpp
    superseded: dict[str, str] = {}  # by reference, for offline: the day on which its speaker said otherwise

    @property
    def recalled(self) -> tuple[RecalledSpan, ...]:
        """The passages recalled for the current message."""
        tail = self.messages[-1].parts if self.messages else ()
        return tuple(part for part in tail if isinstance(part, RecalledSpan))


class Usage(Struct, frozen=True, tag="usage"):
    """Token counts of the server, or estimates where it reports none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None  # of the prompt, where a server reports it
    estimated: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


OWN_CITATIONS: Final = frozenset({"summary", "pages"})
"""What the program itself words, with references of its own."""
INSTRUCTIONS: Final = frozenset({"instructions", "language", "tools", "agents", "soul", "skills", "skill"})
"""What the workspace's owner words, and how a citation looks may be among it."""


def render(part: MessagePart) -> str:
    """The text that a model reads for this part; "" for an image or a tool call."""
    match part:
        case Text(text=text, injected=""):
            return text
        case Text(text=text, injected="tools" | "language"):  # small models follow these without tags more often
            return neutralise(text, citations=False)
        case Text(text=text, injected=what):
            cites = what in OWN_CITATIONS or what in INSTRUCTIONS
            return fence_text(what, neutralise(text, citations=not cites), part.nonce)
        case RecalledSpan():
            return recalled_block([part])
        case ToolResult(text=text):
            return neutralise_json(text)
        case _:
            return ""


def request_nonces(request: Request) -> frozenset[str]:
    """The nonces of a request's tags: text between such tags was added by the program."""
    parts = (part for message in request.messages for part in message.parts)
    return frozenset(part.nonce for part in parts if isinstance(part, Text | RecalledSpan) and part.nonce)


def holds_nonce(request: Request, nonce: str) -> bool:
    """Whether a text in the request holds the nonce, other than the model's own answers."""
    return bool(nonce) and any(
        nonce in part.text
        for message in request.messages
        if message.role is not Role.ASSISTANT
        for part in message.parts
        if isinstance(part, Text | ToolResult | RecalledSpan)
    )


def wire_parts(message: Message) -> Iterator[MessagePart]:
    """The parts as they are sent: passages recalled together are one block of text, and all text but the user's own
    passes the fence."""
    for are_recalled, group in groupby(message.parts, key=lambda part: isinstance(part, RecalledSpan)):
        if are_recalled:
            yield Text(recalled_block([part for part in group if isinstance(part, RecalledSpan)]))
        else:
            yield from (_fenced(part, message.role) for part in group)


def _fenced(part: MessagePart, role: Role) -> MessagePart:
    match part:
        case Text(text=text, injected="") if role is not Role.USER:
            return Text(neutralise(text, citations=False))  # an answer cites, and may quote what it was given
        case Text():
            return Text(render(part))
        case ToolCall(id=id_, name=name, arguments=arguments):
            return ToolCall(id_, name, neutralise_json(arguments, citations=False))
        case ToolResult(call_id=id_, name=name, failed=failed):
            return ToolResult(id_, name, render(part), failed)
        case _:
            return part


def parts_text(sent: Iterable[MessagePart]) -> str:
    """The text of parts as `wire_parts` gives them."""
    return "\n\n".join(part.text for part in sent if isinstance(part, Text | ToolResult) and part.text)


def image_placeholder(image: Image) -> str:
    """The sentence in place of a picture, for a model without vision."""
    name = label(image.name) or "a picture"
    return f"[{name}, {image.width}×{image.height}: this model sees no images]"


def user(*parts: MessagePart | str) -> Message:
    """A user's message of these parts."""
    return Message(Role.USER, _parts(parts))


def system(*parts: MessagePart | str) -> Message:
    return Message(Role.SYSTEM, _parts(parts))


def assistant(*parts: MessagePart | str) -> Message:
    return Message(Role.ASSISTANT, _parts(parts))


def _parts(parts: Iterable[MessagePart | str]) -> tuple[MessagePart, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)
