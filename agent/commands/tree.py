"""The slash command `/tree`: the conversation as a tree of turns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.conversation import take_back
from agent.commands.results import OpenPicker, Outcome, SessionSwitched, ShowEntry, TextResult
from foundation.errors import Misuse
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.checkpoints.checkpoints import Checkpoints
    from agent.services.conversation_tree import ConversationTree, TreeRow, TurnNode
    from agent.session import Session

MOST_COMPARED: Final = 12  # turns of each branch that a comparison lists
MOST_HEADING: Final = 100  # characters of a day's line
MARKS: Final = {"leaf": "◆", "current": "●", "other": "○"}
LEGEND: Final = "◆ current position · ● this branch · ○ another branch"


async def _tree(session: Session, rest: str) -> Outcome:
    verb, _, argument = rest.partition(" ")
    argument = argument.strip()
    if not verb:
        session.branch.opened()
        return OpenPicker(level="turns", printed=lambda: _printed(session))
    if verb not in _VERBS:
        raise Misuse(
            "Not understood", f"/tree {visible_line(verb)}", "/tree shows the tree; /help tree lists the actions."
        )
    if not argument:
        raise Misuse("No turn", f"/tree {verb} needs the id of a turn.", "/tree shows them.")
    return await _VERBS[verb](session, argument)


async def load_tree(session: Session) -> ConversationTree:
    """The tree of the open conversation. Raises TemporaryFailure before its first message."""
    from agent.services.conversation_tree import read_tree

    conversation = await session.branch.reload(session.branch.opened())
    return await asyncio.to_thread(
        read_tree, session.memory, conversation, lambda id_: changed_files(session.checkpoints, id_)
    )


def changed_files(checkpoints: Checkpoints, conversation: str) -> dict[str, list[str]]:
    """The files that tools and commands changed, by the message of their turn; none where the journal is damaged."""
    from agent.checkpoints.history import EDITS

    found: dict[str, dict[str, None]] = {}
    for record in checkpoints.history(conversation).records:
        if record.kind in EDITS:
            found.setdefault(record.message, {}).update(dict.fromkeys(file.path for file in record.files))
    return {message: list(paths) for message, paths in found.items()}


async def _printed(session: Session) -> Outcome:
    tree = await load_tree(session)
    return TextResult("```text\n" + "\n".join(map(row_line, tree.rows())) + f"\n{LEGEND}\n```")


async def _go(session: Session, id_: str) -> Outcome:
    tree = await load_tree(session)
    turn = _turn(tree, id_)
    if turn.is_current:
        taken_back = await take_back(session)
        return SessionSwitched(taken_back, branch=True) if taken_back else ShowEntry(turn.seq)
    session.branch.take_back()
    tip = tree.tips[turn.id]
    await asyncio.to_thread(session.memory.conversations.set_leaf, tree.conversation.seq, tip)
    await session.branch.settle()
    session.report = None
    return SessionSwitched(f"Switched to the branch of “{_short(turn)}”; the other branch is kept.", branch=True)


async def go_on_after(session: Session, id_: str) -> Outcome:
    """Has the conversation go on after a turn of its branch; the turns after it stay on a branch of their own."""
    if not id_:
        raise Misuse("No turn", "/branch after needs the id of a turn.", "/tree shows them.")
    tree = await load_tree(session)
    turn = _turn(tree, id_)
    following = next((after for after in _current(tree) if after.seq > turn.seq), None)
    if not turn.is_current:
        raise Misuse("Another branch", f"“{_short(turn)}” is not on this branch.", f"/tree go {turn.id}")
    if following is None:
        return TextResult("The conversation is already there.")
    await _move_before(session, tree, following)
    return SessionSwitched(
        f"The conversation continues after “{_short(turn)}”; what followed is kept on its own branch: "
        f"/tree go {following.id}",
        branch=True,
    )


async def _drop(session: Session, id_: str) -> Outcome:
    """Takes a turn of the branch and what follows it out of the conversation and of the tree's view."""
    from agent.services.conversation_tree import set_pruned

    tree = await load_tree(session)
    turn = _turn(tree, id_)
    if not turn.is_current:
        raise Misuse("Another branch", f"“{_short(turn)}” is not on this branch.", f"/tree prune {turn.id} hides it.")
    count = sum(after.seq >= turn.seq for after in _current(tree))
    await _move_before(session, tree, turn)
    await asyncio.to_thread(set_pruned, session.memory, tree.conversation.seq, turn.id, pruned=True)
    await session.branch.settle()
    session.branch.dropped = turn.id
    what = f"“{_short(turn)}” and {_counted(count - 1, 'turn')} after it" if count > 1 else f"“{_short(turn)}”"
    are = "are" if count > 1 else "is"
    return SessionSwitched(
        f"{what} {are} removed from the conversation. Files are not changed and nothing is deleted from "
        f"disk. /tree restore {turn.id} undoes this.",
        branch=True,
        drops=True,
    )


async def _restore(session: Session, id_: str) -> Outcome:
    """Takes back a turn that was dropped: the conversation goes on with its branch."""
    from agent.services.conversation_tree import set_pruned

    tree = await load_tree(session)
    turn = _turn(tree, id_)
    await asyncio.to_thread(set_pruned, session.memory, tree.conversation.seq, turn.id, pruned=False)
    if session.branch.dropped == turn.id:
        session.branch.dropped = ""
    if turn.is_current:
        await session.branch.reload(tree.conversation)
        return TextResult(f"“{_short(turn)}” is in the conversation.")
    await asyncio.to_thread(session.memory.conversations.set_leaf, tree.conversation.seq, tree.tips[turn.id])
    await session.branch.settle()
    session.report = None
    return SessionSwitched(f"Restored “{_short(turn)}” and what follows it.", branch=True)


async def _move_before(session: Session, tree: ConversationTree, turn: TurnNode) -> None:
    """Has the conversation go on before a turn."""
    await take_back(session)
    stored = session.memory.conversations
    entry = await asyncio.to_thread(stored.entry, turn.seq)
    await asyncio.to_thread(stored.set_leaf, tree.conversation.seq, entry.parent)
    await session.branch.settle()
    session.report = None


def _current(tree: ConversationTree) -> list[TurnNode]:
    """The turns of the current branch, oldest first."""
    return [turn for turn in tree.turns.values() if turn.is_current]


async def _compare(session: Session, rest: str) -> Outcome:
    first, _, second = rest.partition(" ")
    tree = await load_tree(session)
    if not second.strip():
        raise Misuse("One turn", "/tree compare needs two turns.", "/tree compare ID ID")
    return TextResult(comparison(tree, _turn(tree, first), _turn(tree, second.strip())))


async def _label(session: Session, rest: str) -> Outcome:
    from agent.services.conversation_tree import set_turn_label

    id_, _, text = rest.partition(" ")
    tree = await load_tree(session)
    turn = _turn(tree, id_)
    conversation = await asyncio.to_thread(set_turn_label, session.memory, tree.conversation.seq, turn.id, text)
    await session.branch.reload(conversation)
    return TextResult(f"Labelled “{_short(turn)}”." if text.strip() else f"Removed the label of “{_short(turn)}”.")


async def _prune(session: Session, id_: str) -> Outcome:
    from agent.services.conversation_tree import NOTHING_PRUNED, set_pruned

    tree = await load_tree(session)
    turn = _turn(tree, id_)
    if turn.is_current:
        raise Misuse("The current branch", NOTHING_PRUNED, "Switch to another branch first: /tree go ID")
    await asyncio.to_thread(set_pruned, session.memory, tree.conversation.seq, turn.id, pruned=not turn.is_pruned)
    await session.branch.reload(tree.conversation)
    if turn.is_pruned:
        return TextResult(f"“{_short(turn)}” is shown in the tree again.")
    return TextResult(f"“{_short(turn)}” and what follows it are now hidden in the tree. Nothing is deleted.")


_VERBS = {"go": _go, "compare": _compare, "label": _label, "prune": _prune, "drop": _drop, "restore": _restore}


def comparison(tree: ConversationTree, first: TurnNode, second: TurnNode) -> str:
    """What two branches share, and what each has for itself, as Markdown."""
    lines = tree.line_of(first.id), tree.line_of(second.id)
    shared = 0
    while shared < min(map(len, lines)) and lines[0][shared].id == lines[1][shared].id:
        shared += 1
    if shared == len(lines[0]) == len(lines[1]):
        return "Both turns are on the same branch."
    last = f", up to “{_short(lines[0][shared - 1])}”" if shared else ""
    parts = [f"They share {_counted(shared, 'turn')}{last}."]
    for line in lines:
        own = line[shared:]
        files = list(dict.fromkeys(name for turn in own for name in turn.files))
        parts.append(
            f"**{_counted(len(own), 'turn')}**, {sum(turn.tokens for turn in own):,} tokens"
            + (f"; files: {', '.join(f'`{visible_line(name)}`' for name in files)}" if files else "; no file changed")
            + "\n"
            + "\n".join(
                f"- {turn.time.astimezone():%m-%d %H:%M} {_short(turn)} (`{turn.id}`)" for turn in own[:MOST_COMPARED]
            )
            + (f"\n- and {len(own) - MOST_COMPARED:,} more" if len(own) > MOST_COMPARED else "")
        )
    return "\n\n".join(parts)


def row_line(row: TreeRow) -> str:
    """A row as text: `● 14:02  message  [label]  3,200 tokens, 2 files  e_…`."""
    if row.turn is None:
        heading = visible_line(row.heading)
        return heading if len(heading) <= MOST_HEADING else f"{heading[: MOST_HEADING - 1].rstrip()}…"
    return f"{row_head(row)}{_short(row.turn)}  {', '.join(row_details(row.turn))}  {row.turn.id}"


def row_head(row: TreeRow) -> str:
    """The lines of the branches, the mark of the turn and its time."""
    turn = row.turn
    assert turn is not None
    lines = "│ " * (row.depth - row.begins) + "├╴" * row.begins
    mark = MARKS["leaf" if turn.is_leaf else "current" if turn.is_current else "other"]
    local = turn.time.astimezone()
    return f"{lines}{mark} {local:%m-%d %H:%M}  " if row.depth else f"{mark} {local:%H:%M}  "


def row_details(turn: TurnNode) -> Sequence[str]:
    """The label, the tokens and the number of files of a turn."""
    parts = [f"[{visible_line(turn.label)}]"] if turn.label else []
    parts += ["pruned"] if turn.is_pruned else []
    parts += [f"{turn.tokens:,} tokens"]
    return [*parts, *([_counted(len(turn.files), "file")] if turn.files else [])]


def _turn(tree: ConversationTree, id_: str) -> TurnNode:
    matching = [turn for turn in tree.turns.values() if turn.id == id_] or [
        turn for turn in tree.turns.values() if len(id_) >= 4 and turn.id.startswith(id_)
    ]
    if len(matching) != 1:
        raise Misuse(
            "No such turn", f"No turn of this conversation has the id {visible_line(id_)}.", "/tree shows them."
        )
    return matching[0]


def _short(turn: TurnNode) -> str:
    from agent.commands.conversation import first_line

    return visible_line(first_line(turn.text.strip())) or "(no words)"


def _counted(number: int, singular: str) -> str:
    from foundation.figures import counted

    return counted(number, singular)


COMMANDS = (
    Command(
        name="tree",
        summary="Show the conversation tree: go to a turn, branch, label, compare, prune.",
        usage="[go|compare|label|prune|drop|restore ID …]",
        keys="Opens a picker with the turns of the conversation; F1 lists its keys.",
        run=_tree,
    ),
)
