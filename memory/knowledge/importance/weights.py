"""The current score and view state of each memory, and the figures of all of them."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from foundation.text.similarity import near_duplicates
from memory.cold import ColdStore
from memory.knowledge import rows
from memory.knowledge.importance.score import importance_score
from memory.knowledge.importance.view_budget import MemoryWeight, ViewState, tokens_within, view_states
from memory.knowledge.records import KnowledgeRecord

DAY = 86_400


class ScoredMemory(Struct, frozen=True, kw_only=True):
    """A memory with its current score and view state."""

    known: KnowledgeRecord
    score: float
    view_state: ViewState


class KnowledgeStats(Struct, frozen=True, kw_only=True):
    """Figures of knowledge. `tokens` are the vision tokens in view at once: the pages of the memories with the
    highest scores, as many as the budget holds. `utilisation` is their share of the budget, in percent.
    `tokens_of_all` is the vision tokens of every page together.

    `average_importance` is of the scores, as forgetting weighs them; `average_given` of what people gave by hand.
    """

    memories: int
    in_view: int
    merged: int
    out_of_view: int
    missing: int
    older_versions: int
    tokens: int
    max_tokens: int
    tokens_of_all: int
    utilisation: float
    average_importance: float
    average_given: float
    accesses: int
    chars: int


class ImportanceScorer:
    """Scores all memories by the clock of the store."""

    def __init__(self, cold: ColdStore) -> None:
        self._cold = cold

    def scored_memories(self, budget: int) -> list[ScoredMemory]:
        """Every memory, by name."""
        memories, now = self._cold.read(rows.current), self._cold.clock.now()
        states = self._view_states(memories, budget, now)
        return [
            ScoredMemory(known=memory, score=score(memory, now), view_state=states[memory.seq]) for memory in memories
        ]

    def view_states(self, budget: int) -> dict[int, ViewState]:
        """The view state of each memory within a budget of vision tokens, by seq."""
        return self._view_states(self._cold.read(rows.current), budget, self._cold.clock.now())

    def tokens_in_view(self, memories: Sequence[ScoredMemory], budget: int) -> int:
        """Vision tokens of the pages within the budget, by score, highest first."""
        views = self._cold.read(rows.counts)
        best_first = sorted(memories, key=lambda memory: (-memory.score, memory.known.seq))
        return tokens_within(
            [
                (views.get(memory.known.seq, {}), memory.view_state.mode)
                for memory in best_first
                if memory.view_state.in_view
            ],
            budget,
        )

    def _view_states(self, memories: Sequence[KnowledgeRecord], budget: int, now: datetime) -> dict[int, ViewState]:
        views = self._cold.read(rows.counts)
        weights = [
            MemoryWeight(memory.seq, score(memory, now), memory.accesses, views.get(memory.seq, {}))
            for memory in memories
        ]
        return view_states(weights, budget, self._twins)

    def _twins(self, seqs: Sequence[int]) -> list[tuple[int, int]]:
        return near_duplicates(self._cold.read(lambda db: rows.sketches(db, seqs)), seqs)


def score(known: KnowledgeRecord, now: datetime) -> float:
    """The importance score of a memory at that moment; its age counts from the kept version."""
    return importance_score(known.importance, (now - known.added).total_seconds() / DAY, known.accesses)


def compute_stats(memories: Sequence[ScoredMemory], older: int, budget: int, tokens: int) -> KnowledgeStats:
    """The figures of these memories, with `older` kept versions and `tokens` in view at once."""
    states = [memory.view_state.state for memory in memories]
    return KnowledgeStats(
        memories=len(memories),
        in_view=states.count("in view"),
        merged=states.count("merged"),
        out_of_view=states.count("out of view"),
        missing=sum(memory.known.missing is not None for memory in memories),
        older_versions=older,
        tokens=tokens,
        max_tokens=budget,
        tokens_of_all=sum(memory.view_state.tokens for memory in memories),
        utilisation=round(100 * tokens / budget, 1) if budget else 0.0,
        average_importance=_mean([memory.score for memory in memories]),
        average_given=_mean([memory.known.importance for memory in memories]),
        accesses=sum(memory.known.accesses for memory in memories),
        chars=sum(memory.known.chars for memory in memories),
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0
