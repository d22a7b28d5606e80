"""The memory of a workspace: hot Markdown, the cold store, the archive, and the search, opened together."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Self

import apsw

from foundation.clock import Clock, SystemClock, to_ms
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.sizes import MEGABYTE
from foundation.text.analysis import Analyser
from foundation.workspace_trust import TrustStore, trust_store
from memory.access import WorkspaceAccess
from memory.archive.packs.addresses import remote_storage
from memory.archive.packs.pack_cache import CachedStorage, PackDigest
from memory.archive.packs.storage import LocalStorage, Storage
from memory.archive.rows import pages
from memory.archive.rows.facts import seal_older
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.answers import put_usage
from memory.cold.costs import spending
from memory.cold.mirrors.mirrors import Mirrors
from memory.cold.running_costs import RunningCosts
from memory.cold.statistics import tokens_by_day
from memory.context_store import ContextStore
from memory.conversations import Conversations
from memory.errors import ForgedName, MemoryFailure
from memory.forgotten.guard import ForgottenWords
from memory.forgotten.journal import ForgetJournal
from memory.hot import HotMemory
from memory.hot.restore import FileRestorer
from memory.knowledge.knowledge import Knowledge
from memory.lost_database import database_lost
from memory.model_requests import ModelRequests
from memory.observations.store import Observations
from memory.pages.types import ArchiveResult, EntryText
from memory.passage_cache import PassageCache
from memory.recalled_passage import RecalledPassage
from memory.records import DayTokens, Entry, EntryCost, EntryDraft, SpendingRow, SpendingSum, Statistics
from memory.references import References, nothing_named
from memory.search import Search
from memory.search.reindex import Reindexer
from memory.settings import ArchiveSettings
from memory.versions.file_history import FileHistory

if TYPE_CHECKING:
    from memory.pages.types import OnPage
    from memory.search.embedding import EmbedderSet


class Memory:
    """One workspace's memory. Methods are safe to call from any thread; `close` when done."""

    def __init__(
        self,
        workspace: Workspace,
        cold: ColdStore,
        clock: Clock,
        settings: ArchiveSettings | None = None,
        embedding: "EmbedderSet | None" = None,
        *,
        access: "WorkspaceAccess | None" = None,
    ) -> None:
        self.workspace = workspace
        self.access = access
        self.cold = cold
        self.settings = settings or ArchiveSettings()
        self._clock = clock
        self._embedding = embedding
        self._running_costs = RunningCosts()
        self.scope: Callable[[], str | None] = lambda: None  # of searches that name none (memory/scope.py)

    @classmethod
    def open(
        cls,
        workspace: Workspace,
        clock: Clock | None = None,
        settings: ArchiveSettings | None = None,
        embedding: "EmbedderSet | None" = None,
        *,
        read_only: bool | None = None,
        trust: TrustStore | None = None,
        reads_when_full: bool = False,
    ) -> Self:
        """Opens the store, or makes it. Raises MemoryFailure where it cannot be opened or is newer than this program.

        A workspace that brings state and is not in `trust` (the user's own store where None is given) is opened to be
        read alone, as is any with `read_only`: nothing is written below it, and what would raises ReadOnly.

        With `reads_when_full` so is one whose disk has no space, for a caller that only reads: what would write raises
        StoreFull.

        `settings` configure pages and their storage, `embedding` the embedders; no request is made before it is needed.
        """
        clock = clock or SystemClock()
        access = WorkspaceAccess.of(workspace, trust or trust_store(os.environ), read_only=read_only)
        try:
            cold = access.open_store(Analyser(workspace.entities_yaml), clock, reads_when_full=reads_when_full)
        except BaseException:
            access.close()
            raise
        return cls(access.workspace, cold, clock, settings, embedding, access=access)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.cold)

    @cached_property
    def context_store(self) -> ContextStore:
        return ContextStore(self.cold)

    @cached_property
    def versions(self) -> FileHistory:
        """What the notes, the system prompt, the project's files and the skills were, by whom and why."""
        return FileHistory(self.workspace, self._clock, self.forgotten_words.holds)

    @cached_property
    def forgotten_words(self) -> ForgottenWords:
        """What was forgotten while this process is open: it writes none of it back."""
        return ForgottenWords(self.workspace.forgotten, self.workspace.secret)

    def forgotten_from_now(self) -> ForgottenWords:
        """What will be forgotten from now on: a request that is made now still holds it."""
        return ForgottenWords(self.workspace.forgotten, self.workspace.secret, to_ms(self._clock.now()))

    def forgettings(self) -> frozenset[str] | None:
        """What was forgotten so far, as the ids of the jobs; None while one runs, in any process. Blocks."""
        journal = ForgetJournal(self.workspace.forgotten)
        return None if journal.is_running else frozenset(journal.ids())

    @cached_property
    def restorer(self) -> FileRestorer:
        return FileRestorer(self.workspace, self.versions, self._clock)

    @cached_property
    def hot(self) -> HotMemory:
        return HotMemory(self.workspace, self._clock, self.versions)

    @cached_property
    def vault(self) -> Vault:
        space = self.workspace
        vault = Vault(
            open_storage(self.settings, space, self.cold),
            space.page_cache,
            self.cold,
            self._clock,
            settings=self.settings,
            kept=space.kept_texts,
        )
        seal_older(self.cold, vault.storage)
        return vault

    @cached_property
    def search(self) -> Search:
        space = self.workspace
        return Search(
            self.cold,
            self.hot,
            self.passages,
            self.references,
            space.postings,
            self._clock,
            vectors_folder=space.vectors,
            embedding=self._embedding,
            scope=lambda: self.scope(),  # noqa: PLW0108 -- set when a conversation is opened
        )

    @cached_property
    def renewing(self) -> Reindexer:
        """Updates terms of an older analyser version."""
        return Reindexer(self.cold, self.passage)

    @cached_property
    def model_requests(self) -> ModelRequests:
        """The ledger of requests to models that write no entry."""
        return ModelRequests(self.cold, self.cold.clock)

    @cached_property
    def observations(self) -> Observations:
        return Observations(self.cold, lambda entry: self.passage(entry).text)

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(
            self.workspace,
            self.cold,
            lambda: self.vault,
            lambda query: self.search.query(query),  # noqa: PLW0108 -- search opens at the first query
        )

    @property
    def read_only(self) -> bool:
        """Whether what writes raises ReadOnly: the workspace is not trusted, or its disk refuses."""
        return self.cold.read_only

    def has_skill(self, name: str) -> bool:
        """Whether a skill's file (relative name) is as its owner trusted it."""
        return self.access is None or self.access.has_skill(name)

    @cached_property
    def mirrors(self) -> Mirrors:
        return Mirrors(self.workspace, self.cold, lambda entry: self.passage(entry).text)

    def database_lost(self) -> str:
        """A warning where there are packs or mirrors, and the database has rows of none of them; "" otherwise."""
        return database_lost(self.workspace, self.cold, self.vault)

    @cached_property
    def passages(self) -> PassageCache:
        """The cache of passages, shared by search, recall and the screen."""
        return PassageCache(self.cold, lambda entry: self.vault.entry_text(entry))  # noqa: PLW0108 -- opened late

    def passage(self, entry: Entry) -> EntryText:
        """The entry's whole text, from the store or read back from its pages.

        Raises NotFound where the entry was deleted meanwhile, and Damaged.
        """
        return self.passages.passage(entry)

    @cached_property
    def references(self) -> References:
        """The resolver of ids, places, labels and citations."""
        return References(self.cold, self.hot, lambda: self.vault, self.passages)

    def recall(self, ref: str) -> tuple[RecalledPassage, ...]:
        """The whole passages behind a reference: several where an imported id occurs in several conversations.

        Raises NotFound for what names nothing, and for plain words; Damaged.
        """
        if found := self.references.recall(ref):
            return found
        raise nothing_named(ref)

    def statistics(self) -> Statistics:
        """Counts of the whole store."""
        return self.cold.statistics()

    def tokens_by_day(self) -> list[DayTokens]:
        """The days that have entries of conversations with their tokens, oldest first."""
        return self.cold.read(tokens_by_day)

    def spending(self, since: datetime | None = None) -> list[SpendingRow]:
        """The usage of each request to a model, oldest first; from `since` on, if it is given."""
        return self.cold.read(lambda db: spending(db, since))

    def spent_since(self, since: datetime) -> list[SpendingSum]:
        """What requests since then cost together, by model and currency: quick where it is read again and again."""
        return self.cold.read(lambda db: self._running_costs.read(db, since))

    def analysis_problem(self) -> str:
        """Why the workspace's own entity rules cannot be used, in a sentence; "" where they can, or there are none."""
        return self.cold.analyse.problem

    def archive_and_append(
        self,
        entries: Sequence[Entry],
        draft: EntryDraft,
        *,
        label: str,
        on_page: "OnPage | None" = None,
        cost: EntryCost | None = None,
    ) -> tuple[Entry, ArchiveResult | None]:
        """Archives the entries (of one conversation) and appends the draft, in one transaction.

        Gives the new entry, and what was archived: None where no entries are given. Raises OutOfDate where an entry
        changed meanwhile; then nothing is stored. `cost`: what a model took to write the draft.
        """
        appended: list[Entry] = []

        def append(db: apsw.Connection) -> None:
            appended.append(entry := self.cold.insert(db, draft))
            if cost is not None:
                put_usage(db, entry.seq, cost.usage, cost.model, cost.ms)

        if not entries:
            self.cold.write(append)
            return appended[-1], None
        archived = self.vault.archive_entries(entries, label=label, also=append, on_page=on_page)
        return appended[-1], archived

    def recover(self) -> None:
        """Completes what a crash interrupted: answers become entries, and deletions continue.

        Raises ForgedName where a row has a file name that this program never gives; nothing is done for that row.
        """
        self.cold.recover()
        if not self.cold.read_only:
            try:
                self.vault.finish_deletions()
            except ForgedName:
                raise
            except MemoryFailure:  # the next opening tries again, and `check` reports it
                return
            with suppress(MemoryFailure, OSError):  # the same: the store records which mirrors are outdated
                self.mirrors.renew()

    def close(self) -> None:
        if "vault" in self.__dict__:
            self.vault.close()
        if "search" in self.__dict__:
            self.search.close()
        if self.access is not None:
            self.access.note_first_entry(self.cold)
        self.cold.close()
        if self.access is not None:
            self.access.close()


def open_storage(settings: ArchiveSettings, workspace: Workspace, cold: ColdStore) -> Storage:
    """The configured storage; makes no request yet.

    Raises Misuse for an invalid address, MissingLibrary where its client library is not installed.
    """
    local, address = LocalStorage(workspace.packs), settings.storage.strip()
    if not address:
        return local

    def digest_of(name: str) -> PackDigest | None:
        row = cold.read(lambda db: pages.pack_row(db, name))
        return PackDigest(row.sha256, row.size) if row else None

    return CachedStorage(
        _remote_storage(address), local, LocalStorage(workspace.pack_cache), digest_of, settings.cache * MEGABYTE
    )


def _remote_storage(address: str) -> Storage:
    if (storage := remote_storage(address)) is not None:
        return storage
    raise Misuse(
        "Archive storage",
        f"archive.storage is “{address}”.",
        "Use s3://bucket/prefix or ssh://host/folder, or leave it empty for the workspace's folder.",
    )
