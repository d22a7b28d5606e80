"""When old tool results become a line each, and when older turns leave. Pure functions.

Nothing is reduced before the request passes the working set, because each reduction makes the server read all that
follows it anew: masking at every call costs more than it saves. Then all that is due is done at once.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.view import BranchView
from context.settings import ContextSettings
from memory.records import Entry, EntryKind
from models.messages import RecalledSpan, Role

KEPT_RESULTS = 2  # newest tool results that stay whole
LINE_TOKENS = 60  # of a result as a line, about
LEAST_TOKENS = 30  # saved by one entry, below which it stays as it is
CHARACTERS_A_TOKEN = 4  # about
LEAST_TARGET = 8_000  # tokens; half of a smaller window would be read anew too often
FOLD_SHARE = 0.5  # of the working set's room: where lines alone do not bring the request there, older turns leave
TOOL_WORK = 0.5  # of the conversation in view: where calls and results take so much of it, half of the target is enough
LEAST_SAVING = 0.15  # of the conversation in view, for which a new epoch is worth its cost


class WorkingSet(Struct, frozen=True):
    """The size of a request in tokens: `high` begins a reduction, and `low` is what turns that leave bring it to."""

    high: int
    low: int
    fold: int


def working_set(
    budget: Budget, settings: ContextSettings, fixed: int, view: BranchView, tokens: Mapping[int, int]
) -> WorkingSet:
    """The working set of a window. `fixed`: tokens of the head and the tools, which nothing reduces; `tokens`: of the
    entries in view. Where tools fill the view half is enough: what they showed can be looked at again."""
    most = int(budget.total * settings.high_water)
    target = most
    if settings.working_tokens and not view.is_undone:
        wanted = settings.working_tokens // (2 if _tool_share(view, tokens) >= TOOL_WORK else 1)
        target = min(wanted, max(budget.window // 2, LEAST_TARGET))
    high = min(most, max(target, fixed + target // 2))
    room = high - fixed
    return WorkingSet(high, fixed + int(room * settings.low_water), fixed + int(room * FOLD_SHARE))


def _tool_share(view: BranchView, tokens: Mapping[int, int]) -> float:
    """What tool results, and the answers that only called tools, take of the entries in view. `tokens` by entry."""
    total = sum(tokens.get(entry.seq, 0) for entry in view.entries)
    used = sum(tokens.get(entry.seq, 0) for entry in view.entries if _is_tool_work(entry))
    return used / total if total else 0.0


def _is_tool_work(entry: Entry) -> bool:
    return entry.kind is EntryKind.TOOL_RESULT or bool(entry.meta.get("tool_calls"))


def due_entries(view: BranchView, tokens: Mapping[int, int]) -> dict[int, int]:
    """The entries to be reduced from now on, with the tokens that each saves, about.

    Tool results become a line, all but the newest ones; messages lose what was recalled for them, all but the newest
    one. What came since the last answer stays: the model has not read it. `tokens` by entry, as they are shown now.
    """
    read = _answered(view.entries)
    results = [entry for entry in read if entry.kind is EntryKind.TOOL_RESULT]
    due = {e.seq: tokens.get(e.seq, 0) - LINE_TOKENS for e in results[: max(0, len(results) - KEPT_RESULTS)]}
    messages = [entry for entry in read if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER]
    due |= {entry.seq: _recalled_tokens(entry) for entry in messages[:-1]}
    return {seq: saved for seq, saved in due.items() if saved > LEAST_TOKENS and seq not in view.reduced}


def _recalled_tokens(entry: Entry) -> int:
    return sum(len(part.text) for part in entry.sent if isinstance(part, RecalledSpan)) // CHARACTERS_A_TOKEN


def _answered(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries before the newest answer: the model has read them."""
    answers = (n for n, entry in enumerate(entries) if entry.kind is EntryKind.MESSAGE and entry.role is Role.ASSISTANT)
    return entries[: max(answers, default=0)]
