"""Changes that the picker makes to a conversation. Each blocks, and gives a sentence about what was done."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands.conversation import first_line
from agent.exporters import export_to_file
from agent.services.conversation_tree import NOTHING_PRUNED, TurnNode, set_pruned, set_turn_label
from foundation.errors import Misuse
from foundation.privacy import clear
from memory.records import Conversation

if TYPE_CHECKING:
    from memory.memory import Memory

MAX_NAME: Final = 60  # characters of a file's name that is offered
_NO_NAME: Final = re.compile(r"[^\w.-]+")


def rename(memory: "Memory", conversation: Conversation, title: str) -> str:
    """Gives it another title. Raises Misuse for none."""
    if not (title := " ".join(title.split())):
        raise Misuse("No title", "A title cannot be empty.", "Esc keeps the old one.")
    renamed = memory.conversations.rename(conversation.seq, clear(title))
    memory.mirrors.update(renamed.seq)
    return f"Renamed to “{renamed.title}”."


def offered_name(conversation: Conversation) -> str:
    """The name of the file that an export is offered, in the current folder."""
    name = _NO_NAME.sub("-", conversation.title).strip("-.")[:MAX_NAME].rstrip("-.")
    return f"{name or conversation.id}.md"


def export(memory: "Memory", conversation: Conversation, name: str, *, overwrite: bool) -> str:
    """Writes it to this file; Raises FileExists, Misuse."""
    path: Path = export_to_file(memory, conversation, name.strip() or offered_name(conversation), overwrite=overwrite)
    return f"Written to {path}."


def label(memory: "Memory", conversation: Conversation, turn: TurnNode, text: str) -> str:
    """Labels a turn; "" removes the label."""
    set_turn_label(memory, conversation.seq, turn.id, text)
    return f"{_named(turn)} is labelled." if text.strip() else f"{_named(turn)}: label removed."


def prune(memory: "Memory", conversation: Conversation, turn: TurnNode) -> str:
    """Takes a turn out of view with what follows it, or shows it again. Raises Misuse on the current branch."""
    if turn.is_current:
        raise Misuse("The current branch", NOTHING_PRUNED, "Go to another branch first.")
    set_pruned(memory, conversation.seq, turn.id, pruned=not turn.is_pruned)
    if turn.is_pruned:
        return f"{_named(turn)} is shown again."
    return f"{_named(turn)} and the turns after it are hidden. Nothing is deleted; Ctrl+O shows them."


def _named(turn: TurnNode) -> str:
    return f"“{first_line(turn.text.strip())}”" if turn.text.strip() else "The turn"
