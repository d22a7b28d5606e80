"""Assembles tool calls from the pieces of a stream, whose ids and indexes may be missing or not unique."""

import json
from collections.abc import Iterator
from typing import Any, Final, cast
from uuid import uuid4

from msgspec import Struct, field

from foundation.bounded_json import Json
from models.chat.merged_fields import merged
from models.chat.port import PROGRESS_STEP, CallProgress
from models.limits import LARGEST_COUNT, AnswerMeter
from models.messages import ToolCall

EACH_CALL: Final = " " * 64  # what a call weighs beside its arguments, so that empty ones are bounded too
_KNOWN: Final = frozenset({"index", "id", "type", "function", "name", "arguments"})


class CallPieces(Struct):
    """One call under construction."""

    index: object = None  # as the server gives it; None if it gives none
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    chars: int = 0
    fields: Json = field(default_factory=dict[str, Any])  # what the provider attached

    def arguments(self) -> list[str]:
        """The arguments of each call: a complete JSON object that follows another is a call of its own, unless it only
        repeats it. An empty list if they cannot be read."""
        text = "".join(self.pieces).strip() or "{}"
        parts = _objects(text)
        if parts is None:  # a stream that repeats all of the arguments in each piece
            parts = _objects(self.pieces[-1].strip()) if self.pieces else None
        different = {_canonical(part): part for part in parts or ()}
        if len(different) > 1:
            different.pop("{}", None)  # some servers begin with it
        return list(different.values())


class CallAssembler:
    """The calls of one answer, in the order in which they began."""

    def __init__(self, meter: AnswerMeter) -> None:
        self._meter = meter
        self._calls: list[CallPieces] = []
        self._by_index: dict[object, list[CallPieces]] = {}
        self._by_id: dict[str, list[CallPieces]] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, deltas: list[Json]) -> Iterator[CallProgress]:
        """Adds the pieces of one chunk. Raises StreamLimitExceeded."""
        touched: list[CallPieces] = []
        for position, delta in enumerate(deltas):
            given = delta.get("function")
            function = cast("Json", given) if isinstance(given, dict) else delta
            call_id, name = _string(delta.get("id")), _string(function.get("name"))
            index = delta.get("index") if isinstance(delta.get("index"), int) else None
            call = self._find(index, call_id, name, touched, position if len(deltas) > 1 else None)
            self._meter.take_call(EACH_CALL if call is None else "", call_id, name)
            if call is None:
                call = CallPieces(index, call_id)
                self._calls.append(call)
                self._by_index.setdefault(index, []).append(call)
            touched.append(call)
            call.id, call.name = call.id or call_id, _joined(call, name)
            if call_id and not any(known is call for known in self._by_id.setdefault(call_id, [])):
                self._by_id[call_id].append(call)
            self._attach(call, delta, function)
            if arguments := _arguments(function.get("arguments")):
                self._meter.take_call(arguments)
                call.pieces.append(arguments)
                before, call.chars = call.chars, call.chars + len(arguments)
                if call.chars // PROGRESS_STEP > before // PROGRESS_STEP:
                    yield CallProgress(call.name, call.chars)

    def _attach(self, call: CallPieces, delta: Json, function: Json) -> None:
        unknown = {key: value for key, value in delta.items() if key not in _KNOWN}
        if function is not delta:
            unknown["function"] = {key: value for key, value in function.items() if key not in _KNOWN}
        if fields := merged({}, unknown):
            self._meter.take_call(json.dumps(fields))
            call.fields = merged(call.fields, fields)

    def _find(
        self, index: object, call_id: str, name: str, touched: list[CallPieces], position: int | None
    ) -> CallPieces | None:
        """The call that a piece belongs to; None for a new one."""
        same = self._calls if index is None else self._by_index.get(index, [])
        known = self._by_id.get(call_id, []) if call_id else []
        if known := [call for call in known if index is None or call.index == index]:
            call = known[-1]
            return None if index is None and name and call in touched else call
        if index is None and position is not None:  # without an index, by its place among those of the chunk
            same = same[position : position + 1] if not name or (position < len(same) and not call_id) else []
        call = same[-1] if same else None
        if call is None or (call_id and call.id):
            return None
        if name and call.name and name != call.name and (index is None or call.pieces):
            return None  # else it may be the rest of the name
        return call

    @property
    def are_broken(self) -> bool:
        """Whether the arguments of a call ended before their JSON did."""
        return any(not call.arguments() for call in self._calls)

    def finished(self) -> Iterator[tuple[ToolCall, Json]]:
        """Yields each call, under an id of its own, with the fields that its provider wants back."""
        used: set[str] = set()
        for call in self._calls:
            for number, arguments in enumerate(call.arguments() or ["".join(call.pieces).strip()]):
                own = call.id if call.id and call.id not in used else ""
                made = ToolCall(own or f"call_{uuid4().hex[:12]}", call.name, arguments)
                used.add(made.id)
                yield made, ({"id": own} if own else {}) | ({} if number else call.fields)


def _joined(call: CallPieces, name: str) -> str:
    """The name of the call with a piece that may repeat it, prolong it or begin it anew with more."""
    if call.pieces and call.name:
        return call.name
    return name if name.startswith(call.name) else call.name + name


def _objects(text: str) -> list[str] | None:
    """The JSON values that a text consists of; None if it does not."""
    decoder, parts, at = json.JSONDecoder(), list[str](), 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        parts.append(text[at:end])
        if len(parts) > 1 and not all(part.startswith("{") for part in parts):
            return None
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return parts


def _canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _arguments(value: object) -> str:
    """The arguments as JSON text: some servers send an object."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _string(value: object) -> str:
    """A string, or a number as one (some servers count their calls)."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and abs(value) <= LARGEST_COUNT else ""
