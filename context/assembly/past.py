"""What a request reads of the conversation's past, by the switches use_memory, read_compressed and recent_count.

The running turn is always read whole. What the switches leave out stays in the store, and nothing is compacted for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace as replaced

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.head import HeadSources
from context.assembly.view import BranchView
from context.notice import FileNotice
from context.settings import ContextSettings
from context.state import ContextState
from context.switches import settings_for
from context.types import Turn
from memory.origin import MEMORY_TOOLS
from memory.records import STEERS, Entry, EntryKind
from memory.search import Query, SearchResults
from models.messages import Role, Tool

READING_TOOLS = frozenset(MEMORY_TOOLS) - {"remember"}
NO_SUMMARIES = FileNotice(
    "info",
    "This conversation has no summary yet, so none of its turns are sent (read_compressed). use_compression "
    "writes a summary after each turn.",
)


class HistoryReading(Struct, frozen=True):
    """The view of a request, and `whole`, the view without switches. `key` changes where the past is read anew."""

    settings: ContextSettings
    view: BranchView
    whole: BranchView
    key: str = ""
    notices: tuple[FileNotice, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.key

    @property
    def excluded(self) -> frozenset[int]:
        """The seqs of entries that recall need not bring: those in view, or that a summary in view stands for."""
        return self.view.readable | self.whole.readable if self.settings.read_compressed else self.view.readable

    def sources(self, sources: HeadSources) -> HeadSources:
        """The head's sources: without MEMORY.md and the notes where no memory is used."""
        return sources if self.settings.use_memory else replace(sources, memory="", notes=())

    def tools(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """The tools that are offered: without those that read memory where no memory is used."""
        return tools if self.settings.use_memory else tuple(tool for tool in tools if tool.name not in READING_TOOLS)


def switched(components: ContextState, turn: Turn) -> ContextState:
    """The components with the switches and the scope of the turn's conversation."""
    settings = settings_for(components.settings, turn.conversation)

    def search(query: Query) -> SearchResults:
        return components.search(replace(query, scope=settings.scope) if query.scope is None else query)

    return replaced(components, settings=settings, search=search)


def read_history(
    components: ContextState, turn: Turn, total: int, count: Callable[[str], int] | None = None
) -> HistoryReading:
    """Reads the past of a turn for a request of `total` tokens. `components` are those of `switched`."""
    whole = components.history.view(turn.leaf, total, turn.entry)
    return apply_switches(components, turn, whole, total, count)


def apply_switches(
    components: ContextState, turn: Turn, whole: BranchView, total: int, count: Callable[[str], int] | None = None
) -> HistoryReading:
    """What the switches leave of a view."""
    settings = components.settings
    earlier, current = _split(whole.entries, is_running=turn.continuing or turn.steers)
    begin = current[0].seq if current else turn.entry or 0
    if not settings.use_memory:
        return HistoryReading(settings, _only(whole, current), whole, f"no memory:{begin}")
    if settings.read_compressed:
        summaries = _summaries(components, turn, whole)
        if count is not None:
            summaries = fitting_summaries(components, summaries, int(total * settings.conversation_share), count)
        if settings.recent_count:
            summaries = summaries[-settings.recent_count :]
        notices = () if summaries or not earlier else (NO_SUMMARIES,)
        return HistoryReading(settings, _only(whole, current, summaries), whole, f"compressed:{begin}", notices)
    if settings.recent_count and (recent := _recent(earlier, settings.recent_count)) is not earlier:
        return HistoryReading(settings, _only(whole, (*recent, *current)), whole, f"recent:{recent[0].seq}")
    return HistoryReading(settings, whole, whole)


def _split(entries: Sequence[Entry], *, is_running: bool) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """The entries before the running turn, and those of it that are stored: it goes on with what steers it."""
    if not is_running:
        return entries, ()
    own = ((n, e) for n, e in enumerate(entries) if e.kind is EntryKind.MESSAGE and e.role is Role.USER)
    questions = (n for n, entry in own if not entry.meta.get(STEERS))
    begin = max(questions, default=0)
    return entries[:begin], entries[begin:]


def _only(whole: BranchView, entries: Sequence[Entry], summaries: Sequence[Entry] = ()) -> BranchView:
    return BranchView(tuple(summaries), tuple(entries), reduced=whole.reduced, is_undone=whole.is_undone)


def _recent(earlier: Sequence[Entry], most: int) -> Sequence[Entry]:
    """From the message that is `most` messages back on; a tool's result stays with the message that called it."""
    messages = [n for n, entry in enumerate(earlier) if entry.kind is EntryKind.MESSAGE]
    return earlier if len(messages) <= most else earlier[messages[-most] :]


def _summaries(components: ContextState, turn: Turn, whole: BranchView) -> list[Entry]:
    """The summaries of compactions in view, then those beside the branch that cover what came after, oldest first."""
    if turn.conversation is None or turn.leaf is None:
        return []
    covered_to = min((entry.seq for entry in whole.entries), default=0) if whole.summaries else 0
    beside = components.conversations.turn_summaries(turn.conversation.seq, turn.leaf, covered_to)
    return [*whole.summaries, *beside]


def fitting_summaries(
    components: ContextState, summaries: Sequence[Entry], most: int, count: Callable[[str], int]
) -> list[Entry]:
    """The newest summaries that fit so many tokens together; one at least."""
    left = most
    fitting: list[Entry] = []
    for summary in reversed(summaries):
        left -= count(components.history.text_of(summary))
        if left < 0 and fitting:
            break
        fitting.append(summary)
    return fitting[::-1]
