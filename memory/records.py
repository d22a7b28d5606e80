"""Records of the store: conversations, the entries of their trees, drafts, changes, problems and statistics.

Every package takes these types from here. Ids can be read aloud: `e_4kx7m2p0q9ab`.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from foundation.privacy import EMPTY, NO_FIELDS, Cleared, ClearedFields, as_made
from foundation.trust import Trust
from models.chat.text_tools.candidate import is_written_call
from models.cleared_parts import NO_PARTS, ClearedParts
from models.messages import MessagePart, Role, Usage


class EntryKind(StrEnum):
    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    OBSERVATION = "observation"  # a structured note made of a tool's output or a stretch of talk
    PAGE = "page"  # the text of one page of an archived file


RESTORED_FROM, MIRROR = "from", "mirror"
"""Meta of an entry that a repair brought back from a mirror: `{"from": "mirror"}`."""
VERSIONS = "versions"
"""Meta of a tool result: the numbers of the versions that the call made of the workspace's own files."""
TRUST = "trust"
"""Meta of an entry whose text was uncertain already when it was stored: `{"trust": "approximate"}`."""
UNTIMED = "untimed"
"""Meta of an imported entry whose file named no time: its own is that of the import."""
READ_BY = "read_by"
"""Meta of an entry from another device: the text recognition that read it there from a picture."""
MALFORMED = "malformed"
"""Meta of an answer that is a written call or an echo of the prompt, and of the result that corrects one: true. It is
never recalled, summarised or observed."""

_DAMAGED = {
    "text": "Its text is damaged: its SHA-256 differs.",
    "large meta": "Its tool calls and other fields are larger than 32 MB and were not read.",
    "large sent": "Its attached data is larger than 32 MB and was not read.",
    "row": "Its row is damaged: speaker, time or parent may be wrong.",
}
_COLUMN = "Its {} is damaged."


ONE_SHOT = "one-shot"
"""Label of a conversation that holds one question of `-p`. The next message in it takes the label away."""


class Conversation(Struct, frozen=True, kw_only=True):
    """A tree of entries. `leaf` is the seq of the entry that the current branch ends with."""

    id: str
    seq: int
    source: str = ""  # "" was held here; else what an import named
    title: str = ""
    created: datetime
    updated: datetime
    leaf: int | None = None
    kind: str = "chat"  # chat | archive | delegate
    labels: tuple[str, ...] = ()
    damaged: bool = False  # its row is not the one that was stored: the title, the id or the moment is another

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why a citation that names it is not exact, in sentences."""
        return ("Its conversation's row is damaged: the title may be wrong.",) if self.damaged else ()


class AnswerOwner(StrEnum):
    """Who is writing an answer: nobody, this store, or that of another running process.

    A store that is only read may not know: OTHER_AT_OPENING where another process wrote it when the store was opened,
    and what came of it is not seen here; UNKNOWN where no lock can be read.
    """

    NONE = "none"
    THIS = "this"
    OTHER = "other"
    OTHER_AT_OPENING = "other_at_opening"
    UNKNOWN = "unknown"


class Entry(Struct, frozen=True, kw_only=True):
    """One node of a conversation's tree, as it is stored."""

    seq: int
    id: str
    conversation: str
    conversation_seq: int
    parent: int | None  # seq
    kind: EntryKind
    role: Role
    speaker: str = ""
    time: datetime
    text: str | None  # None: its home is the archive now (Vault.entry_text)
    chars: int
    sent: tuple[MessagePart, ...] = ()  # the tail's injected parts as they were sent, before the text
    meta: dict[str, Any] = field(default_factory=dict)
    complete: bool = True
    damaged: tuple[
        str, ...
    ] = ()  # columns with values that this program never writes; the nearest valid value is shown

    @property
    def trust(self) -> Trust:
        """EXACT where the text and the row were compared with their hashes when they were read, and are the same."""
        return Trust.APPROXIMATE if self.doubts else Trust.EXACT

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the entry is not exact, in sentences; none where it is."""
        if not self.damaged and not self.meta:
            return ()
        said = [_DAMAGED.get(column, _COLUMN.format(column)) for column in self.damaged]
        if self.meta.get(RESTORED_FROM) == MIRROR:
            said.append("It was restored from a file that can be edited by hand, so its text cannot be verified.")
        elif self.meta.get(TRUST) == Trust.APPROXIMATE:
            said.append("It was already damaged when it was stored here, so its text cannot be verified.")
        elif self.meta.get(READ_BY):
            said.append("It was read from a picture by OCR, so its text cannot be verified.")
        return tuple(said)

    @property
    def is_evidence(self) -> bool:
        """Whether the entry says something; the text of a call, as earlier versions stored it, does not."""
        is_answer = self.kind is EntryKind.MESSAGE and self.role is Role.ASSISTANT
        return not (self.meta.get(MALFORMED) or (is_answer and is_written_call(self.text or "")))

    @property
    def said_at(self) -> datetime | None:
        """Its time; None for an imported entry whose file named none."""
        return None if UNTIMED in self.meta else self.time

    @property
    def device(self) -> str:
        """The other device that wrote it, as `laptop (d_…)`; "" for this one."""
        device = self.meta.get(DEVICE, "")
        return device if isinstance(device, str) else ""

    @property
    def said_by(self) -> str:
        """The speaker, or the role; "" for a file's page."""
        return "" if self.kind is EntryKind.PAGE else self.speaker or self.role.value


DEVICE = "device"
"""Meta of an entry that came from another device: the name and id of that device."""
FAILURE = "failure"
"""Meta of an answer that failed: title, message and hint of the error."""
STEERS = "steers"
"""Meta of a message: it was sent into the turn of the message before it."""

UNDOES = "undoes"
"""Meta of a summary without words of the past, which undoes a compaction: the seq of that compaction's summary. Its own
`first_kept`, `prior` and `pinned` are what was in view before."""


class ConversationFigures(Struct, frozen=True):
    """What a conversation holds on all branches. `tokens` are counted, or about."""

    turns: int
    tokens: int


class EntryNode(Struct, frozen=True):
    """An entry's place in the tree, without its text. `parent` is a seq; `tokens` are counted, or about."""

    seq: int
    id: str
    parent: int | None
    kind: str
    role: str
    time: datetime
    tokens: int


class EntryDraft(Struct, frozen=True, kw_only=True):
    """An entry on its way to disk. Every text in it is Cleared: the choke point of privacy is `foundation.privacy`.

    `id` is made where it is empty, `time` taken from the clock where it is None. Where `parent_id` is given, the parent
    is the entry of the same conversation with that id: of the batch being appended, or else of the store.
    `parent_id` names the parent by its id within the conversation, for entries that have no seq yet (an import): one
    that is appended before it in the same batch, or one that is in the store.
    A summary's meta: {"covers": [first seq, last seq], "first_kept": seq or None, "prior": [seqs]}, where prior are the
    earlier summaries that are still in view, and None means that nothing above the summary is kept beside it.
    `beside`: the entry stands on no branch, so the conversation goes on where it was. So does a summary that is kept
    for later (memory/turn_summaries.py), which replaces nothing in a request by itself.
    """

    conversation: int  # Conversation.seq
    parent: int | None
    kind: EntryKind
    role: Role
    text: Cleared
    id: Cleared = EMPTY
    parent_id: Cleared = EMPTY
    speaker: Cleared = EMPTY
    time: datetime | None = None
    sent: ClearedParts = NO_PARTS
    meta: ClearedFields = NO_FIELDS
    beside: bool = False


class EntryCost(Struct, frozen=True):
    """What a model took to write an entry: its tokens, its name, and milliseconds."""

    usage: Usage
    model: Cleared
    ms: int = 0


class AnalysedTerms(Protocol):
    """An entry's analysed words, as `foundation.text.analysis` gives them."""

    @property
    def packed(self) -> bytes: ...

    @property
    def length(self) -> int: ...

    @property
    def analyser(self) -> str:
        """Which version of the analyser found them."""
        ...


class EntryAnalyser(Protocol):
    """An entry's text, speaker and meta to its terms; passed in, so that the store need not know how words are found.

    Of meta only what an entry is marked with is looked at: `type`, `concepts` and `files`. `at` is when a message was
    sent, from which its relative dates count; None for other kinds, whose text may be of any time.
    """

    def __call__(
        self, text: str, speaker: str, meta: Mapping[str, Any] | None = None, at: datetime | None = None, /
    ) -> AnalysedTerms: ...


class WorkspaceAnalyser(EntryAnalyser, Protocol):
    """The analyser of one workspace, which knows the rules of its `entities.yaml`."""

    @property
    def version(self) -> str:
        """The version stored with the terms that it produces."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of entity that the workspace defines."""
        ...

    @property
    def problem(self) -> str:
        """Why the workspace's rules cannot be used, in a sentence; "" where they can, or there are none."""
        ...


class Branch(Struct, frozen=True):
    """A path to a leaf, read back to its compaction anchor: the summaries in view, then the entries, oldest first."""

    summaries: tuple[Entry, ...]
    entries: tuple[Entry, ...]


class ChangeRow(Struct, frozen=True):
    """A row of `changes`: op is add, change, archive or remove."""

    seq: int
    op: str
    entry: int


class Epoch(Struct, frozen=True):
    """A conversation's epoch; `state` is the context package's own."""

    number: int
    started: datetime
    reason: str
    state: bytes


class LastRequest(Struct, frozen=True):
    """A conversation's last request; `entry` is the seq of the entry that it answered, `state` context's own."""

    entry: int
    sent: datetime
    state: bytes


class IntegrityProblem(Struct, frozen=True):
    """A defect that a check found: `what` in a word, `where` its id, `message` a sentence.

    `pages` are the ids of the pages that cannot be read for it, where there are several.
    """

    what: str
    where: str
    message: str
    pages: tuple[str, ...] = ()


class SpendingSum(Struct, frozen=True, kw_only=True):
    """The usage of requests to one model. `cost` is as an entry keeps it (models.prices); None where it is unknown."""

    model: str
    requests: int = 1
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: Any = None


class SpendingRow(SpendingSum, frozen=True, kw_only=True):
    """The usage of one request to a model."""

    time: datetime
    conversation: str
    purpose: str
    title: str = ""  # of the conversation


class ModelUsage(Struct, frozen=True):
    """Total cost of one model's answers, in tokens and milliseconds."""

    model: str
    answers: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    ms: int


CHUNK_ENTRIES = 100
"""Entries of one conversation in a chunk, as `export --to chunks` writes it. Summaries are in no chunk."""


class DayTokens(Struct, frozen=True):
    """One day's entries of conversations, and the tokens of their text: counted where a request held them, else about.

    `messages` are those that `Statistics` counts. `prompt_tokens` and `completion_tokens` are what models read and
    wrote that day.
    """

    day: str  # 2026-03-14, of this machine's zone
    entries: int
    tokens: int
    prompt_tokens: int = 0
    completion_tokens: int = 0
    messages: int = 0


class Statistics(Struct, frozen=True, kw_only=True):
    """Counts of the whole store; `chars` are characters of text, in the store or on pages.

    `messages` are the entries of chats without summaries, `chunks` the files that they fill (CHUNK_ENTRIES), and
    `compressed_chunks` the summaries.
    """

    conversations: int
    messages: int
    chunks: int
    compressed_chunks: int
    entries: int
    chars: int
    archived_entries: int
    archived_chars: int
    pages: int
    packs: int
    pack_bytes: int
    cold_pages: int  # pages in packs at rest
    database_bytes: int
    models: tuple[ModelUsage, ...]


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in lower case
LENGTH = 12


def new_id(prefix: str) -> Cleared:
    """`prefix`, `_` and 12 characters of base 32: 60 random bits."""
    bits = secrets.randbits(5 * LENGTH)
    return as_made(f"{prefix}_" + "".join(ALPHABET[bits >> shift & 31] for shift in range(0, 5 * LENGTH, 5)))
