"""Two branches of a conversation beside each other, as a whole text."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.commands.tree import comparison
from agent.services.conversation_tree import turn_texts
from tui.passages.text_screen import TextScreen
from tui.picker.turns import TurnLevel
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from memory.memory import Memory


def comparison_screen(memory: "Memory", level: TurnLevel, first: str, second: str) -> TextScreen:
    """What the branches of two turns (ids) share, and what each has for itself."""

    def read() -> BlockText:
        assert level.tree is not None
        turns = level.tree.turns
        shown = {turn.id: turn for id_ in (first, second) for turn in level.tree.line_of(id_)}
        texts = turn_texts(memory, [turn.seq for turn in shown.values() if not turn.text])
        read = {id_: replace(turn, text=turn.text or texts.get(turn.seq, "")) for id_, turn in shown.items()}
        tree = replace(level.tree, turns={**turns, **read})
        return BlockText(comparison(tree, tree.turns[first], tree.turns[second]), "markdown")

    return TextScreen("Compared", read)
