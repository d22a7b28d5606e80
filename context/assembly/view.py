"""Entries in view, read from the leaf back to the last compaction, never to the root."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from memory.records import UNDOES, Entry, EntryKind
from models.messages import Role

MOST_ENTRIES = 4000
_CHARACTERS_A_TOKEN = 16  # more than any text has; older entries could not fit anyway

_LINE_CHARACTERS = 240  # of a tool result that is shown as a line, about


class BranchView(Struct, frozen=True):
    """Summaries, then entries, oldest first.

    `further`: older entries exist that were not read. `reduced`: the seqs of entries that stand here with less than
    they were first sent with (context.working_set). `is_undone`: the newest compaction was undone, so that nothing
    leaves or is reduced until the window is full.
    """

    summaries: tuple[Entry, ...] = ()
    entries: tuple[Entry, ...] = ()
    further: bool = False
    reduced: frozenset[int] = frozenset()
    is_undone: bool = False

    @property
    def seqs(self) -> frozenset[int]:
        return frozenset(entry.seq for entry in (*self.summaries, *self.entries))

    @property
    def readable(self) -> frozenset[int]:
        """The seqs of the entries whose text is in view: memory need not bring it."""
        return self.seqs - {e.seq for e in self.entries if e.seq in self.reduced and e.kind is EntryKind.TOOL_RESULT}

    @property
    def is_running(self) -> bool:
        """Whether the branch ends within a turn: with a question, a tool call or a tool result."""
        if not self.entries:
            return False
        last = self.entries[-1]
        answered = last.kind is EntryKind.MESSAGE and last.role is Role.ASSISTANT
        return not answered or bool(last.meta.get("tool_calls"))


class CompactionAnchor(Struct, frozen=True):
    """A summary's metadata, as compaction writes it."""

    first_kept: int | None = None
    prior: tuple[int, ...] = ()
    pinned: int | None = None


EntriesAt = Callable[[Iterable[int]], dict[int, Entry]]


def read_view(path: Iterator[Entry], tokens: int, entries_at: EntriesAt, without: int | None = None) -> BranchView:
    """Reads a branch for a request of at most `tokens`. `path` yields its entries, newest first.

    `without` is excluded: the message that is being sent. `entries_at` returns entries by their seq.
    """
    entries: list[Entry] = []
    anchor: Entry | None = None
    floor, characters, further = 0, 0, False
    for entry in path:
        if entry.kind is EntryKind.SUMMARY and anchor is None:
            anchor = entry
            first = anchor_of(entry).first_kept
            floor = entry.seq if first is None else first
        if entry.seq < floor:
            break
        if len(entries) >= MOST_ENTRIES or (characters > tokens * _CHARACTERS_A_TOKEN and _begins_turn(entries[-1])):
            further = True
            break
        if entry.kind is not EntryKind.SUMMARY and entry.seq != without:
            entries.append(entry)
            characters += _least_characters(entry)
        if entry.seq == floor:
            break
    entries.reverse()
    if anchor is None:
        return BranchView((), tuple(entries), further)
    meta = anchor_of(anchor)
    older_seqs = [*meta.prior, *([meta.pinned] if meta.pinned is not None else [])]
    older = entries_at(older_seqs) if older_seqs else {}
    is_undone = UNDOES in anchor.meta
    summaries = tuple(older[seq] for seq in meta.prior if seq in older)
    summaries = summaries if is_undone else (*summaries, anchor)
    if meta.pinned in older and meta.pinned not in (without, *(entry.seq for entry in entries)):
        entries.insert(0, older[meta.pinned])
    return BranchView(summaries, tuple(entries), further, is_undone=is_undone)


def _least_characters(entry: Entry) -> int:
    """The characters that an entry takes at the least. A tool's output is stored whole, however much of it was sent,
    and may be shown as a line: by its own length a large one would hide the summary before it.
    """
    return min(entry.chars, _LINE_CHARACTERS) if entry.kind is EntryKind.TOOL_RESULT else entry.chars


def _begins_turn(entry: Entry) -> bool:
    return entry.kind is EntryKind.MESSAGE and entry.role is Role.USER


def anchor_of(summary: Entry) -> CompactionAnchor:
    """Parses a summary's metadata."""
    meta = summary.meta
    return CompactionAnchor(meta.get("first_kept"), tuple(meta.get("prior") or ()), meta.get("pinned"))
