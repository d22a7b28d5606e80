"""Conversation layer: summaries and pages (zone B), then entries exactly as they were sent (zone C)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from context.assembly.tokens import Layer, MessagePiece
from foundation.privacy import TextSource, clear
from memory.provider_fields import provider_fields
from memory.records import Entry, EntryKind
from memory.tool_calls import INTERRUPTED, NOT_RUN, may_have_run, tool_calls
from models.fence import label
from models.messages import Image, Message, MessagePart, Role, Text, ToolCall, ToolResult

LONGEST_NAME = 40  # characters of who said it
NO_ANSWER = "(no answer)"
READ_TALK = "I have read this conversation."
GOES_ON = "(the conversation goes on)"
READ = "I have read the summary of what came before."
READ_PAGES = "I have read what came before."
PAGES = (
    "The pictures are pages of this conversation's past, oldest first. The line `── speaker · role · time · id ──` "
    "stands before each entry: cite its id. A letter is easily misread: take names, figures and code from the list "
    "beside a page, or recall an id for its exact words."
)


class PastMessage(Struct, frozen=True):
    """A message of the history. `entry` is its entry's seq; None for a filler that keeps the roles alternating.

    `named`: it is from a conversation of people, and begins with who said it. Several in a row are one message on the
    wire, so that no answer is missing between them.
    """

    message: Message
    entry: int | None = None
    named: bool = False


def past_pieces(summaries: Sequence[str], pages: Sequence[tuple[Image, Text]], nonce: str) -> tuple[MessagePiece, ...]:
    """Pieces of zone B's user message: the summaries, oldest first, then the pages, oldest first."""
    parts: list[tuple[str, MessagePart]] = [
        ("summaries", Text(clear(text, TextSource.OTHER), "summary", nonce)) for text in summaries
    ]
    if pages:
        parts.append(("pages", Text(PAGES, "pages", nonce)))
    for image, caption in pages:
        parts += [("pages", image), ("pages", Text(caption.text, caption.injected, nonce))]
    return tuple(MessagePiece(Layer.CONVERSATION, source, part) for source, part in parts)


def reply_to_past(*, pages: bool) -> Message:
    """The assistant's reply to zone B, which keeps the roles alternating."""
    return Message(Role.ASSISTANT, (Text(READ_PAGES if pages else READ),))


def turn_messages(
    entries: Iterable[Entry], text_of: Callable[[Entry], str], overlay: Mapping[int, Message]
) -> tuple[PastMessage, ...]:
    """Messages of zone C. Repairs sequences that a chat template may refuse: two questions in a row, a call without a
    result."""
    messages: list[PastMessage] = []
    pending: dict[str, ToolResult] = {}  # what stands for the result of a call that has none
    of_people = False
    for entry in entries:
        message = overlay.get(entry.seq) or message_of(entry, text_of(entry))
        if message is None:
            continue
        named = _is_named(entry)
        of_people |= named
        if of_people and message.role is Role.ASSISTANT and entry.speaker and "model" not in entry.meta:
            message = Message(Role.ASSISTANT, _with_name(entry.speaker, message.parts))
        if message.role is Role.TOOL:
            result = message.parts[0]
            if not isinstance(result, ToolResult) or pending.pop(result.call_id, None) is None:
                continue  # its call is not in view
        else:
            messages += _missing_results(pending)
            messages += _separator(messages, message, named=named)
        missing = f"({INTERRUPTED})" if may_have_run(entry) else NOT_RUN
        for part in message.parts:
            if isinstance(part, ToolCall):
                pending[part.id] = ToolResult(part.id, part.name, missing, True)
        messages.append(PastMessage(message, entry.seq, named))
    return (*messages, *_missing_results(pending))


def before_next(history: Sequence[PastMessage]) -> tuple[PastMessage, ...]:
    """Filler messages needed between the history and the user's next message."""
    if history and history[-1].message.role is Role.USER:
        return (PastMessage(Message(Role.ASSISTANT, (Text(READ_TALK if history[-1].named else NO_ANSWER),))),)
    return ()


def _is_named(entry: Entry) -> bool:
    """Whether a person's name was imported with it: what is typed here has none."""
    return entry.kind is EntryKind.MESSAGE and entry.role is Role.USER and bool(entry.speaker.strip())


def _with_name(speaker: str, parts: tuple[MessagePart, ...]) -> tuple[MessagePart, ...]:
    """The parts, the first text after the name of who said it."""
    name = label(speaker, LONGEST_NAME)
    named = next((n for n, part in enumerate(parts) if isinstance(part, Text) and not part.injected), None)
    return tuple(
        Text(f"{name}: {part.text}") if n == named and isinstance(part, Text) else part for n, part in enumerate(parts)
    )


def _separator(history: Sequence[PastMessage], message: Message, *, named: bool) -> tuple[PastMessage, ...]:
    if message.role is Role.USER:
        return () if named and history and history[-1].named else before_next(history)
    if not history:
        return (PastMessage(Message(Role.USER, (Text(GOES_ON),))),)
    return ()


def _missing_results(pending: dict[str, ToolResult]) -> list[PastMessage]:
    missing = [PastMessage(Message(Role.TOOL, (result,))) for result in pending.values()]
    pending.clear()
    return missing


def message_of(entry: Entry, text: str) -> Message | None:
    """The message as it was sent; None for an entry that is no message (a summary, a page, an empty entry)."""
    match entry.kind, entry.role:
        case EntryKind.MESSAGE, Role.USER:
            parts: tuple[MessagePart, ...] = (*entry.sent, Text(text)) if text or not entry.sent else entry.sent
            return Message(Role.USER, _with_name(entry.speaker, parts) if _is_named(entry) else parts)
        case EntryKind.MESSAGE, Role.ASSISTANT:
            calls = tool_calls(entry)
            if not text and not calls:
                return Message(Role.ASSISTANT, (Text(NO_ANSWER),))
            fields = provider_fields(entry)
            return Message(Role.ASSISTANT, ((fields,) if fields else ()) + ((Text(text),) if text else ()) + calls)
        case EntryKind.MESSAGE, Role.SYSTEM:
            return None  # instructions of an imported conversation do not apply
        case EntryKind.TOOL_RESULT, _:
            meta = entry.meta
            shown = str(meta.get("shown", text))
            result = ToolResult(
                str(meta.get("call_id", "")), str(meta.get("name", "")), shown, bool(meta.get("failed"))
            )
            return Message(Role.TOOL, (result, *(part for part in entry.sent if isinstance(part, Image))))
        case _:
            return None
