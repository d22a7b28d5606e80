"""The interface of knowledge: add files, list them, rate them, and retrieve from them."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from foundation.clock import to_ms
from foundation.errors import Misuse
from foundation.files import child, remove
from foundation.paths import Workspace
from foundation.privacy import TextSource, clear
from foundation.program import PROGRAM
from foundation.trust import Trust
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import NotFound
from memory.knowledge import rows
from memory.knowledge.importance.patterns import as_pattern, has_exact_name, importance_of, matching_memories
from memory.knowledge.importance.score import DEFAULT_IMPORTANCE, MOST_IMPORTANT
from memory.knowledge.importance.view_budget import ViewState
from memory.knowledge.importance.weights import ImportanceScorer, KnowledgeStats, ScoredMemory, compute_stats
from memory.knowledge.ingest.removed import expired_memories, removed_memories, returned_memories
from memory.knowledge.ingest.report import AddOptions, AddReport, FileMessage
from memory.knowledge.ingest.walk import is_utf8
from memory.knowledge.readers.document import DocumentLocation, OcrReader
from memory.knowledge.records import DocumentView, KnowledgeRecord
from memory.knowledge.retrieve import images
from memory.knowledge.retrieve.images import HitImageFinder
from memory.knowledge.retrieve.query import search_subject
from memory.knowledge.retrieve.select import (
    KnowledgeContext,
    PageCost,
    RetrievalLimits,
    SelectedPassage,
    candidates,
    select_passages,
)
from memory.pages.types import EntryText
from memory.search import Query, SearchResults
from memory.settings import KnowledgeSettings
from models.tokens import estimate

if TYPE_CHECKING:  # readers and pages are loaded when a file is added
    from memory.archive.lifecycle.deletion import DeletionResult
    from memory.knowledge.ingest.add import OnProgress


class Knowledge:
    """The files that a person added to one workspace. Methods may be called from any thread."""

    def __init__(
        self,
        workspace: Workspace,
        cold: ColdStore,
        vault: Callable[[], Vault],
        search: Callable[[Query], SearchResults],
    ) -> None:
        self._workspace = workspace
        self._cold = cold
        self._vault = vault
        self._search = search
        self._scorer = ImportanceScorer(cold)

    # ── adding ──

    def add(
        self,
        paths: Sequence[Path],
        options: AddOptions | None = None,
        settings: KnowledgeSettings | None = None,
        *,
        ocr_reader: Callable[[], OcrReader | None] | None = None,
        report: AddReport | None = None,
        on_progress: "OnProgress | None" = None,
    ) -> AddReport:
        """Adds files, and folders with all that is below them. A given `report` is filled while files are added.

        `ocr_reader` gives the reader of pictures; by default the installed engine.

        Raises for a store that is full or damaged, which ends the run. A bad file is in the report.
        """
        # readers, archiver and OCR, 24 modules: most runs add no file
        from memory.knowledge.ingest.add import IngestRun
        from memory.knowledge.ocr import installed_ocr_reader

        options, settings = options or AddOptions(), settings or KnowledgeSettings()
        before = self._scorer.view_states(settings.max_vision_tokens)
        if options.importance is not None:
            named = [str(path.resolve()) for path in paths]
            self.set_importance([as_pattern(name) for name in named if is_utf8(name)], options.importance)
        adding = IngestRun(self._workspace, self._vault(), self._cold, options, ocr_reader or installed_ocr_reader)
        adding.report = report or adding.report
        adding.report.budget = settings.max_vision_tokens
        adding.run(paths, on_progress)
        if options.redact:
            self._purge_older(adding.sources, adding.report)
        self._report_removed(adding.report)
        self._delete_expired(settings, adding.report)
        images.sweep(self._workspace.knowledge, self._cold.read(rows.pictures), time.time() - _A_WHILE)
        self._report_view_changes(before, settings.max_vision_tokens, adding.report)
        return adding.report

    def notice_removed(self) -> list[KnowledgeRecord]:
        """Marks the memories whose files are missing, unmarks those that returned; returns the newly missing."""
        memories = self._current()
        removed, returned = removed_memories(memories), returned_memories(memories)
        if (removed or returned) and not self._cold.read_only:
            now = to_ms(self._cold.clock.now())

            def transaction(db: apsw.Connection) -> None:
                rows.set_missing(db, [known.seq for known in removed], now)
                rows.set_missing(db, [known.seq for known in returned], None)

            self._cold.write(transaction)
        return removed

    # ── listing ──

    def memories(self, max_vision_tokens: int) -> list[ScoredMemory]:
        """Every memory, by name."""
        return self._scorer.scored_memories(max_vision_tokens)

    def find(self, refs: Sequence[str]) -> list[KnowledgeRecord]:
        """The memories that ids, names, paths or patterns match, by name; an exact name precedes a pattern.
        Raises NotFound where one matches none."""
        memories = self._current()
        found: dict[int, KnowledgeRecord] = {}
        for ref in refs:
            matches = matching_memories(ref, memories)
            if not matches:
                raise NotFound("Not found", f"No added file is named “{ref}”.", _LIST)
            found.update({known.seq: known for known in matches})
        return sorted(found.values(), key=lambda known: (known.name, known.source))

    def text(self, known: KnowledgeRecord) -> EntryText:
        """The whole stored text of a file; approximate where an OCR engine read any of it."""
        parts = [self._cold.entry(seq) for seq in self._entries(known)]
        passages = [self._vault().entry_text(entry) for entry in parts]
        own = not any(place.read_by for place in self.places(known))
        sound = own and all(passage.trust is Trust.EXACT for passage in passages)
        return EntryText(
            text="".join(passage.text for passage in passages),
            trust=Trust.EXACT if sound else Trust.APPROXIMATE,
            pages=tuple(page for passage in passages for page in passage.pages),
        )

    def places(self, known: KnowledgeRecord) -> list[DocumentLocation]:
        """The locations of its text in the file: pages, headings, lines."""
        return self._cold.read(lambda db: rows.places_of(db, known.seq))

    def views(self, known: KnowledgeRecord) -> list[DocumentView]:
        """Its pages and pictures for a vision model."""
        return self._cold.read(lambda db: rows.views_of(db, known.seq))

    def pictures(self, known: KnowledgeRecord) -> list[Path]:
        """Its stored pictures, byte for byte."""
        return [self._workspace.knowledge / view.picture for view in self.views(known) if view.picture]

    def versions(self, known: KnowledgeRecord) -> list[KnowledgeRecord]:
        """All stored versions of the file, the newest first."""
        return self._cold.read(lambda db: rows.versions(db, known.source))

    def stats(self, max_vision_tokens: int) -> KnowledgeStats:
        """Figures of all memories, and of those in view."""
        older = self._cold.read(lambda db: sum(known.replaced is not None for known in rows.past_keeping(db)))
        memories = self.memories(max_vision_tokens)
        at_once = self._scorer.tokens_in_view(memories, max_vision_tokens)
        return compute_stats(memories, older, max_vision_tokens, at_once)

    # ── changes by the user ──

    def set_importance(self, patterns: Sequence[str], importance: float) -> list[KnowledgeRecord]:
        """Sets the importance of files that match the patterns, now and when added later; returns the current matches.

        Raises Misuse for an importance that is not between 0 and 10.
        """
        if not 0 <= importance <= MOST_IMPORTANT:
            raise Misuse("Out of range", f"An importance is between 0 and 10, not {importance:g}.", "5 is the default.")
        now = to_ms(self._cold.clock.now())

        def transaction(db: apsw.Connection) -> list[KnowledgeRecord]:
            memories, changed = rows.current(db), dict[int, KnowledgeRecord]()
            for place, pattern in enumerate(patterns):
                to_the_letter = any(has_exact_name(pattern, known) for known in memories)
                kept = as_pattern(pattern) if to_the_letter else pattern
                rows.keep_pattern(db, clear(kept), importance, now + place)
                changed.update({known.seq: known for known in matching_memories(pattern, memories)})
            stored_patterns = rows.patterns(db)
            rows.set_importance(
                db, {seq: importance_of(known, stored_patterns, DEFAULT_IMPORTANCE) for seq, known in changed.items()}
            )
            return [known for known in memories if known.seq in changed]

        return self._cold.write(transaction)

    def patterns(self) -> list[tuple[str, float]]:
        """Importances by pattern, in the order in which they were set."""
        return self._cold.read(rows.patterns)

    def set_category(self, refs: Sequence[str], category: str) -> list[KnowledgeRecord]:
        """Sets the category of the memories. Raises NotFound."""
        found = self.find(refs)
        self._cold.write(lambda db: rows.set_category(db, [known.seq for known in found], clear(category)))
        return found

    def remove(self, memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
        """Deletes memories for good, with every older version, their pages and pictures. The files stay on disk."""
        removed = list(memories)
        for known in removed:
            for version in self.versions(known):
                self._delete(version)
        return removed

    def delete_conversation(self, seq: int) -> "DeletionResult":
        """Deletes any conversation; of one with a file's pages also its record and pictures.

        Raises the errors of the vault.
        """
        alone = self._cold.read(lambda db: rows.pictures_of_conversation(db, seq))
        done = self._vault().delete_conversation(seq)  # its rows of knowledge go with it
        for picture in alone:
            remove(child(self._workspace.knowledge, picture), missing_ok=True)
        return done

    # ── retrieval ──

    def get_context_for_query(
        self,
        query: str,
        budget: int,
        *,
        max_vision_tokens: int = 400,
        cost: PageCost | None = None,
        count: Callable[[str], int] = estimate,
        most: int = 8,
    ) -> KnowledgeContext:
        """Passages for a question, in at most `budget` tokens; counts one use of each memory that is returned.

        With `cost` (tokens of a picture, by its pixels) a vision model gets pages, in at most `max_vision_tokens`, and
        passages where a page does not fit or costs more than its text. Without it: passages.
        """
        states = self._scorer.view_states(max_vision_tokens)
        hits, place = search_subject(self._search, query, self._by_view(states))
        known = self._cold.read(lambda db: rows.by_conversation(db, [hit.conversation for hit in hits]))
        found, out_of_view = candidates(hits, known, states, self._cold.clock.now()), place > 0
        viewer = HitImageFinder(self._cold, self._vault(), self._workspace.knowledge).viewer(cost) if cost else None
        passages = select_passages(found, RetrievalLimits(budget, max_vision_tokens, most), count, viewer)
        self._used(passages)
        return KnowledgeContext(
            query=query, budget=budget, passages=passages, out_of_view=bool(passages) and out_of_view
        )

    def used(self, conversations: Sequence[str]) -> None:
        """Counts one use of the memories whose pages these conversations (ids) hold: recalled, shown or cited."""
        known = self._cold.read(lambda db: rows.by_conversation(db, conversations)) if conversations else {}
        if known and not self._cold.read_only:
            now = to_ms(self._cold.clock.now())
            self._cold.write(lambda db: rows.count_use(db, sorted({record.seq for record in known.values()}), now))

    # ── internals ──

    def _current(self) -> list[KnowledgeRecord]:
        return self._cold.read(rows.current)

    def _by_view(self, states: dict[int, ViewState]) -> tuple[frozenset[int], frozenset[int]]:
        """The conversations of memories in view (merged twins included), and of those out of view."""
        out = {seq for seq, state in states.items() if state.state == "out of view"}
        memories = self._current()
        return (
            frozenset(known.conversation for known in memories if known.seq not in out),
            frozenset(known.conversation for known in memories if known.seq in out),
        )

    def _entries(self, known: KnowledgeRecord) -> list[int]:
        sql = "SELECT seq FROM entries WHERE conversation = ? ORDER BY seq"
        return [row[0] for row in self._cold.read(lambda db: fetch(db, sql, (known.conversation,)))]

    def _used(self, passages: Sequence[SelectedPassage]) -> None:
        self.used(list(dict.fromkeys(passage.citation.conversation for passage in passages)))

    def _report_removed(self, report: AddReport) -> None:
        reported = {memory.source for memory in report.removed}
        newly = [
            FileMessage(memory.name, memory.source, id=memory.id)
            for memory in self.notice_removed()
            if memory.source not in reported
        ]
        report.removed.extend(newly)

    def _purge_older(self, sources: Iterable[str], report: AddReport) -> None:
        """Deletes older versions of these files that may hold text redacted from the newest."""
        for source in sources:
            newest, *older = self._cold.read(lambda db, source=source: rows.versions(db, source))
            for known in older:
                if known.seq != newest.seq and self._may_hold_secrets(known):
                    self._delete(known)
                    report.purged.append(FileMessage(known.name, known.source, id=known.id))

    def _may_hold_secrets(self, known: KnowledgeRecord) -> bool:
        """Whether its text holds any, or its kind is one whose markup an older reader dropped."""
        text = self.text(known).text
        return known.kind not in _TO_THE_BYTE or clear(text, TextSource.OTHER) != text

    def _delete_expired(self, settings: KnowledgeSettings, report: AddReport) -> None:
        if not settings.retention_days:
            return
        out = [
            seq
            for seq, state in self._scorer.view_states(settings.max_vision_tokens).items()
            if state.state == "out of view"
        ]
        past = self._cold.read(rows.past_keeping)
        now = self._cold.clock.now()
        for known in expired_memories(self._current(), past, out, now, settings.retention_days):
            self._delete(known)
            report.deleted.append(
                FileMessage(known.name, known.source, _expiry_reason(known, settings.retention_days), id=known.id)
            )

    def _report_view_changes(self, before: dict[int, ViewState], budget: int, report: AddReport) -> None:
        names = {known.seq: known for known in self._current()}
        for seq, now in self._scorer.view_states(budget).items():
            was = before.get(seq)
            if (now.state, now.mode) != (
                "in view" if was is None else was.state,
                now.mode if was is None else was.mode,
            ):
                known, how = names[seq], _view_change(was, now)
                report.forgotten.append(FileMessage(known.name, known.source, how, id=known.id))

    def _delete(self, known: KnowledgeRecord) -> None:
        self.delete_conversation(known.conversation)


def _view_change(was: ViewState | None, now: ViewState) -> str:
    """out of view | merged | in view | smaller: small"""
    if now.in_view and was is not None and was.in_view and now.tokens < was.tokens:
        return f"smaller: {now.mode}"
    return now.state


def _expiry_reason(known: KnowledgeRecord, days: int) -> str:
    state = "replaced" if known.replaced else "gone from disk" if known.missing else "out of view"
    return f"{state} for more than {days:,} {'day' if days == 1 else 'days'} (knowledge.retention_days)"


_TO_THE_BYTE = frozenset({"text", "code", "markdown"})
"""Kinds whose text is the file itself."""
_LIST = f"`{PROGRAM} knowledge list` shows what was added."
_A_WHILE = 3_600  # seconds: no file takes so long to add
