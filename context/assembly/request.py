"""Builds a request from its inputs. Pure: no I/O.

Zones A to C are fixed; only the tail is truncated where the budget is exceeded. Where that is not enough, older turns
must leave first, and the request is built as it will be after the compaction.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget, lend
from context.assembly.digest import Item, encode_items, message_item, messages_sha256, part_item, unchanged_tokens
from context.assembly.offline_sources import NOTHING, OfflineSources
from context.assembly.parts import RequestPart, request_parts, shown_text
from context.assembly.tail import RequestTail, squeeze
from context.assembly.tokens import CountedHead, CountedMessage, Layer, MessageCounter
from context.epoch import EpochState
from context.errors import RequestTooLarge
from context.layers.conversation import PastMessage
from context.report import (
    INDEX,
    ArchiveUsage,
    ContextReport,
    DisplayMessage,
    DroppedSource,
    LayerReport,
    ObservationUsage,
    PageUsage,
    SourceReport,
    ZoneReport,
)
from foundation.privacy import ClearedBytes
from foundation.program import PROGRAM
from foundation.trust import Citation
from models.chat.port import Profile
from models.messages import (
    Fact,
    Request,
    Tool,
)
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
    head: CountedHead
    tools: tuple[Tool, ...] = ()
    tool_tokens: int = 0
    tools_stated: bool = False  # the messages list the tools, and the head none
    facts: tuple[Fact, ...] = ()
    offline: OfflineSources = NOTHING
    history: HistoryZones
    tail: RequestTail | None
    leaving: DroppedSource | None = None  # turns that a compaction must archive first
    previous: Sequence[Item] = ()
    secret: bytes = b""  # of the workspace: keys the digest
    archive: ArchiveUsage | None = None

    @property
    def fixed(self) -> int:
        """Tokens before the history: the request overhead, the tools and zone A."""
        return REQUEST_OVERHEAD + self.tool_tokens + self.head.tokens


class BuiltRequest(Struct, frozen=True):
    """The request, its report, the tail that fits, and its digest."""

    request: Request
    report: ContextReport
    tail: RequestTail
    digest: ClearedBytes
    parts: tuple[RequestPart, ...] = ()


def build_request(inputs: RequestInputs) -> BuiltRequest:
    """Builds the request. Raises RequestTooLarge where its mandatory parts do not fit."""
    room = inputs.budget.total - inputs.fixed - inputs.history.tokens
    tail, last = _fitting_tail(inputs, room)
    head = tuple(counted.message for counted in inputs.head.messages)
    summaries = tuple(item.message for item, _ in inputs.history.summaries)
    turns = tuple(item.message for item, _ in inputs.history.turns)
    messages = (*head, *summaries, *turns, *((last.message,) if last else ()))
    zone_ends = (len(head), len(head) + len(summaries), len(head) + len(summaries) + len(turns), len(messages))
    request = Request(
        model=inputs.profile.name,
        messages=messages,
        tools=inputs.tools,
        tools_stated=inputs.tools_stated,
        zones=zone_ends,
        max_tokens=inputs.budget.reserve,
        facts=inputs.facts,
        whole=inputs.offline.whole,
        notes=inputs.offline.notes,
    )
    request = replace(request, cited=_citations(inputs, request)) if inputs.offline.citations else request
    request = replace(request, superseded=dict(inputs.offline.superseded)) if inputs.offline.superseded else request
    items = _items(inputs, last)
    report = _report(inputs, request, tail, last, items)
    return BuiltRequest(request, report, tail, encode_items(items), request_parts(inputs, last, items))


def _citations(inputs: RequestInputs, request: Request) -> tuple[Citation | None, ...]:
    """The citation of each message of the history; None for the other messages."""
    history = [
        None if item.entry is None else inputs.offline.citations.get(item.entry) for item, _ in inputs.history.turns
    ]
    start, end = request.zones[1], request.zones[2]
    return (*[None] * start, *history, *[None] * (len(request.messages) - end))


def _fitting_tail(inputs: RequestInputs, room: int) -> tuple[RequestTail, CountedMessage | None]:
    if inputs.tail is None:
        if room < 0:
            raise _turn_too_large(inputs, -room)
        return RequestTail(()), None
    try:
        return squeeze(inputs.tail, room, inputs.counting)
    except RequestTooLarge as error:
        raise _message_too_large(inputs, inputs.tail, room) from error


def _turn_too_large(inputs: RequestInputs, excess: int) -> RequestTooLarge:
    return RequestTooLarge(
        "The turn is too large for the model",
        f"The tool results are {excess:,} tokens too long: {_window(inputs)}.",
        "Ask for less at a time, lower tools.result_chars, or use a model with a larger window.",
    )


def _message_too_large(inputs: RequestInputs, tail: RequestTail, room: int) -> RequestTooLarge:
    message_tokens = sum(inputs.counting.part(piece.part) for piece in tail.pieces if piece.source == "message")
    return RequestTooLarge(
        "The message is too large for the model",
        f"It needs {message_tokens:,} tokens, but only {max(0, room):,} are free: {_window(inputs)}, "
        f"and instructions and tools take {inputs.fixed:,}.",
        "The message is saved: ask about it, and its passages are recalled. To send it whole, use a model with a "
        "larger "
        f"window. `{PROGRAM} archive FILE` archives a long file.",
    )


def _window(inputs: RequestInputs) -> str:
    budget = inputs.budget
    return (
        f"{inputs.profile.name} has a window of {budget.window:,} tokens, "
        f"{budget.reserve:,} of them reserved for the answer"
    )


def _items(inputs: RequestInputs, last: CountedMessage | None) -> list[Item]:
    """Digest items: the overhead and the tools, the parts of the head, then each message."""
    items = [(inputs.state.tools or "tools", REQUEST_OVERHEAD + inputs.tool_tokens)]
    for counted in inputs.head.messages:
        role = counted.message.role
        items += [part_item(inputs.secret, role, piece.part, tokens) for piece, tokens in counted.pieces]
    history = (*inputs.history.summaries, *inputs.history.turns)
    items += [message_item(inputs.secret, item.message, tokens) for item, tokens in history]
    if last:
        items.append(message_item(inputs.secret, last.message, last.tokens))
    return items


def _report(
    inputs: RequestInputs, request: Request, tail: RequestTail, last: CountedMessage | None, items: Sequence[Item]
) -> ContextReport:
    layers = _layers(inputs, tail, last)
    return ContextReport(
        model=inputs.profile.spec,
        window=inputs.budget.window,
        reserve=inputs.budget.reserve,
        total_tokens=sum(layer.tokens for layer in layers),
        layers=layers,
        zones=_zones(inputs, request, last),
        messages=tuple(DisplayMessage(message.role.value, shown_text(message)) for message in request.messages),
        prefix_sha256=messages_sha256(request.messages[: request.zones[2]]),
        unchanged_prefix_tokens=unchanged_tokens(inputs.previous, items),
        previous_tokens=sum(tokens for _, tokens in inputs.previous),
        pages=inputs.history.pages,
        archive=inputs.archive,
        observations=_index_usage(inputs),
    )


def _index_usage(inputs: RequestInputs) -> ObservationUsage | None:
    """The figures of the index of observations, with its tokens as they were counted."""
    usage, pieces = inputs.state.observations, inputs.head.pieces
    return replace(usage, tokens=sum(n for piece, n in pieces if piece.source.startswith(INDEX))) if usage else None


def _layers(inputs: RequestInputs, tail: RequestTail, last: CountedMessage | None) -> tuple[LayerReport, ...]:
    sources: dict[Layer, list[SourceReport]] = {layer: [] for layer in Layer}
    sources[Layer.SYSTEM].append(SourceReport("opening", REQUEST_OVERHEAD))
    if inputs.tool_tokens:
        sources[Layer.SYSTEM].append(SourceReport(f"tools ({len(inputs.tools)})", inputs.tool_tokens))
    for piece, tokens in (*inputs.head.pieces, *(last.pieces if last else ())):
        sources[piece.layer].append(SourceReport(piece.source, tokens))
    history = inputs.history
    sources[Layer.CONVERSATION] += history.sources
    if history.turns:
        sources[Layer.CONVERSATION].append(
            SourceReport(f"entries ({history.entries})", sum(n for _, n in history.turns))
        )
    dropped = _dropped(inputs, tail)
    used = {layer: sum(source.tokens for source in sources[layer]) for layer in Layer}
    budgets = lend(inputs.budget.shares, used)
    return tuple(
        LayerReport(layer.value, used[layer], budgets[layer], tuple(sources[layer]), tuple(dropped[layer]))
        for layer in Layer
    )


def _dropped(inputs: RequestInputs, tail: RequestTail) -> Mapping[Layer, list[DroppedSource]]:
    dropped: dict[Layer, list[DroppedSource]] = {layer: [] for layer in Layer}
    for name, source in inputs.state.dropped:
        dropped[Layer(name)].append(source)
    if inputs.leaving:
        dropped[Layer.CONVERSATION].append(inputs.leaving)
    for layer, source in tail.dropped:
        dropped[layer].append(source)
    return dropped


def _zones(inputs: RequestInputs, request: Request, last: CountedMessage | None) -> tuple[ZoneReport, ...]:
    history = inputs.history
    tokens = (
        inputs.fixed,
        sum(n for _, n in history.summaries),
        sum(n for _, n in history.turns),
        last.tokens if last else 0,
    )
    starts = (0, *request.zones[:3])
    return tuple(
        ZoneReport(name, end - start, count, messages_sha256(request.messages[start:end]))
        for name, start, end, count in zip("ABCD", starts, request.zones, tokens, strict=True)
    )
