"""The tools that fit a model's window, and what the person is told of the others."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from context import AssembledRequest
from context.assembly.tokens import Layer
from context.report import DroppedSource
from models.chat.port import Profile
from models.messages import Tool
from models.tokens import Estimate, tool_tokens

SMALLEST_WINDOW: Final = 6_000  # tokens: below it, tools get half of their share
MOST_NAMED: Final = 6  # tools in a sentence


class FittingTools(Struct, frozen=True):
    """The tools that are offered, by name, and the names of those for which there is no room; tokens of the latter."""

    offered: tuple[Tool, ...] = ()
    omitted: tuple[str, ...] = ()
    tokens: int = 0

    def sentence(self, profile: Profile) -> str:
        """Which tools the model is not offered, why, and what to do; "" where it is offered all."""
        if not self.omitted:
            return ""
        named = ", ".join(self.omitted[:MOST_NAMED])
        more = f" and {len(self.omitted) - MOST_NAMED:,} more" if len(self.omitted) > MOST_NAMED else ""
        return (
            f"The model's window of {profile.window:,} tokens has room for {len(self.offered):,} of "
            f"{len(self.offered) + len(self.omitted):,} tools. Not offered: {named}{more}. A larger window, or a "
            "larger tools.window_share, offers more."
        )


def fitting_tools(definitions: tuple[Tool, ...], order: Sequence[str], profile: Profile, share: float) -> FittingTools:
    """Returns the first tools by `order` that fit this share of the window, or half of it below SMALLEST_WINDOW tokens.
    Tools of MCP servers, which are not in the order, come last.

    Counted by a fixed estimate, so that the tools do not change while a model's counter learns.
    """
    room, counter, in_text = profile.window * share, Estimate(), profile.text_tools
    if profile.window < SMALLEST_WINDOW:  # the head and a message of some length must still fit
        room /= 2
    if tool_tokens(definitions, counter, in_text=in_text) <= room:
        return FittingTools(definitions)
    rank = {name: place for place, name in enumerate(order)}
    ranked = sorted(definitions, key=lambda tool: rank.get(tool.name, len(rank)))
    kept: list[Tool] = []
    for tool in ranked:
        if tool_tokens([*kept, tool], counter, in_text=in_text) > room:
            break
        kept.append(tool)
    omitted = ranked[len(kept) :]
    return FittingTools(
        tuple(sorted(kept, key=lambda tool: tool.name)),
        tuple(tool.name for tool in omitted),
        tool_tokens(omitted, counter, in_text=in_text),
    )


def with_omitted_tools(assembled: AssembledRequest, fitting: FittingTools, profile: Profile) -> AssembledRequest:
    """The request with the omitted tools in its report, as a dropped source of the system layer."""
    if not fitting.omitted:
        return assembled
    dropped = DroppedSource(f"tools ({len(fitting.omitted)})", fitting.tokens, fitting.sentence(profile))
    report = assembled.report
    layers = tuple(
        replace(layer, dropped=(*layer.dropped, dropped)) if layer.name == Layer.SYSTEM else layer
        for layer in report.layers
    )
    return replace(assembled, report=replace(report, layers=layers))
