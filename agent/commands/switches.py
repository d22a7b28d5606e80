"""Slash commands about what a conversation reads of its past, and whose memory it searches: switches, scope."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import Outcome, TextResult
from foundation.privacy import EMPTY, clear
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.records import Conversation

_WHAT: Final = {
    "use_memory": "requests include earlier messages, recalled passages and MEMORY.md",
    "read_compressed": "earlier messages are replaced by their summaries",
    "use_compression": "each turn is summarised after the answer",
    "recent_count": "number of recent messages to include; 0 for all",
}


async def _switches(session: Session, rest: str) -> Outcome:
    """`/switches`, `/switches NAME VALUE`, `/switches NAME default`."""
    from context.switches import SET, check_switch, switch_label

    name, _, value = rest.replace("=", " ").partition(" ")
    name, value = name.removeprefix("context."), value.strip()
    if not name:
        return TextResult("\n".join(switch_lines(session)))
    check_switch(name)
    kept = None if value in {"", "default"} else clear(switch_label(name, value))
    if not value:
        return TextResult(next(line for line in switch_lines(session) if f"`{name}`" in line))
    conversation = await _begun(session)
    await asyncio.to_thread(session.memory.conversations.set_label, conversation.seq, f"{SET}{name}=", kept)
    await session.branch.reload(conversation)
    return TextResult("\n".join(switch_lines(session)), changes_context=True)


async def _scope(session: Session, name: str) -> Outcome:
    """`/scope`, `/scope NAME`; `none` is the workspace's own, and `default` what the settings say."""
    from memory.scope import SCOPE, checked_scope

    if name:
        scope = session.config.context.scope if name == "default" else checked_scope("" if name == "none" else name)
        conversation = await _begun(session)
        label = clear(f"{SCOPE}{scope}") if scope else None
        await asyncio.to_thread(session.memory.conversations.set_label, conversation.seq, SCOPE, label)
        await session.branch.reload(conversation)
    scope = session.context.scope(session.conversation)
    shown = f"“{visible_line(scope)}”" if scope else "the workspace's default"
    return TextResult(
        f"The memory scope of this conversation is {shown}. Search and recall use only this scope; `/search "
        "scope:all …` searches all scopes.",
        changes_context=bool(name),
    )


def switch_lines(session: Session) -> list[str]:
    """A line for each switch: its value in the open conversation, and where that comes from."""
    from context.switches import SWITCHES, own_switches, settings_for

    settings, own = settings_for(session.config.context, session.conversation), own_switches(session.conversation)
    return [
        f"- `{name}` is {_shown(getattr(settings, name))}"
        f" ({'of this conversation' if name in own else 'by the settings'}): {_WHAT[name]}"
        for name in SWITCHES
    ]


def _shown(value: object) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


async def _begun(session: Session) -> Conversation:
    """The open conversation; a new one begins, so that its first message is sent with its switches."""
    if session.conversation is not None:
        return session.conversation
    labels = session.context.new_labels()
    title = clear(session.next_title) if session.next_title else EMPTY
    conversation = await asyncio.to_thread(session.memory.conversations.new, title, labels=labels)
    session.next_title = ""
    session.switch_to(conversation)
    return conversation


COMMANDS = (
    Command(
        name="switches",
        summary="Show or set which parts of the history requests include.",
        usage="[NAME on|off|N|default]",
        run=_switches,
    ),
    Command(
        name="scope",
        summary="Show or set the scope of search and recall.",
        usage="[NAME|none|default]",
        run=_scope,
    ),
)
