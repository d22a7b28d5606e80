"""The index of observations in an epoch's opening: made when MEMORY.md or the summaries change, kept until then."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.epoch import EpochState, HeadPiece
from context.layers.observations import ObservationIndex, is_index, observation_index
from context.report import ENVIRONMENT, LAST_CONVERSATION
from context.working_set.policy import working_set
from models.chat.port import Profile

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState

READ_AT_ONCE = 500  # newest observations that the index is chosen from
SHARE = 0.05  # of the working set, at most
OFFLINE = "offline"  # quotes what is recalled for a message, and reads no head


class EpochIndex:
    """Adds the index to new epochs of one request; `enabled` False leaves it out."""

    def __init__(self, components: "ContextState", counting: MessageCounter, budget: Budget, profile: Profile) -> None:
        self._components = components
        self._counting = counting
        self._budget = budget
        self._profile = profile
        self.enabled = True

    def leave_out(self, state: EpochState) -> bool:
        """Whether the epoch's head has an index, which new epochs do without from now on."""
        was_enabled, self.enabled = self.enabled, False
        return was_enabled and any(map(is_index, state.pieces))

    def added(self, state: EpochState, before: EpochState | None, in_view: Collection[int]) -> EpochState:
        """The new epoch with its index, after MEMORY.md. `in_view`: entries of the request.

        The index is the previous epoch's, byte for byte, if what is before it and the summaries after it stay.
        """
        if self.enabled and before is not None and _stands(state, before, in_view):
            index = tuple(filter(is_index, before.pieces))
            return replace(state, pieces=state.pieces + index, observations=before.observations)
        made = self._made(in_view) if self.enabled else None
        return replace(state, pieces=(*state.pieces, made.piece), observations=made.usage) if made else state

    def _made(self, in_view: Collection[int]) -> ObservationIndex | None:
        components, settings = self._components, self._components.settings
        most = settings.observations
        if not most or not settings.use_memory or self._profile.spec == OFFLINE:
            return None
        return observation_index(
            components.observations(READ_AT_ONCE, settings.scope),
            components.clock.now(),
            self._counting,
            most=most,
            room=int(working_set(self._budget, settings, 0, BranchView(), {}).high * SHARE),
            in_view=in_view,
            has_file=components.has_file,
            can_recall=self._profile.calls_tools,
        )


def _stands(state: EpochState, before: EpochState, in_view: Collection[int]) -> bool:
    """Whether a server keeps what it read around the index: a compaction that joins no summaries only adds one."""
    is_kept = state.summary == before.summary or before.summary in in_view
    same_head = (state.model, state.tools, state.nonce) == (before.model, before.tools, before.nonce)
    return is_kept and same_head and _before_index(state) == _before_index(before)


def _before_index(state: EpochState) -> tuple[HeadPiece, ...]:
    return tuple(p for p in state.pieces if not is_index(p) and p.source not in (LAST_CONVERSATION, ENVIRONMENT))
