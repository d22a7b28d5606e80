"""A corpus in workspaces of its own, and questions asked of the real search and of the real recall."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from benchmarks.corpora import Asked, Corpus, Store
from benchmarks.proof.figures import CONTEXTS, DEEPEST, Answer, Progress, ranks
from context.assembly.tokens import MessageCounter
from context.recall.recall import RecallLimits, RecallRequest, recall_passages
from foundation.paths import Workspace
from foundation.privacy import TextSource, clear
from memory.memory import Memory
from memory.search import Query, SearchResults
from models.chat.port import ImageRule
from models.embed.port import Embedder
from models.fence import neutralise
from models.messages import RecalledSpan
from models.recalled import recalled_block
from models.tokens import Estimate, estimate

PASSAGE = 200
"""Tokens of one passage that is recalled, as `context.recall_passage` has it."""

_MOST_PARTS = 100  # as many as fit into the largest context, about
_TELLING = 25  # characters: what is shorter stands in many turns
_TIMED = 10  # hits: as many as a person is shown


class Recalled(NamedTuple):
    """Tokens of what is recalled, and the share of the evidence that stands in it."""

    tokens: int
    held: float


class Opened:
    """One store of a corpus, in a workspace of its own."""

    def __init__(self, store: Store, memory: Memory) -> None:
        self.store = store
        self._memory = memory
        self._counting = MessageCounter(Estimate(), ImageRule.NONE)
        self._texts = {turn.id: _plain(neutralise(clear(turn.text, TextSource.OTHER))) for turn in store.turns}
        self._long = {turn.id for turn in store.turns if estimate(turn.text) > PASSAGE}

    def answer(self, asked: Asked, *, without: frozenset[str], timed: bool, held: bool) -> Answer:
        """What the search finds. The time is that of a query as a person asks it, for ten hits."""
        ms = None
        if timed:
            began = time.perf_counter()
            self._memory.search.query(_without(Query(text=asked.text, limit=_TIMED), without))
            ms = (time.perf_counter() - began) * 1000
        search = cache(lambda query: self._memory.search.query(_without(query, without)))  # the same for every context
        results = search(Query(text=asked.text, limit=DEEPEST))
        return Answer(
            category=asked.category,
            wanted=len(asked.evidence),
            store=self.store.name,
            ranks=ranks([hit.entry_id for hit in results.hits], asked.evidence),
            found=results.found,
            best=results.likelihood if results.hits else 0.0,
            ms=ms,
            held={tokens: self._held(asked, tokens, search) for tokens in CONTEXTS}
            if held and asked.evidence
            else None,
        )

    def _held(self, asked: Asked, tokens: int, search: Callable[[Query], SearchResults]) -> float:
        """The share of the evidence that stands in what is recalled for the question within so many tokens.

        A turn is held where its text stands in a part, of whatever turn (of a few words, in a part of its own: anybody
        says “Yes!”); a passage longer than a part, where one of its answers does, or where nobody says what they are,
        where a part is of that passage.
        """
        parts = recall_passages(
            search,
            RecallRequest(asked.text),
            RecallLimits(tokens, PASSAGE, _MOST_PARTS, all_that_fit=True),
            self._counting,
        )
        return sum(self._stands(asked, each, parts) for each in asked.evidence) / len(asked.evidence)

    def recalled(self, asked: Asked, limits: RecallLimits) -> "Recalled":
        """What is recalled for a message within the limits."""
        parts = recall_passages(self._memory.search.query, RecallRequest(asked.text), limits, self._counting)
        held = sum(self._stands(asked, each, parts) for each in asked.evidence) / max(len(asked.evidence), 1)
        return Recalled(self._counting.text(recalled_block(parts)), held)

    def _stands(self, asked: Asked, evidence: str, parts: tuple[RecalledSpan, ...]) -> bool:
        own = [_plain(part.text) for part in parts if part.citation.ref == evidence]
        if asked.answers:
            return any(_plain(answer) in _plain(part.text) for answer in asked.answers for part in parts)
        if evidence in self._long:
            return bool(own)
        text = self._texts.get(evidence, "\0")
        return any(text in each for each in (own if len(text) < _TELLING else (_plain(part.text) for part in parts)))


@contextmanager
def opened(corpus: Corpus, *, whole: bool, embedder: Embedder | None, progress: Progress) -> Iterator[list[Opened]]:
    """Every store of the corpus, imported and indexed; with an embedder, its vectors made as well."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        memories: list[Memory] = []
        try:
            for number, store in enumerate(corpus.stores):
                progress(f"store {number + 1} of {len(corpus.stores)}: {len(store.turns)} turns")
                workspace = Workspace(Path(folder, str(number)))
                memories.append(_memory(workspace, embedder))
                lines = (json.dumps(line).encode() for line in store.as_lines(whole=whole))
                store_all(memories[-1].conversations, read_jsonl(lines, "all"), source="benchmark", fixed_source=True)
                memories[-1].search.update()
                if embedder:
                    memories[-1].search.vectors.fill(
                        lambda done, total, store=store: progress(f"{store.name}: {done} of {total} vectors")
                    )
            yield [Opened(store, memory) for store, memory in zip(corpus.stores, memories, strict=True)]
        finally:
            for memory in memories:
                memory.close()


def _without(query: Query, without: frozenset[str]) -> Query:
    return replace(query, without=without) if without else query


def _plain(text: str) -> str:
    """With every run of blanks as one: a part may be broken into lines otherwise than the turn was."""
    return " ".join(text.split())


def _memory(workspace: Workspace, embedder: Embedder | None) -> Memory:
    if embedder is None:
        return Memory.open(workspace, read_only=False)
    from memory.search.embedding import EmbedderSet

    return Memory.open(workspace, read_only=False, embedding=EmbedderSet.of(embedder))


def signals(*, embedded: bool) -> tuple[str, ...]:
    """The names of the ranking's signals that can be switched off; with vectors or without."""
    from memory.search.ranking.question import EMBEDDED, SIGNALS

    return tuple(name for name in SIGNALS if embedded or name not in EMBEDDED)
