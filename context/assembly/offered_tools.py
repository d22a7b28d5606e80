"""Tools for a model that calls them in text: listed in the message that needs them, not in the head.

A message lists the tools that it needs and that no message in view lists. So a greeting carries none, and the list does
not move the head of the prompt.
"""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from context.assembly.tokens import Layer, MessageCounter, MessagePiece
from context.assembly.view import BranchView
from context.types import AssemblyArguments
from foundation.privacy import TextSource, clear
from memory.tool_calls import tool_calls
from models.chat.text_tools.prompt import stated_names, tools_text
from models.messages import Text, Tool
from models.tokens import tool_tokens

TOOLS: Final = "tools"  # the kind of the injected part


class OfferedTools(Struct, frozen=True):
    """The tools that the model of a request may call. `in_messages`: its head lists none, and its messages those that
    they need; `piece` lists new ones."""

    tools: tuple[Tool, ...]
    piece: MessagePiece | None = None
    in_messages: bool = False
    in_text: bool = False  # the model calls them in text

    def head_tokens(self, counting: MessageCounter) -> int:
        """Tokens of the tools that the head has."""
        return 0 if self.in_messages else tool_tokens(self.tools, counting.counter, in_text=self.in_text)


def offered_tools(given: AssemblyArguments, view: BranchView) -> OfferedTools:
    """How a request offers its tools."""
    tools, continuing = given.tools, given.turn.continuing
    return (
        _in_text(tools, given.stated, view, continuing=continuing) if given.profile.text_tools else OfferedTools(tools)
    )


def _in_text(tools: tuple[Tool, ...], wanted: Collection[str], view: BranchView, *, continuing: bool) -> OfferedTools:
    """The tools that a request offers in text. `wanted`: the names that its message needs."""
    known = _in_view(view)
    called = {call.name for entry in view.entries for call in tool_calls(entry)}
    new = [tool for tool in tools if tool.name not in known and (tool.name in wanted or tool.name in called)]
    if continuing and new and not known:  # the server has refused native tools within the turn: no message lists them
        return OfferedTools(tools, in_text=True)
    if continuing or not new:
        return OfferedTools(tools, in_messages=True)
    text = clear(tools_text(new), TextSource.OTHER)
    piece = MessagePiece(Layer.SYSTEM, f"tools ({len(new)})", Text(text, injected=TOOLS))
    return OfferedTools(tools, piece, in_messages=True)


def _in_view(view: BranchView) -> frozenset[str]:
    """The names of the tools that messages in view list."""
    parts = (part for entry in view.entries for part in entry.sent)
    texts = (part.text for part in parts if isinstance(part, Text) and part.injected == TOOLS)
    return frozenset(name for text in texts for name in stated_names(text))
