"""The turns of a conversation as a numbered list, for `/tree`."""

from typing import TYPE_CHECKING

from agent.commands.conversation import first_line
from agent.commands.results import Choice, Choices, Outcome, TextResult
from agent.commands.tree import load_tree, row_details

if TYPE_CHECKING:
    from agent.services.conversation_tree import TurnNode
    from agent.session import Session


async def tree_choices(session: "Session") -> Outcome:
    """The turns that are in view, with the branch that each is on; the answer goes there."""
    tree = await load_tree(session)
    turns = [(row.turn, row.depth) for row in tree.rows() if row.turn is not None]
    items = tuple(Choice(turn.id, _label(turn, depth), ", ".join(row_details(turn))) for turn, depth in turns)
    if not items:
        return TextResult("There are no turns yet.")
    notes = ("Choosing a turn of another branch switches to it. Choosing one of this branch reads it.",)
    return Choices("Turns of this conversation", items, "/tree go", notes)


def _label(turn: "TurnNode", depth: int) -> str:
    where = "newest of this branch" if turn.is_leaf else "this branch" if turn.is_current else f"branch, level {depth}"
    return f"{turn.time.astimezone():%d %B %H:%M}, {where}: {first_line(turn.text)}"
