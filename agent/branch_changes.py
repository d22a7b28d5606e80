"""What another window did to the conversation that is open here, in a line for the person."""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

from agent.events import Notice
from memory.conversations import Conversations
from memory.errors import NotFound
from memory.records import UNDOES, Entry, EntryKind

MOST_READ: Final = 2_000  # entries of each branch


def branch_change(
    conversations: Conversations, known: int | None, leaf: int | None, *, rewriting: bool = False
) -> Notice | None:
    """A notice of how the branch that ended with `known` became the one that ends with `leaf`, with the messages that
    came; None where there is nothing to say. Both are seqs. `rewriting`: the next message begins a branch elsewhere.
    Blocks."""
    if known == leaf:
        return None
    try:
        before, now = list(_path(conversations, known)), list(_path(conversations, leaf))
    except NotFound:
        return Notice(
            "warning", "This conversation was changed in another window. The context now matches what is stored."
        )
    shared = {entry.seq for entry in before} & {entry.seq for entry in now}
    gone = list(takewhile(lambda entry: entry.seq not in shared, before))
    added = list(takewhile(lambda entry: entry.seq not in shared, now))
    sentence = _sentence(gone, added, rewriting)
    messages = tuple(entry.seq for entry in reversed(added) if entry.kind is EntryKind.MESSAGE)
    return Notice("warning", sentence, messages) if sentence else None


def _sentence(gone: Sequence[Entry], added: Sequence[Entry], rewriting: bool) -> str:
    happened = _happened(added)
    if rewriting:
        return f"This conversation changed in another window{happened}. Your message starts a new branch anyway."
    if gone:
        new = f", and {_messages(added)} of the other branch {_is(added)}" if _count(added) else ""
        return (
            f"Another window switched this conversation to another branch: {_messages(gone)} shown here "
            f"{_is(gone)} no longer in the context{new}. /tree shows both."
        )
    if not _count(added):
        return (
            f"This conversation was changed in another window{happened}. The change applies here, too."
            if happened
            else ""
        )
    return (
        f"This conversation continued in another window{happened}. The new messages are now in the "
        "context; /tree shows them."
    )


def _path(conversations: Conversations, leaf: int | None) -> Iterator[Entry]:
    return islice(conversations.path(leaf), MOST_READ) if leaf is not None else iter(())


def _happened(added: Sequence[Entry]) -> str:
    undone = sum(entry.kind is EntryKind.SUMMARY and UNDOES in entry.meta for entry in added)
    compacted = sum(entry.kind is EntryKind.SUMMARY for entry in added) - undone
    parts = [
        _messages(added) if _count(added) else "",
        "a compaction" if compacted == 1 else f"{compacted:,} compactions" if compacted else "",
        "an undone compaction" if undone == 1 else f"{undone:,} undone compactions" if undone else "",
    ]
    named = ", ".join(filter(None, parts))
    return f": {named}" if named else ""


def _count(entries: Sequence[Entry]) -> int:
    return sum(entry.kind is EntryKind.MESSAGE for entry in entries)


def _messages(entries: Sequence[Entry]) -> str:
    count = _count(entries)
    return f"{count:,} message{'s' * (count != 1)}"


def _is(entries: Sequence[Entry]) -> str:
    return "is" if _count(entries) == 1 else "are"
