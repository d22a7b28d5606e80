"""Prepares messages for one provider: its own fields come back unchanged, those of others are left out.

Ids of calls are the store's. A provider gets its own ids back, and ids of a form that it accepts for the calls of
others. Both are functions of the messages before them, so they do not change while a request only grows.
"""

import hashlib
import re
import string
from collections.abc import Iterable, Iterator
from typing import Final

from models.messages import Message, MessagePart, ProviderFields, Role, ToolCall, ToolResult

ID: Final = "id"
"""Key of the provider's own id among the fields of a call."""
_ALPHABET: Final = string.digits + string.ascii_letters


def for_provider(messages: Iterable[Message], origin: str, call_ids: str) -> Iterator[Message]:
    """Yields the messages with the fields of `origin` alone, and with ids of calls that it accepts.

    `call_ids` is a pattern of the ids that are sent as they are.
    """
    used: set[str] = set()
    ids: dict[str, str] = {}  # of the calls so far: those of the newest answer that has this id
    for message in messages:
        if message.role is Role.ASSISTANT:
            own = next((part for part in message.parts if _is_own(part, origin)), None)
            ids |= _wire_ids(message, own if isinstance(own, ProviderFields) else None, call_ids, used)
        yield Message(message.role, tuple(_sent(part, ids) for part in message.parts if _is_sent(part, origin)))


def _is_own(part: MessagePart, origin: str) -> bool:
    return isinstance(part, ProviderFields) and part.origin == origin


def _is_sent(part: MessagePart, origin: str) -> bool:
    return not isinstance(part, ProviderFields) or part.origin == origin


def _wire_ids(message: Message, own: ProviderFields | None, accepted: str, used: set[str]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for part in message.parts:
        if isinstance(part, ToolCall):
            given = own.calls.get(part.id, {}).get(ID) if own else None
            choices = (given, part.id if re.fullmatch(accepted, part.id) else None)
            free = next((id_ for id_ in choices if isinstance(id_, str) and id_ not in used), None)
            ids[part.id] = free or _made(part.id, used)
            used.add(ids[part.id])
    return ids


def _made(id_: str, used: set[str]) -> str:
    """Returns nine letters and digits, which every provider accepts: Mistral takes nothing else."""
    for number in range(len(used) + 2):
        value = int.from_bytes(hashlib.sha256(f"{id_}\0{number}".encode("utf-8", "surrogatepass")).digest()[:8])
        made = "".join(_ALPHABET[value // 62**place % 62] for place in range(9))
        if made not in used:
            return made
    return id_


def _sent(part: MessagePart, ids: dict[str, str]) -> MessagePart:
    match part:
        case ToolCall(id=id_, name=name, arguments=arguments):
            return ToolCall(ids.get(id_, id_), name, arguments)
        case ToolResult(call_id=id_, name=name, text=text, failed=failed):
            return ToolResult(ids.get(id_, id_), name, text, failed)
        case ProviderFields(origin=origin, message=message, calls=calls, reasoning_field=field, reasoning=reasoning):
            return ProviderFields(
                origin,
                message,
                {
                    ids.get(id_, id_): {name: value for name, value in fields.items() if name != ID}
                    for id_, fields in calls.items()
                },
                field,
                reasoning,
            )
        case _:
            return part
