"""The output formats of turns without a screen: the answer, one object, or an event per line."""

import sys
from typing import Any, Protocol

from agent import events
from agent.cli import output
from agent.events import SessionEvent
from agent.headless.event_json import event_object, narrate
from agent.services.turn_sentences import WITHDRAWN
from foundation.errors import PalimpsestError
from foundation.terminal_text import VisiblePieces
from models.chat.errors import KEPT


class AnswerFailed(PalimpsestError):
    """The turn did not end with an answer."""

    code = "answer"


class TurnOutput(Protocol):
    """The output format of a turn."""

    def event(self, event: SessionEvent) -> None: ...

    def result(self, result: dict[str, Any]) -> None: ...

    def failed(self, error: dict[str, Any]) -> None: ...

    def line(self, fields: dict[str, Any]) -> None:
        """Prints an event of this run alone: a limit, or a permission that was given."""
        ...


class _AsText:
    """Prints the answer: on a terminal as it streams, elsewhere when it is over and nothing of it can be withdrawn."""

    def __init__(self) -> None:
        self._open = False
        self._pieces = VisiblePieces()
        self._streams = sys.stdout.isatty()
        self._waiting: list[str] = []

    def event(self, event: SessionEvent) -> None:
        match event:
            case events.TextDelta(text=text):
                self._waiting.append(text)
                if self._streams:
                    self._print()
            case events.TextWithdrawn():
                self._waiting.clear()
                if self._streams:
                    self._end_line()
                    output.narrate(WITHDRAWN)
            case _:
                if not isinstance(event, events.ReasoningDelta | events.Notice):
                    self._print()
                narrate(event)

    def _print(self) -> None:
        for text in self._waiting:
            output.visible_data(self._pieces.take(text))
            self._open = not text.endswith("\n")
        self._waiting.clear()

    def result(self, result: dict[str, Any]) -> None:
        self._end_line()
        if result["limit"]:
            output.narrate(f"{result['limit']['sentence']}{_kept(result)}")
        elif result["stopped"]:
            output.narrate(f"Stopped.{_kept(result)}")

    def line(self, fields: dict[str, Any]) -> None:
        """The result says it."""

    def failed(self, error: dict[str, Any]) -> None:
        self._end_line()
        output.error(_error_of(error), as_data=False)

    def _end_line(self) -> None:
        self._print()
        output.visible_data(self._pieces.end())
        if self._open:
            output.line()
            self._open = False


class _AsJson:
    """Prints one object at the end."""

    def event(self, event: SessionEvent) -> None:
        narrate(event)

    def result(self, result: dict[str, Any]) -> None:
        output.json_object(result)

    def failed(self, error: dict[str, Any]) -> None:
        output.json_object({"error": {**error, "hint": output.outside_chat(error["hint"])}})

    def line(self, fields: dict[str, Any]) -> None:
        if fields["type"] == "limit":
            output.narrate(fields["sentence"])


class _AsStream(_AsJson):
    """Prints an event per line."""

    def event(self, event: SessionEvent) -> None:
        line = event_object(event)
        if line is None:
            narrate(event)
        else:
            self.line(line)

    def result(self, result: dict[str, Any]) -> None:
        self.line(result)

    def failed(self, error: dict[str, Any]) -> None:
        self.line({"type": "error", "error": error})

    def line(self, fields: dict[str, Any]) -> None:
        output.json_object(fields)
        sys.stdout.flush()


def output_for(form: str) -> TurnOutput:
    outputs: dict[str, type[_AsText] | type[_AsJson]] = {"text": _AsText, "json": _AsJson, "stream-json": _AsStream}
    return outputs[form]()


def _error_of(error: dict[str, Any]) -> PalimpsestError:
    return AnswerFailed(error["title"], error["message"], error["hint"])


def _kept(result: dict[str, Any]) -> str:
    return f" {KEPT}" if result["text"] else ""
