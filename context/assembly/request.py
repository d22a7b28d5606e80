"""Builds the request from its inputs. Pure: no I/O.

Zones A to C are fixed; only the tail is cut where room is short. Where that is not enough, older turns must leave
first, and the request is built as it will be then.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.assembly.budget import Budget, lend
from context.assembly.digest import Item, encode_items, message_item, messages_sha256, part_item, unchanged_tokens
from context.assembly.tail import RequestTail, squeeze
from context.assembly.tokens import CountedMessage, Layer, MessageCounter
from context.epoch import EpochState
from context.errors import RequestTooLarge
from context.layers.conversation import PastMessage
from context.report import (
    ArchiveUsage,
    ContextReport,
    DisplayMessage,
    DroppedSource,
    LayerReport,
    PageUsage,
    SourceReport,
    ZoneReport,
)
from foundation.privacy import ClearedBytes
from foundation.program import PROGRAM
from models.chat.port import Profile
from models.messages import Fact, Image, Message, MessagePart, Request, Role, Tool, ToolCall, render, wire_parts
from models.tokens import REQUEST_OVERHEAD


class HistoryZones(Struct, frozen=True):
    """Zones B and C, with the tokens of each message.

    `sources` are those of zone B; `pages` is the usage of the pages in view.
    """

    summaries: tuple[tuple[PastMessage, int], ...] = ()
    turns: tuple[tuple[PastMessage, int], ...] = ()
    entries: int = 0
    sources: tuple[SourceReport, ...] = ()
    pages: PageUsage | None = None

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in (*self.summaries, *self.turns))

    @property
    def page_tokens(self) -> int:
        return self.pages.tokens if self.pages else 0


class RequestInputs(Struct, frozen=True, kw_only=True):
    """Inputs of a request. `tail` is None where the turn continues after a tool."""

    profile: Profile
    budget: Budget
    counting: MessageCounter
    state: EpochState
    head: CountedMessage | None
    tools: tuple[Tool, ...] = ()
    tool_tokens: int = 0
    facts: tuple[Fact, ...] = ()
    past: HistoryZones
    tail: RequestTail | None
    leaving: DroppedSource | None = None  # turns that must leave before this is sent
    previous: Sequence[Item] = ()
    secret: bytes = b""  # of the workspace: keys the digest
    archive: ArchiveUsage | None = None

    @property
    def fixed(self) -> int:
        """Tokens before the history: the opening, the tools and zone A."""
        return REQUEST_OVERHEAD + self.tool_tokens + (self.head.tokens if self.head else 0)


class BuiltRequest(Struct, frozen=True):
    """The request, its report, the tail that fitted, and its digest."""

    request: Request
    report: ContextReport
    tail: RequestTail
    digest: ClearedBytes


def build_request(materials: RequestInputs) -> BuiltRequest:
    """Builds the request. Raises RequestTooLarge where what must be sent does not fit."""
    room = materials.budget.total - materials.fixed - materials.past.tokens
    tail, last = _fitting_tail(materials, room)
    head = (materials.head.message,) if materials.head else ()
    summaries = tuple(sent.message for sent, _ in materials.past.summaries)
    turns = tuple(sent.message for sent, _ in materials.past.turns)
    messages = (*head, *summaries, *turns, *((last.message,) if last else ()))
    ends = (len(head), len(head) + len(summaries), len(head) + len(summaries) + len(turns), len(messages))
    request = Request(
        model=materials.profile.name,
        messages=messages,
        tools=materials.tools,
        zones=ends,
        max_tokens=materials.budget.reserve,
        facts=materials.facts,
    )
    items = _items(materials, last)
    return BuiltRequest(request, _report(materials, request, tail, last, items), tail, encode_items(items))


def _fitting_tail(materials: RequestInputs, room: int) -> tuple[RequestTail, CountedMessage | None]:
    if materials.tail is None:
        if room < 0:
            raise _turn_too_large(materials, -room)
        return RequestTail(()), None
    try:
        return squeeze(materials.tail, room, materials.counting)
    except RequestTooLarge as error:
        raise _message_too_large(materials, materials.tail, room) from error


def _turn_too_large(materials: RequestInputs, over: int) -> RequestTooLarge:
    return RequestTooLarge(
        "The turn is too large for the model",
        f"What the tools gave is {over:,} tokens more than fits: {_window(materials)}.",
        "Ask for less at once, lower tools.result_chars, or use a model with a larger window.",
    )


def _message_too_large(materials: RequestInputs, tail: RequestTail, room: int) -> RequestTooLarge:
    takes = sum(materials.counting.part(piece.part) for piece in tail.pieces if piece.source == "message")
    return RequestTooLarge(
        "The message is too large for the model",
        f"It takes {takes:,} tokens and {max(0, room):,} are free: {_window(materials)}, "
        f"and the head takes {materials.fixed:,}.",
        f"Shorten it, attach the text as a file, keep it with `{PROGRAM} archive FILE` and ask about it, "
        "or use a model with a larger window.",
    )


def _window(materials: RequestInputs) -> str:
    budget = materials.budget
    return (
        f"{materials.profile.name} has a window of {budget.window:,} tokens, "
        f"{budget.reserve:,} of them kept for the answer"
    )


def _items(materials: RequestInputs, last: CountedMessage | None) -> list[Item]:
    """The request's digest: the opening and the tools, the parts of the head, then each message."""
    items = [(materials.state.tools or "tools", REQUEST_OVERHEAD + materials.tool_tokens)]
    if materials.head:
        items += [
            part_item(materials.secret, Role.SYSTEM, piece.part, tokens) for piece, tokens in materials.head.pieces
        ]
    past = (*materials.past.summaries, *materials.past.turns)
    items += [message_item(materials.secret, sent.message, tokens) for sent, tokens in past]
    if last:
        items.append(message_item(materials.secret, last.message, last.tokens))
    return items


def _report(
    materials: RequestInputs, request: Request, tail: RequestTail, last: CountedMessage | None, items: Sequence[Item]
) -> ContextReport:
    layers = _layers(materials, tail, last)
    return ContextReport(
        model=materials.profile.spec,
        window=materials.budget.window,
        reserve=materials.budget.reserve,
        total_tokens=sum(layer.tokens for layer in layers),
        layers=layers,
        zones=_zones(materials, request, last),
        messages=tuple(DisplayMessage(message.role.value, shown_text(message)) for message in request.messages),
        prefix_sha256=messages_sha256(request.messages[: request.zones[2]]),
        unchanged_prefix_tokens=unchanged_tokens(materials.previous, items),
        previous_tokens=sum(tokens for _, tokens in materials.previous),
        pages=materials.past.pages,
        archive=materials.archive,
    )


def _layers(materials: RequestInputs, tail: RequestTail, last: CountedMessage | None) -> tuple[LayerReport, ...]:
    sources: dict[Layer, list[SourceReport]] = {layer: [] for layer in Layer}
    sources[Layer.SYSTEM].append(SourceReport("opening", REQUEST_OVERHEAD))
    if materials.tools:
        sources[Layer.SYSTEM].append(SourceReport(f"tools ({len(materials.tools)})", materials.tool_tokens))
    for weighed in (materials.head, last):
        for piece, tokens in weighed.pieces if weighed else ():
            sources[piece.layer].append(SourceReport(piece.source, tokens))
    past = materials.past
    sources[Layer.CONVERSATION] += past.sources
    if past.turns:
        sources[Layer.CONVERSATION].append(SourceReport(f"entries ({past.entries})", sum(n for _, n in past.turns)))
    dropped = _dropped(materials, tail)
    used = {layer: sum(source.tokens for source in sources[layer]) for layer in Layer}
    budgets = lend(materials.budget.shares, used)
    return tuple(
        LayerReport(layer.value, used[layer], budgets[layer], tuple(sources[layer]), tuple(dropped[layer]))
        for layer in Layer
    )


def _dropped(materials: RequestInputs, tail: RequestTail) -> Mapping[Layer, list[DroppedSource]]:
    dropped: dict[Layer, list[DroppedSource]] = {layer: [] for layer in Layer}
    for name, one in materials.state.dropped:
        dropped[Layer(name)].append(one)
    if materials.leaving:
        dropped[Layer.CONVERSATION].append(materials.leaving)
    for layer, one in tail.dropped:
        dropped[layer].append(one)
    return dropped


def _zones(materials: RequestInputs, request: Request, last: CountedMessage | None) -> tuple[ZoneReport, ...]:
    past = materials.past
    tokens = (
        materials.fixed,
        sum(n for _, n in past.summaries),
        sum(n for _, n in past.turns),
        last.tokens if last else 0,
    )
    starts = (0, *request.zones[:3])
    return tuple(
        ZoneReport(name, end - start, count, messages_sha256(request.messages[start:end]))
        for name, start, end, count in zip("ABCD", starts, request.zones, tokens, strict=True)
    )


def shown_text(message: Message) -> str:
    """The message as text for a person: pictures and tool calls are described."""
    return "\n\n".join(text for part in wire_parts(message) if (text := _shown(part)))


def _shown(part: MessagePart) -> str:
    match part:
        case Image(name=name, width=width, height=height):
            return f"[picture {name}: {width}×{height}]"
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} {arguments}]"
        case _:
            return render(part)
