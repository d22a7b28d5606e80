"""What is recalled for the message of one turn, beside what earlier messages in view have recalled."""

from collections.abc import Sequence

from context.assembly.budget import Budget
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.recall.citations import cited_parts, resolve_citations
from context.recall.prefetch import previous_question
from context.recall.recall import RecallRequest, beside_earlier, fit_passages, limits_of, recall_passages
from context.recall.stale import current_passages, passages_in
from context.state import ContextState
from context.types import Turn
from context.working_set.policy import working_set
from memory.hot import Note
from models.chat.port import Profile
from models.excerpts import without_placeholders
from models.messages import RecalledSpan, Role


class MessageRecall:
    """The recall of one turn. `is_wanted` False brings nothing; `is_late`: the search was not done in time."""

    def __init__(
        self, components: ContextState, turn: Turn, profile: Profile, budget: Budget, counting: MessageCounter
    ) -> None:
        self._components = components
        self._turn = turn
        self._is_model = profile.spec != "offline"
        self._budget = budget
        self._counting = counting
        self.is_wanted = True
        self.is_late = False

    def passages(
        self, view: BranchView, excluded: frozenset[int], notes: Sequence[Note], unchanged: frozenset[str]
    ) -> tuple[RecalledSpan, ...]:
        """The passages, the cited ones first. `excluded`: entries that need not be brought; `unchanged`: ids of the
        notes that the head shows."""
        components, turn, counting = self._components, self._turn, self._counting
        if turn.brought is not None:
            return turn.brought
        if not self.is_wanted:
            return ()
        message = resolve_citations(without_placeholders(turn.text), components.recall)
        limits = limits_of(components.settings, self._budget.total)
        if not components.settings.recall:  # cited passages are included all the same, as an attachment is
            return cited_parts(message.passages, limits.cited, counting)
        earlier = passages_in(view)
        if self._is_model:
            working = working_set(self._budget, components.settings, 0, BranchView(), {}).high
            limits = beside_earlier(limits, message.text, earlier, int(working * components.settings.recall_share))
        entries = excluded | view.readable | ({turn.entry} if turn.entry is not None else set[int]())
        request = RecallRequest(
            message.text,
            previous_question(view),
            entries,
            unchanged,
            current_passages(earlier, notes),
            message.passages,
            components.conversations.off_branch,
            tuple(map(components.history.text_of, view.summaries)),
            tuple(entry.text for entry in view.entries if entry.role is Role.USER and entry.text),
            turn.conversation.id if turn.conversation else "",
        )
        if turn.prefetch is None:
            return recall_passages(components.search, request, limits, counting)
        prefetched = turn.prefetch.wait(components.settings.recall_wait)
        self.is_late = not turn.prefetch.done
        if prefetched is not None and not prefetched.query.exclude <= entries:  # entries have left the view since
            return recall_passages(components.search, request, limits, counting)
        return fit_passages(prefetched.results if prefetched else None, request, limits, counting)
