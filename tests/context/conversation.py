"""A conversation on a workspace's real memory, sent turn by turn as a session does."""

import re
from datetime import UTC, datetime

import msgspec

from context import AssembledRequest, Attachment, CompactionReceipt, Context, ContextSettings, Turn
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from models.chat.port import Profile
from models.messages import Message, Request, Role, Tool
from models.tokens import Estimate
from tests.fakes import FakeClock

_NONCE = re.compile(r"(</?palimpsest-[a-z]+)-[b-df-hj-np-tv-z]{8}(?=[\s>])")


class Talk:
    """One conversation, sent turn by turn in the order of a real turn: commit, assemble, record, answer."""

    def __init__(self, workspace: Workspace, clock: FakeClock, *, window: int = 8192, **settings: object) -> None:
        self.workspace = workspace
        self.clock = clock
        self.settings = ContextSettings(**settings)
        self.profile = Profile(spec="openai:test", name="test", window=window, tools=True)
        self.counter = Estimate()
        self.tools: tuple[Tool, ...] = ()
        self.memory = Memory.open(workspace, clock)
        self.context = Context(workspace, self.memory, self.settings, clock)
        self.conversation: Conversation | None = None
        self.assembled: AssembledRequest | None = None
        self.receipts: list[CompactionReceipt] = []

    def reopen(self) -> None:
        """As another process would: everything that was in memory is gone."""
        self.memory.close()
        self.memory = Memory.open(self.workspace, self.clock)
        self.context = Context(self.workspace, self.memory, self.settings, self.clock)

    def switch_recall_off(self) -> None:
        self.settings = msgspec.structs.replace(self.settings, recall=False)
        self.reopen()

    @property
    def leaf(self) -> int | None:
        if self.conversation is None:
            return None
        return self.memory.cold.conversation_at(self.conversation.seq).leaf

    def preview(self, text: str = "", **turn: object) -> AssembledRequest:
        self.context.reload()
        asked = Turn(conversation=self.conversation, leaf=self.leaf, text=text, **turn)
        return self.context.assemble(asked, self.profile, self.counter, tools=self.tools)

    def send(
        self, text: str, answer: str | None = "Fine.", *, skill: str = "", attachments: tuple[Attachment, ...] = ()
    ) -> AssembledRequest:
        """A turn; `answer` None leaves it without one."""
        self.context.reload()
        self.clock.advance(60)
        if self.conversation is None:
            self.conversation = self.memory.cold.new_conversation(clear("Talk"))
        entry = self.append(Role.USER, text)
        turn = Turn(
            conversation=self.conversation,
            leaf=entry.parent,
            entry=entry.seq,
            text=text,
            skill=skill,
            attachments=attachments,
        )
        assembled = self._assembled(turn, entry)
        self.context.record(self.conversation, entry, assembled)
        if answer is not None:
            self.append(Role.ASSISTANT, answer)
        return assembled

    def go_on(self, answer: str | None = None) -> AssembledRequest:
        """After tools: the next request of the same turn."""
        assert self.conversation is not None
        assembled = self._assembled(Turn(conversation=self.conversation, leaf=self.leaf, continuing=True), None)
        self.context.record(self.conversation, None, assembled)
        if answer is not None:
            self.append(Role.ASSISTANT, answer)
        return assembled

    def call_tool(self, call: str, output: str, shown: str | None = None) -> None:
        """The assistant asks for a tool, and gets its output."""
        calls = [{"id": call, "name": "search_memory", "arguments": '{"query": "x"}'}]
        self.append(Role.ASSISTANT, "", meta={"tool_calls": calls})
        meta = {"call_id": call, "name": "search_memory", "failed": False} | ({"shown": shown} if shown else {})
        self.append(Role.TOOL, output, kind=EntryKind.TOOL_RESULT, meta=meta)

    def append(
        self,
        role: Role,
        text: str,
        *,
        kind: EntryKind = EntryKind.MESSAGE,
        meta: dict[str, object] | None = None,
        speaker: str = "",
    ) -> Entry:
        assert self.conversation is not None
        return self.memory.cold.append(
            EntryDraft(
                conversation=self.conversation.seq,
                parent=self.leaf,
                kind=kind,
                role=role,
                text=clear(text),
                speaker=clear(speaker),
                meta=meta or {},
            )
        )

    def write(self, name: str, text: str) -> None:
        path = self.workspace.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def compact(self, focus: str = "") -> CompactionReceipt | None:
        """Archives older turns, as a person asks for it; None where nothing can leave."""
        assert self.conversation is not None
        plan = self.context.plan_compaction(self.conversation, self.leaf, self.profile, self.counter, focus=focus)
        return self.context.compact(plan, self.counter) if plan else None

    def _assembled(self, turn: Turn, entry: Entry | None) -> AssembledRequest:
        assert self.conversation is not None
        self.assembled = self.context.assemble(turn, self.profile, self.counter, tools=self.tools)
        if self.assembled.compaction:
            receipt = self.context.compact(self.assembled.compaction, self.counter)
            self.receipts.append(receipt)
            turn = Turn(
                conversation=self.conversation,
                leaf=receipt.summary_seq or turn.leaf,
                entry=turn.entry,
                text=turn.text,
                skill=turn.skill,
                attachments=turn.attachments,
                continuing=turn.continuing,
            )
            self.assembled = self.context.assemble(turn, self.profile, self.counter, tools=self.tools)
        return self.assembled

    def close(self) -> None:
        self.memory.close()


def texts(request: Request | AssembledRequest) -> list[str]:
    """The messages' words, our tags without their nonces."""
    asked = request.request if isinstance(request, AssembledRequest) else request
    return [without_nonces(message.text) for message in asked.messages]


def without_nonces(text: str) -> str:
    """The text with `<palimpsest-recalled>` for `<palimpsest-recalled-kqzxwvbn>`."""
    return _NONCE.sub(r"\1", text)


def begins_with(longer: Request, shorter: Request) -> bool:
    """The prefix law, to the letter."""
    messages: tuple[Message, ...] = shorter.messages
    return longer.messages[: len(messages)] == messages and longer.tools == shorter.tools


def remembered(talk: Talk, *lines: str, title: str = "Trip planning", day: int = 1) -> list[str]:
    """Another conversation that held these lines; gives the entries' ids."""
    conversation = talk.memory.cold.new_conversation(clear(title))
    parent: int | None = None
    ids: list[str] = []
    for n, line in enumerate(lines):
        entry = talk.memory.cold.append(
            EntryDraft(
                conversation=conversation.seq,
                parent=parent,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                speaker="Ann",
                text=clear(line),
                time=datetime(2026, 1, day, 10, n % 60, tzinfo=UTC),
            )
        )
        parent = entry.seq
        ids.append(entry.id)
    return ids
