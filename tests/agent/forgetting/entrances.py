"""A workspace with a canary behind every entrance; each holds MARK, and nothing else does."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import msgspec

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from agent.services.drafts import Drafts
from agent.services.forget import finish_pending, forgetting, plan
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from foundation.trust import Citation, Trust
from memory.cold.sql import run
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from models.cleared_parts import cleared_parts
from models.messages import RecalledSpan, Role
from tui.widgets.prompt.history import PromptHistory

MARK = "zqcanary"
WHOLE = "zqwhole"
"""In a file that goes as a whole, on a line without MARK."""
STAYS = "The boiler was serviced in May by the same firm as last year."
PADDING = " and the harbour was quiet all the week long" * 40  # so that a text is packed


class Filler:
    """Puts canaries into one workspace, and counts them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.count = 0
        conversation = memory.conversations.new(clear("A talk about houses"))
        self.talk, self.where = conversation.seq, conversation.id

    def canary(self) -> str:
        self.count += 1
        return f"{MARK}{self.count:04d}x{self.count * 7919 % 10_000:04d}"

    def say(self, text: str, **more: object) -> Entry:
        fields = {"kind": EntryKind.MESSAGE, "role": Role.USER, "conversation": self.talk, **more}
        parent = self.memory.conversations.at(int(str(fields["conversation"]))).leaf
        draft = msgspec.convert({}, dict) | {"parent": parent, "text": clear(text), **fields}
        return self.memory.conversations.append(EntryDraft(**draft))

    # ── entrances ──

    def message(self) -> None:
        self.say(f"My door has the code {self.canary()}.")
        self.say(f"A long one: {self.canary()} {PADDING}")
        self.say(STAYS)

    def tool_result(self) -> None:
        calls = [{"id": "1", "name": "read_file", "arguments": json.dumps({"path": f"{self.canary()}.txt"})}]
        meta = {"tool_calls": calls, "reasoning": f"I look into {self.canary()}", "reason": "tool_calls"}
        self.say("", role=Role.ASSISTANT, meta=cleared_fields(meta))
        meta = {"call_id": "1", "shown": f"… {self.canary()} …"}
        self.say(f"Line 1: {self.canary()}", kind=EntryKind.TOOL_RESULT, role=Role.TOOL, meta=cleared_fields(meta))

    def notes(self) -> None:
        self.memory.hot.remember(clear(f"The code is {self.canary()}."))
        self.memory.hot.remember(clear(f"Another is {self.canary()}."), file="memory/house.md")
        self.memory.hot.remember(clear(STAYS))

    def imported(self) -> None:
        lines = [
            {"id": f"i{n}", "conversation": "far", "role": "user", "text": text}
            for n, text in enumerate((f"Imported {self.canary()}.", STAYS))
        ]
        lines += [{"id": self.canary(), "conversation": "far", "role": "user", "text": "Its id has it."}]
        raw = [json.dumps(line).encode() + b"\n" for line in lines]
        store_all(self.memory.conversations, read_jsonl(raw, "far"), source="elsewhere", fixed_source=False)

    def knowledge(self) -> None:
        folder = self.memory.workspace.root.parent / "added"
        folder.mkdir(exist_ok=True)
        (folder / f"file{self.count}.txt").write_text(f"A file says {self.canary()}.\n{WHOLE}\n")
        self.memory.knowledge.add([folder])

    def prompts(self) -> None:
        history = PromptHistory(self.memory.workspace.prompt_history)
        for text in (f"typed {self.canary()}", "typed something else"):
            history.remember(text)
            history.write()

    def draft(self) -> None:
        Drafts(self.memory.workspace.drafts).save(self.where, f"a draft of {self.canary()} is here")

    def archived(self) -> None:
        conversation = self.memory.conversations.new(clear("An archived talk")).seq
        entries = [self.say(f"{text}{PADDING}", conversation=conversation) for text in (self.canary(), STAYS)]
        archived = self.memory.vault.archive_entries(entries, label=f"talk {self.canary()}")
        self.memory.vault.png(archived.pages[0].id)
        self.memory.vault.tag(self.memory.vault.archives()[0].seq, self.canary())
        kept = f"A text with {self.canary()}.\n"
        self.memory.vault.archive_text(clear(kept), label="kept text")
        self.memory.vault.keep_text("kept text", clear(kept))

    def derived(self) -> None:
        said = self.say(f"We chose {self.canary()} for the gate.")
        note = {"maker": "rules", "title": "The gate"}
        fields = {"kind": EntryKind.OBSERVATION, "role": Role.ASSISTANT, "parent": said.seq, "beside": True}
        self.say(f"The gate\n- We chose {self.canary()}.", meta=cleared_fields(note), **fields)
        lines = f"Earlier (2 entries).\n- {self.canary()} it is. [{said.id}]\n- {STAYS} [e_other]"
        covers = {"covers": [said.seq, said.seq], "first_kept": None, "prior": []}
        self.say(lines, kind=EntryKind.SUMMARY, meta=cleared_fields(covers))
        citation = Citation(kind="message", conversation=self.where, title="A talk", ref=said.id)
        self.say(
            "What was it?",
            sent=cleared_parts((RecalledSpan(text=f"We chose {self.canary()}", citation=citation, trust=Trust.EXACT),)),
        )

    def names(self) -> None:
        conversation = self.memory.conversations.new(clear(f"About {self.canary()}"), labels=[clear(self.canary())])
        self.say("A message of its own.", conversation=conversation.seq)

    def state(self) -> None:
        def put(db: apsw.Connection) -> None:
            for table, column in (("epochs", "number, started_ms, reason"), ("requests", "entry, sent_ms")):
                values = "1, 0, ''" if table == "epochs" else "1, 0"
                run(db, f"DELETE FROM {table} WHERE conversation = ?", (self.talk,))
                sql = f"INSERT INTO {table} (conversation, {column}, state) VALUES (?, {values}, ?)"
                run(db, sql, (self.talk, f'{{"pieces":"{self.canary()}"}}'.encode()))

        self.memory.cold.write(put)

    def checkpoint(self) -> None:
        folder = self.memory.workspace.root.parent / "project"
        folder.mkdir(exist_ok=True)
        checkpoints = Checkpoints(self.memory.workspace.checkpoints, SystemClock(), (folder,))
        checkpoints.begin_turn(self.where, "e_1")
        for name, body in (("a.txt", self.canary()), ("a.txt", f"{STAYS}\n" * 30), ("b.txt", STAYS)):
            place = folder / name
            before = place.read_bytes() if place.exists() else None
            change = FileChange(folder=folder, path=name, expected=before, new=body.encode())
            checkpoints.apply([change], "e_2", label="write_file")

    def copies(self) -> None:
        space = self.memory.workspace
        for path in (space.damaged / "20260101" / "old.txt", space.versions / "MEMORY.md" / "old.md", space.log):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"a line of {self.canary()}\na line of its own\n")
        for folder in (space.prompt_caches, space.pack_cache, space.drafts):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f".{self.count}.tmp").write_text(self.canary())

    def derived_files(self) -> None:
        for conversation in self.memory.conversations.recent():
            self.memory.mirrors.update(conversation.seq)
        self.memory.search.update()


ENTRANCES: tuple[Callable[[Filler], None], ...] = (
    Filler.message,
    Filler.tool_result,
    Filler.notes,
    Filler.imported,
    Filler.knowledge,
    Filler.prompts,
    Filler.draft,
    Filler.archived,
    Filler.derived,
    Filler.names,
    Filler.state,
    Filler.checkpoint,
    Filler.copies,
    Filler.derived_files,
)


def fill(space: Workspace, rounds: int) -> int:
    """Fills the workspace; gives the number of canaries."""
    memory = Memory.open(space, SystemClock())
    try:
        filler = Filler(memory)
        for _ in range(rounds):
            for entrance in ENTRANCES:
                entrance(filler)
        return filler.count
    finally:
        memory.close()


def forget_all(space: Workspace, without: str = "") -> tuple[str, ...]:
    """Forgets MARK, less the step of that name; gives where the program says that it still is."""
    memory = Memory.open(space, SystemClock())
    try:
        forgets = forgetting(memory)
        if without:
            del forgets.steps[without]
        job = forgets.run(forgets.begin(plan(memory, named=MARK)))
        assert job.receipt is not None
        return job.receipt.found
    finally:
        memory.close()


def go_on(space: Workspace) -> None:
    """What the next start does."""
    memory = Memory.open(space, SystemClock())
    try:
        memory.recover()
        finish_pending(memory)
    finally:
        memory.close()


def page_texts(space: Workspace) -> Iterator[str]:
    """The texts of all pages that a pack or the cache of pictures still has."""
    memory = Memory.open(space, SystemClock())
    try:
        yield from (memory.vault.read_page(page.id).text for page in memory.vault.pages())
        yield from (f"{MARK} {path}" for path in _cached(space, {page.id for page in memory.vault.pages()}))
    finally:
        memory.close()


def _cached(space: Workspace, known: set[str]) -> list[Path]:
    return [path for path in space.page_cache.glob("*.png") if path.stem not in known]
