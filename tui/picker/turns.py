"""The picker's list of the turns of one conversation, as a tree under its days."""

import asyncio
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.dom import DOMNode

from agent.commands.tree import row_details, row_head
from agent.services.conversation_list import MAX_HITS, turn_preview
from agent.services.conversation_tree import (
    ConversationTree,
    FilesOf,
    TreeRow,
    TurnNode,
    counted,
    read_tree,
    turn_texts,
)
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible_line
from memory.records import Conversation
from memory.scope import ALL
from memory.search import Query
from tui.picker.level import PickerLevel, PickerPreview, day_label, heading_text, row_text

if TYPE_CHECKING:
    from memory.memory import Memory

MAX_READ: Final = 2_000  # turns whose messages are read for a query; of older ones the index knows
AT_ONCE: Final = 100  # turns whose messages are read when one of them comes into view


class TurnLevel(PickerLevel):
    """The turns of a conversation. `rewrites`: Enter rewrites a message."""

    title: ClassVar[str] = "Turns"
    placeholder: ClassVar[str] = "type to search turns"

    def __init__(
        self,
        memory: "Memory",
        conversation: Conversation,
        files_of: FilesOf = lambda _: {},
        *,
        rewrites: bool = False,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._memory = memory
        self._files_of = files_of
        self.of = conversation
        self.rewrites = rewrites
        self._today = today
        self.marked = ""  # the id of the first turn of a comparison
        self.tree: ConversationTree | None = None
        self._shows_pruned = False
        self._folded: set[date] = set()
        self._texts: dict[int, str] = {}  # the beginnings of messages, by the seq of their turn
        self._found: set[int] = set()  # turns (seqs) that the search found for the query
        self._all_rows: list[TreeRow] | None = None
        self._rows: list[TreeRow] = []

    @property
    def keys(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride] - read like the constant
        enter = "Enter rewrite" if self.rewrites else "Enter go there"
        return (enter, "← back", *(() if self.rewrites else ("Ctrl+B rewrite",)), "Ctrl+R label", "Ctrl+E export",
                "Ctrl+T compare", "Ctrl+X prune", "Ctrl+O pruned", "Esc back")  # fmt: skip

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def about(self) -> str:
        if self.tree is None:
            return "reading …"
        if self.marked:
            return "choose the other turn, and press Ctrl+T again"
        if self.query:
            return f"{sum(row.turn is not None for row in self._rows):,} found"
        turns = self.tree.turns.values()
        hidden = sum(turn.is_pruned for turn in turns)
        parts = [counted(len(turns), "turn"), f"{sum(turn.tokens for turn in turns):,} tokens"]
        parts += [f"{hidden:,} pruned {'shown' if self._shows_pruned else 'hidden'}"] if hidden else []
        return " · ".join([*parts, visible_line(self.of.title) or "(untitled)"])

    @property
    def empty(self) -> str:
        return f"No turn matches “{self.query}”." if self.query else "There are no messages in it yet."

    async def read(self, query: str) -> None:
        self.query, self._found = query, set()
        await asyncio.to_thread(self._read)

    def reload(self, conversation: Conversation | None = None) -> None:
        """Has the next `read` read the tree anew."""
        self.of = conversation or self.of
        self.tree = self._all_rows = None

    def _read(self) -> None:
        if self.tree is None:
            self.of = self._memory.conversations.at(self.of.seq)
            self.tree = read_tree(self._memory, self.of, self._files_of, texts=False)
        if self._all_rows is None:
            self._all_rows = self.tree.rows(pruned=self._shows_pruned)
        if self.query:
            newest = [turn.seq for turn in self.tree.turns.values()][-MAX_READ:]
            self._texts |= turn_texts(self._memory, [seq for seq in newest if seq not in self._texts])
        self._arrange()

    async def read_texts(self) -> None:
        query, tree = self.query, self.tree
        if tree is None:
            return
        wanted = Query(text=query, limit=MAX_HITS, scope=ALL, conversation=self.of.id)
        try:
            hits = (await asyncio.to_thread(self._memory.search.query, wanted)).hits
        except PalimpsestError:  # the index is damaged: the messages that were read are found
            return
        if query == self.query:
            turns = {tree.turn_of.get(hit.entry) for hit in hits if hit.entry is not None}
            self._found = {seq for seq in turns if seq is not None}
            self._arrange()

    def _arrange(self) -> None:
        """The rows of unfolded days; with a query those that match, with their days."""
        rows: list[TreeRow] = []
        heading: TreeRow | None = None
        words = self.query.lower().split()
        for row in self._all_rows or ():
            if row.turn is None:
                heading = row
                if not words:
                    rows.append(row)
            elif not words and (heading is None or heading.day not in self._folded):
                rows.append(row)
            elif words and self._matches(row.turn, words):
                rows += [heading] if heading is not None else []
                heading = None
                rows.append(row)
        self._rows = rows

    def _matches(self, turn: TurnNode, words: list[str]) -> bool:
        text = f"{turn.label} {turn.text or self._texts.get(turn.seq, '')}".lower()
        return turn.seq in self._found or all(word in text for word in words)

    async def read_details(self, visible: range) -> bool:
        if not visible or not self._missing(visible):
            return False
        around = range(max(visible.start - AT_ONCE, 0), min(visible.stop + AT_ONCE, len(self._rows)))
        self._texts |= await asyncio.to_thread(turn_texts, self._memory, self._missing(around))
        return True

    def _missing(self, numbers: range) -> list[int]:
        turns = (row.turn for row in self._rows[numbers.start : numbers.stop])
        return [turn.seq for turn in turns if turn and not turn.text and turn.seq not in self._texts]

    def first(self) -> int | None:
        """The last turn of the current branch, or the last row."""
        leaf = next((number for number, row in enumerate(self._rows) if row.turn and row.turn.is_leaf), None)
        return leaf if leaf is not None else len(self._rows) - 1 if self._rows else None

    def key(self, number: int) -> str:
        row = self._rows[number]
        return row.turn.id if row.turn is not None else f"{row.day}"

    def turn(self, number: int) -> TurnNode | None:
        """The turn of the row; None for a day."""
        return self._rows[number].turn

    def conversation(self, number: int) -> Conversation | None:
        return self.of

    def text(self, number: int, width: int, node: DOMNode) -> Text:
        row = self._rows[number]
        if row.turn is None:
            mark = "▸" if row.day in self._folded and not self.query else "▾"
            day = day_label(row.day, self._today()) if row.day else ""
            return heading_text(f"{mark} {day} · {visible_line(row.heading.partition(' · ')[2])}", width, node)
        head = row_head(row) + "compare with: " * (row.turn.id == self.marked)
        said = row.turn.text or self._texts.get(row.turn.seq, "…")
        words = visible_line(said.strip().split("\n", 1)[0]) or "(no words)"
        return row_text(head, words, row_details(row.turn), width, node)

    async def preview(self, number: int) -> PickerPreview:
        row = self._rows[number]
        if (turn := row.turn) is None:
            return PickerPreview(row.heading)
        turns = await asyncio.to_thread(turn_preview, self._memory, turn.seq)
        parts = [f"{turn.time.astimezone():%Y-%m-%d %H:%M}", counted(turn.entries, "step"), *row_details(turn), turn.id]
        parts += [f"files: {', '.join(turn.files)}"] if turn.files else []
        parts += [f"summary: {turn.summary}"] if turn.summary else []
        return PickerPreview(" · ".join(parts), turns, self.query)

    def fold(self, number: int, *, folded: bool | None = None) -> bool:
        days = [row.day for row in self._rows[: number + 1] if row.turn is None]
        if not days or (day := days[-1]) is None or self.query:
            return False
        is_folded = day in self._folded
        if folded == is_folded:
            return False
        self._folded ^= {day}
        return True

    def heading_of(self, number: int) -> str:
        days = [row.day for row in self._rows[: number + 1] if row.turn is None]
        return str(days[-1]) if days else ""

    def toggle_hidden(self) -> None:
        self._shows_pruned = not self._shows_pruned
        self._all_rows = None
