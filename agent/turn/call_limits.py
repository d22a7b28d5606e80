"""Limits of the tool calls of a turn: how many it makes, and how often in a row it makes the same one in vain."""

import hashlib
import re
from typing import Final

import msgspec

from agent import events
from agent.tools.commands.commands import STILL_RUNS
from agent.tools.registry import Toolbox, ToolOutput
from foundation.typed_json import decode_json
from models.messages import ToolCall

REPEATS_TOLD: Final = 5  # identical calls in a row after which the model reads that they are
REPEATS_ASKED: Final = 10  # after which the person is asked, and after as many again
_DURATIONS: Final = re.compile(r'\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?)\b|"took_ms":\s*[\d.]+')
_TOLD: Final = (
    "\n\n[This call was made {count} times in a row, with the same arguments and the same result. Making it again "
    "changes nothing: do something else, or tell the user what you need.]"
)


class RepeatedCalls:
    """Counts calls in a row of one tool, with the same arguments and the same result.

    Durations in a result do not count, nor does waiting for a command that still runs.
    """

    def __init__(self) -> None:
        self.tool = ""
        self.count = 0
        self.most = REPEATS_ASKED
        self._call = self._result = b""

    @property
    def is_at_limit(self) -> bool:
        return self.count >= self.most

    def refuses(self, call: ToolCall) -> bool:
        """Whether the call would be one too many."""
        return self.is_at_limit and _identity(call) == self._call

    def allow_more(self) -> None:
        self.most = self.count + REPEATS_ASKED

    def take(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Counts the call; its output, with a sentence for the model where it repeats itself. Blocks."""
        identity = _identity(call)
        result = hashlib.sha256(_DURATIONS.sub("", output.whole).encode(errors="surrogatepass")).digest()
        if output.whole.startswith(STILL_RUNS) or (identity, result) != (self._call, self._result):
            self.tool, self.count, self.most = call.name, 0, REPEATS_ASKED
        self._call, self._result = identity, result
        self.count += 1
        if self.count < REPEATS_TOLD:
            return output
        return msgspec.structs.replace(output, shown=output.shown + _TOLD.format(count=self.count))

    @property
    def sentence(self) -> str:
        return events.REPEATED.format(tool=self.tool, count=self.count)


def _identity(call: ToolCall) -> bytes:
    """The tool and its arguments, whatever the order and the spaces of their JSON."""
    try:
        arguments = msgspec.json.encode(decode_json(call.arguments or "{}", object), order="sorted")
    except (msgspec.DecodeError, RecursionError):
        arguments = call.arguments.encode(errors="surrogatepass")
    return call.name.encode(errors="surrogatepass") + b"\0" + arguments


def too_many_calls(box: Toolbox, made: int, left_out: int) -> events.TurnFailed:
    requested = made + left_out
    if made >= box.settings.most_calls:
        setting = box.most_calls_setting
        limit = f"the limit is {box.settings.most_calls:,} ({setting})"
    else:
        limit = f"the limit is {box.most_arguments:,} characters of arguments (models.limits.arguments_mb)"
        setting = "models.limits.arguments_mb"
    return events.TurnFailed(
        "too_many_calls",
        "Too many tool calls",
        f"The model asked for {requested:,} tool calls in one turn and {made:,} were made: {limit}.",
        f"Tell the model what to do next, or raise {setting} in the configuration.",
    )


def too_many_repeats(repeated: RepeatedCalls) -> events.TurnFailed:
    return events.TurnFailed(
        "repeated_calls",
        "The model repeats one call",
        repeated.sentence,
        "Tell it what to do instead, or choose another model with /model.",
    )


def mistaken_calls(mistake: str, unknown_tool: str | None, *, in_text: bool) -> events.TurnFailed:
    """`unknown_tool`: the tool that is not offered, "" for a call that names none, None if only arguments are wrong.

    `in_text`: the model writes its calls as text already.
    """
    what = {None: "with arguments that do not fit", "": "that cannot be read"}
    call = what.get(unknown_tool, f"of “{unknown_tool}”, which is not offered")
    return events.TurnFailed(
        "malformed_calls",
        "The model wrote calls that cannot be read" if in_text else "The model cannot call its tools",
        f"No tool ran: the model wrote a call {call}. After a correction its next call was also invalid: {mistake}",
        "Rephrase your message, or choose another model with /model."
        if in_text
        else "Rephrase your message, choose another model with /model, or set models.tool_calls to text.",
    )
