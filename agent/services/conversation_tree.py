"""A conversation as a tree of turns: where it branched, what each turn took, and which files it changed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.figures import counted
from foundation.privacy import clear, edited
from memory.errors import MemoryFailure
from memory.records import UNDOES, Conversation, Entry, EntryKind, EntryNode
from memory.turn_summaries import covered_ids
from models.messages import Role

if TYPE_CHECKING:
    from memory.memory import Memory

TURN_LABEL: Final = "turn:"
PRUNED: Final = "pruned:"
MOST_CHARS: Final = 400  # of a turn's message and of a summary
MOST_LABEL: Final = 60
NOTHING_PRUNED: Final = "A turn of the current branch cannot be pruned."

FilesOf = Callable[[str], Mapping[str, Sequence[str]]]
"""The files that turns of a conversation (its id) changed, by the id of the turn's message."""


class TurnNode(Struct, frozen=True, kw_only=True):
    """One turn: a message and what followed until the next one. `id` and `seq` are those of its first entry.

    `parent` is a turn's id, "" for a root. `is_current`: on the branch that the conversation stands on; `is_leaf`: its
    last turn. `summary` covers this turn and those before it.
    """

    id: str
    seq: int
    parent: str
    time: datetime
    text: str
    entries: int
    tokens: int
    files: tuple[str, ...] = ()
    label: str = ""
    summary: str = ""
    is_pruned: bool = False
    is_current: bool = False
    is_leaf: bool = False

    @property
    def day(self) -> date:
        """The local day that it began on."""
        return self.time.astimezone().date()


class TreeRow(Struct, frozen=True):
    """A row of the drawn tree: a turn, or the heading of a day where `turn` is None."""

    turn: TurnNode | None
    depth: int = 0  # branches off the main line
    begins: bool = False  # the first turn of a branch
    heading: str = ""
    day: date | None = None  # of a heading


class ConversationTree(Struct, frozen=True):
    """The turns by id, oldest first, and the last entry (seq) below each. `turn_of` has each entry's turn, as seqs."""

    conversation: Conversation
    turns: dict[str, TurnNode]
    tips: dict[str, int]
    turn_of: dict[int, int] = {}

    def rows(self, *, pruned: bool = False) -> list[TreeRow]:
        """The tree as it is drawn: the current branch as the main line under its days, others before they end.

        `pruned`: with turns that were pruned from view.
        """
        days: dict[date, list[TurnNode]] = {}
        for turn in self.turns.values():
            days.setdefault(turn.day, []).append(turn)
        rows: list[TreeRow] = []
        day: date | None = None
        for row in self._walk(pruned=pruned):
            if row.turn is not None and row.depth == 0 and row.turn.day != day:
                day = row.turn.day
                rows.append(TreeRow(None, heading=_heading(day, days[day]), day=day))
            rows.append(row)
        return rows

    def _walk(self, *, pruned: bool) -> Iterator[TreeRow]:
        children: dict[str, list[TurnNode]] = {}
        for turn in self.turns.values():
            if pruned or not turn.is_pruned:
                children.setdefault(turn.parent, []).append(turn)
        stack = [TreeRow(turn) for turn in reversed(_main_last(children.get("", [])))]
        while stack:
            row = stack.pop()
            assert row.turn is not None
            yield row
            below = _main_last(children.get(row.turn.id, []))
            side, main = below[:-1], below[-1:]
            stack += [TreeRow(turn, row.depth) for turn in main]
            stack += [TreeRow(turn, row.depth + 1, begins=True) for turn in reversed(side)]

    def path(self, id_: str) -> list[TurnNode]:
        """The turns from the root to this one."""
        turns: list[TurnNode] = []
        turn = self.turns.get(id_)
        while turn is not None:
            turns.append(turn)
            turn = self.turns.get(turn.parent)
        return turns[::-1]

    def line_of(self, id_: str) -> list[TurnNode]:
        """The turns from the root through this one to the newest end below it."""
        line = self.path(id_)
        below: dict[str, TurnNode] = {turn.parent: turn for turn in self.turns.values()}  # the newest of each
        while line and (following := below.get(line[-1].id)):
            line.append(following)
        return line


def read_tree(
    memory: "Memory", conversation: Conversation, files_of: FilesOf, *, texts: bool = True
) -> ConversationTree:
    """Reads the whole tree; texts of messages alone, or none (`turn_texts` reads some), and nothing of tool results.
    Blocks.
    """
    nodes = memory.conversations.nodes(conversation.seq)
    turn_of, members = _grouped(nodes)
    leaf = conversation.leaf
    beginnings = turn_texts(memory, list(members)) if texts else {}
    summaries = _summaries(memory, conversation, nodes, turn_of)
    files, labels = files_of(conversation.id), conversation.labels
    by_seq = {node.seq: node for node in nodes}
    current = {turn_of[seq] for seq in _path(by_seq, leaf) if seq in turn_of}
    last = turn_of.get(leaf or 0)
    turns: dict[str, TurnNode] = {}
    for first, entries in members.items():
        node = by_seq[first]
        parent = turn_of.get(node.parent) if node.parent is not None else None
        turns[node.id] = TurnNode(
            id=node.id,
            seq=first,
            parent=by_seq[parent].id if parent is not None else "",
            time=node.time,
            text=beginnings.get(first, ""),
            entries=len(entries),
            tokens=sum(entry.tokens for entry in entries),
            files=tuple(files.get(node.id, ())),
            label=_label(labels, f"{TURN_LABEL}{node.id}="),
            summary=summaries.get(first, ""),
            is_pruned=f"{PRUNED}{node.id}=" in labels,
            is_current=first in current,
            is_leaf=first == last,
        )
    return ConversationTree(conversation, _with_pruned_branches(turns), _tips(nodes, by_seq, members), turn_of)


def set_turn_label(memory: "Memory", conversation: int, turn: str, text: str) -> Conversation:
    """Labels a turn; "" removes the label. Blocks."""
    prefix = f"{TURN_LABEL}{turn}="
    label = edited(clear(" ".join(text.split())), lambda whole: f"{prefix}{whole[:MOST_LABEL]}")
    return memory.conversations.set_label(conversation, prefix, label if text.strip() else None)


def set_pruned(memory: "Memory", conversation: int, turn: str, *, pruned: bool) -> Conversation:
    """Prunes a turn with all below it from view, or shows it again. Nothing is deleted. Blocks."""
    label = f"{PRUNED}{turn}="
    return memory.conversations.set_label(conversation, label, clear(label) if pruned else None)


def _grouped(nodes: Sequence[EntryNode]) -> tuple[dict[int, int], dict[int, list[EntryNode]]]:
    """The first entry of each entry's turn, and the entries of each turn by its first. A parent comes before."""
    turn_of: dict[int, int] = {}
    members: dict[int, list[EntryNode]] = {}
    for node in nodes:
        is_summary = node.kind == EntryKind.SUMMARY
        if is_summary and node.parent is None:
            continue
        begins = node.kind == EntryKind.MESSAGE and node.role == Role.USER
        above = turn_of.get(node.parent) if node.parent is not None else None
        first = node.seq if begins or above is None else above
        turn_of[node.seq] = first
        members.setdefault(first, [])
        if not is_summary and node.kind != EntryKind.OBSERVATION:
            members[first].append(node)
    return turn_of, members


def turn_texts(memory: "Memory", seqs: Sequence[int]) -> dict[int, str]:
    """The beginnings of these turns' messages, by the seq of the turn. Blocks."""
    return {seq: _beginning(memory, entry) for seq, entry in memory.conversations.entries(seqs).items()}


def _beginning(memory: "Memory", entry: Entry) -> str:
    try:
        return memory.passage(entry).text[:MOST_CHARS]
    except MemoryFailure:
        return "(its text is damaged)"


def _summaries(
    memory: "Memory", conversation: Conversation, nodes: Sequence[EntryNode], turn_of: Mapping[int, int]
) -> dict[int, str]:
    """The newest summary of each turn: of a compaction before it ended, or one beside that ends with it."""
    seqs = [node.seq for node in nodes if node.kind == EntryKind.SUMMARY]
    by_id = {node.id: node.seq for node in nodes}
    found: dict[int, str] = {}
    for entry in memory.conversations.entries(seqs).values():
        if UNDOES in entry.meta:
            continue
        ids = covered_ids(entry)
        end = by_id.get(ids[1]) if ids else entry.seq if entry.parent is not None else None
        if end is not None and end in turn_of:
            found[turn_of[end]] = _beginning(memory, entry)
    return found


def _label(labels: Sequence[str], prefix: str) -> str:
    return next((label.removeprefix(prefix) for label in labels if label.startswith(prefix)), "")


def _with_pruned_branches(turns: dict[str, TurnNode]) -> dict[str, TurnNode]:
    """The turns with those below a pruned one marked as well; a turn of the current branch is never hidden."""
    marked: dict[str, TurnNode] = {}
    for id_, turn in turns.items():
        above = marked.get(turn.parent)
        hidden = (turn.is_pruned or (above is not None and above.is_pruned)) and not turn.is_current
        marked[id_] = turn if turn.is_pruned == hidden else replace(turn, is_pruned=hidden)
    return marked


def _path(by_seq: Mapping[int, EntryNode], leaf: int | None) -> Iterator[int]:
    """The seqs from the leaf up to its root."""
    while leaf is not None and (node := by_seq.get(leaf)):
        yield leaf
        leaf = node.parent


def _tips(nodes: Sequence[EntryNode], by_seq: Mapping[int, EntryNode], members: Mapping[int, object]) -> dict[str, int]:
    """The newest end below each turn, as a seq."""
    newest_child: dict[int, int] = {}
    for node in nodes:
        if node.parent is not None and node.kind != EntryKind.OBSERVATION:  # observations stand beside the branch
            newest_child[node.parent] = node.seq
    ends: dict[int, int] = {}
    for node in reversed(nodes):  # children come after their parents
        child = newest_child.get(node.seq)
        ends[node.seq] = ends[child] if child is not None else node.seq
    return {by_seq[first].id: ends[first] for first in members}


def _main_last(turns: Sequence[TurnNode]) -> list[TurnNode]:
    """The turns with the one that the main line goes on with last: the current one, or the newest."""
    return sorted(turns, key=lambda turn: (turn.is_current, turn.seq))


def _heading(day: date, turns: Sequence[TurnNode]) -> str:
    """Of a day: its turns, tokens, files, and the newest summary of it."""
    files = {name for turn in turns for name in turn.files}
    parts = [f"{day:%Y-%m-%d %A}", counted(len(turns), "turn"), f"{sum(turn.tokens for turn in turns):,} tokens"]
    parts += [counted(len(files), "file")] if files else []
    summary = next((turn.summary for turn in reversed(turns) if turn.summary), "")
    return " · ".join([*parts, *([" ".join(summary.split())] if summary else [])])
