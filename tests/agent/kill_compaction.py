"""Kills a session's work again and again: `kill_compaction.py FOLDER KILLS SEED [GUARD]`; prints what became of it.

Each life is a fork that says things, calls tools, observes, audits, compacts, undoes, labels, prunes and branches, and
writes a line before and after each step. Half are killed at a random moment, half at a call of the system. After each
kill another fork opens a copy of the store, compares it with the lines, and undoes the newest compaction.

GUARD is switched off, to show that the comparison can fail: `undo` appends its entry and sets its epoch in two
transactions, `observing` stores its notes and moves its cursor in two; a life ends between them.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy  # noqa: F401 -- loaded once, before the forks

from agent.background.observation_job import ObservationJob
from agent.services.conversation_tree import PRUNED, TURN_LABEL, set_pruned, set_turn_label
from agent.services.trust import trust_workspace
from context.compaction import undo
from context.compaction.audit import AuditFailed
from context.errors import UselessCompaction
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.archive.write import archiver  # noqa: F401 -- as numpy
from memory.cold.sql import fetch, run
from memory.errors import NotFound
from memory.memory import Memory
from memory.observations.rules import RulesMaker
from memory.observations.store import RULES_CURSOR, Observations
from memory.pages.font.glyphs import load_glyphs
from memory.records import UNDOES, Entry, EntryKind
from memory.search import query_executor  # noqa: F401 -- as numpy
from memory.settings import ArchiveSettings
from models.messages import Request, Role
from tests.context.conversation import Talk
from tests.fakes import FakeClock
from tests.faults import Fuse
from tests.memory.archive.kill_archiver import Told, forked

LIVES = 10  # of one workspace
STEPS = ("turn", "turn", "tool", "tool", "observe", "audit", "compact", "compact", "undo", "label", "prune", "branch")
LONGEST = 3.0  # seconds of a life that ends at a call


class KilledTalk(Talk):
    """A conversation that tells of each entry that is stored."""

    def __init__(self, root: Path, told: Told | None, life: int) -> None:
        clock = FakeClock()
        clock.advance(life * 3600)
        super().__init__(Workspace(root), clock, window=60_000, working_tokens=0, recall=False)
        self.told = told
        self.conversation = self.memory.conversations.latest()

    def append(
        self,
        role: Role,
        text: str,
        *,
        kind: EntryKind = EntryKind.MESSAGE,
        meta: dict[str, object] | None = None,
        speaker: str = "",
    ) -> Entry:
        entry = super().append(role, text, kind=kind, meta=meta, speaker=speaker)
        if self.told:
            self.told.tell("said", entry.id, digest(text))
        return entry

    def questions(self) -> list[Entry]:
        """The person's messages on the branch, newest first."""
        if self.leaf is None:
            return []
        path = self.memory.conversations.path(self.leaf)
        return [entry for entry in path if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def head_digest(request: Request, messages: int) -> str:
    """Digest of the tools and so many messages."""
    return hashlib.sha256(msgspec.json.encode((request.tools, request.messages[:messages]))).hexdigest()[:16]


# ── a life ──


def live(root: Path, told: Told, life: int, seed: int) -> None:
    """Works without end."""
    talk = KilledTalk(root, told, life)
    chance = random.Random(seed)
    for number in range(10_000):
        name = f"{life}x{number}"
        is_short = talk.conversation is None or len(talk.questions()) < 8
        step = "turn" if is_short else chance.choice(STEPS)
        told.tell("begin", step)
        take(talk, told, step, name, chance)
        told.tell("done", step)


def take(talk: KilledTalk, told: Told, step: str, name: str, chance: random.Random) -> None:
    match step:
        case "tool":
            call_tool(talk, name)
        case "observe":
            job = ObservationJob(talk.memory, RulesMaker, RULES_CURSOR)
            while job.step(lambda: False).more:
                pass
        case "audit":
            plan = planned(talk)
            with suppress(AuditFailed, UselessCompaction):
                if plan:
                    talk.context.outlook(plan, ArchiveSettings(), talk.counter, by_model=False)
        case "compact":
            say(talk, name)  # records the epoch, which the undo brings back
            compact(talk, told)
        case "undo" if talk.conversation:
            with suppress(Misuse):
                talk.context.undo_compaction(talk.conversation, talk.profile, talk.counter)
        case "label" | "prune" | "branch":
            edit_tree(talk, told, step, name, chance)
        case _:
            say(talk, name)


def say(talk: KilledTalk, name: str) -> None:
    text = f"{name}: we decided on port {8000 + len(name)} for src/room_{name}.py; don't forget the key of {name}."
    talk.send(text, f"Done {name}: src/room_{name}.py has it now. " + f"The valve of {name} drips by the stairs. " * 12)


def call_tool(talk: KilledTalk, name: str) -> None:
    talk.send(f"{name}: what fails?", None)
    calls = [{"id": name, "name": "run_command", "arguments": json.dumps({"command": f"pytest tests/{name}"})}]
    talk.append(Role.ASSISTANT, "", meta={"tool_calls": calls})
    output = f"FAILED tests/{name}.py::test_{name} - ValueError: {name}\n" + f"... line of {name}\n" * 40 + "[exit 1]"
    meta: dict[str, object] = {"call_id": name, "name": "run_command", "failed": True}
    talk.append(Role.TOOL, output, kind=EntryKind.TOOL_RESULT, meta=meta, speaker="run_command")
    talk.go_on(f"test_{name} fails with a ValueError.")


def planned(talk: KilledTalk) -> Any:
    assert talk.conversation is not None
    return talk.context.plan_compaction(talk.conversation, talk.leaf, talk.profile, talk.counter, focus="the valve")


def compact(talk: KilledTalk, told: Told) -> None:
    request = talk.preview("And now?").request
    count = request.zones[2]
    told.tell("compacting", str(count), head_digest(request, count), str(talk.leaf))
    try:
        receipt = talk.context.compact(plan, talk.counter) if (plan := planned(talk)) else None
    except UselessCompaction:
        receipt = None
    if receipt:
        told.tell("compacted", receipt.summary_entry, str(receipt.entries), receipt.archived, str(receipt.tokens_after))


def edit_tree(talk: KilledTalk, told: Told, step: str, name: str, chance: random.Random) -> None:
    assert talk.conversation is not None
    seq, turn = talk.conversation.seq, chance.choice(talk.questions())
    if step == "label":
        told.tell("labelling", turn.id, name)
        set_turn_label(talk.memory, seq, turn.id, name)
        told.tell("labelled", turn.id, name)
    elif step == "prune":
        told.tell("pruning", turn.id, "yes" if (pruned := chance.random() < 0.5) else "")
        set_pruned(talk.memory, seq, turn.id, pruned=pruned)
        told.tell("pruned", turn.id, "yes" if pruned else "")
    else:
        told.tell("branching", str(turn.parent))
        talk.memory.conversations.set_leaf(seq, turn.parent)
        told.tell("branched", str(turn.parent))


# ── after a kill ──


def wrong(root: Path, told: list[list[str]], life: int) -> Iterator[str]:
    """What is lost, doubled or false, of a copy of the store."""
    talk = KilledTalk(root, None, life + 1)
    memory = talk.memory
    yield from (f"{found.where}: {found.message}" for found in memory.cold.check())
    for what, *values in told:
        if what == "said":
            try:
                passage = memory.passage(memory.cold.find(values[0]))
            except NotFound:
                yield f"{values[0]}: lost"
                continue
            if (digest(passage.text), passage.trust.value) != (values[1], "exact"):
                yield f"{values[0]}: {passage.trust.value}, another text"
    yield from doubled(memory, told)
    if talk.conversation is None:
        return
    yield from false_receipts(talk, told)
    yield from torn_labels(talk, told)
    yield from inexact_undo(talk, told)
    memory.close()


def doubled(memory: Memory, told: list[list[str]]) -> Iterator[str]:
    """Entries that are there twice, and notes."""
    rows = memory.cold.read(lambda db: fetch(db, "SELECT seq FROM entries WHERE kind = 'message' AND chars > 0"))
    texts = Counter(memory.passage(memory.cold.entry(seq)).text for (seq,) in rows)
    yield from (f"{text[:40]}: {number} times" for text, number in texts.items() if number > 1)
    per_entry = "SELECT parent, count(*) FROM entries WHERE kind = 'observation' GROUP BY parent HAVING count(*) > 1"
    yield from (f"entry {seq}: {n} observations" for seq, n in memory.cold.read(lambda db: fetch(db, per_entry)))
    said = sum(what == "said" for what, *_ in told)
    lives = sum(what == "life" for what, *_ in told)
    stored = memory.cold.read(
        lambda db: fetch(db, "SELECT count(*) FROM entries WHERE kind IN ('message', 'tool_result')")
    )[0][0]
    if not said <= stored <= said + lives:
        yield f"{stored} entries are stored, {said} were said in {lives} lives"
    last = memory.cold.read(lambda db: fetch(db, "SELECT ifnull(max(entry), 0) FROM observed"))[0][0]
    newest = memory.cold.read(
        lambda db: fetch(db, "SELECT ifnull(max(parent), 0) FROM entries WHERE kind = 'observation'")
    )[0][0]
    if newest > last:
        yield f"entry {newest} is observed, and the cursor is at {last}: it would be observed again"


def false_receipts(talk: KilledTalk, told: list[list[str]]) -> Iterator[str]:
    memory = talk.memory
    begun = sum(what == "compacting" for what, *_ in told)
    receipts = [values for what, *values in told if what == "compacted"]
    rows = memory.cold.read(lambda db: fetch(db, "SELECT seq FROM entries WHERE kind = 'summary' AND parent > 0"))
    summaries = [entry for (seq,) in rows if UNDOES not in (entry := memory.cold.entry(seq)).meta]
    if not len(receipts) <= len(summaries) <= begun:
        yield f"{len(summaries)} summaries, {len(receipts)} receipts"
    labels = {row.label: row for row in memory.vault.archives()}
    for id_, entries, label, _ in receipts:
        summary = memory.cold.find(id_)
        first, last = summary.meta["covers"]
        assert summary.parent is not None
        path = [seq for seq in memory.conversations.path_seqs(summary.parent) if first <= seq <= last]
        covered = [one for one in memory.cold.entries(path).values() if one.kind is not EntryKind.SUMMARY]
        if len(covered) != int(entries):
            yield f"{id_}: the receipt says {entries} entries, and {len(covered)} left"
        if label and (label not in labels or not memory.vault.pages(labels[label].seq)):  # "": archived before
            yield f"{id_}: no archive “{label}”"


def torn_labels(talk: KilledTalk, told: list[list[str]]) -> Iterator[str]:
    assert talk.conversation is not None
    labels = talk.memory.conversations.at(talk.conversation.seq).labels
    possible: dict[str, set[str]] = {}
    for what, *values in told:
        prefix = {"labelling": TURN_LABEL, "labelled": TURN_LABEL, "pruning": PRUNED, "pruned": PRUNED}.get(what)
        if prefix is None:
            continue
        key = f"{prefix}{values[0]}="
        value = values[1] if prefix == TURN_LABEL else ("" if values[1] else "none")
        possible[key] = possible.get(key, {"none"}) | {value} if what.endswith("ing") else {value}
    for key, values in possible.items():
        found = [label.removeprefix(key) for label in labels if label.startswith(key)] or ["none"]
        if len(found) > 1 or found[0] not in values:
            yield f"{key}: {found}, expected one of {values}"


def inexact_undo(talk: KilledTalk, told: list[list[str]]) -> Iterator[str]:
    """Undoes the newest compaction, where it is the one that was told last, and compares the request."""
    last = next((n for n in reversed(range(len(told))) if told[n][0] == "compacting"), None)
    since = [] if last is None else told[last:]
    is_certain = any(line[0] == "compacted" for line in since)  # else an undo may be of an older one
    is_other_view = any(line[0] == "branching" for line in since) or since.count(["begin", "undo"]) > is_certain
    if not since or is_other_view:  # another branch, or an older compaction undone
        return
    count, expected, leaf = since[0][1:]
    assert talk.conversation is not None
    assert talk.leaf is not None
    view = talk.context.state.history.view(talk.leaf, talk.profile.window)
    if any(summary.seq > int(leaf) for summary in view.summaries):
        talk.context.undo_compaction(talk.conversation, talk.profile, talk.counter)
    if head_digest(talk.preview("And now?").request, int(count)) != expected:
        yield "undone, and the request is not the one from before"


# ── guards that can be switched off ──


def switch_off(guard: str) -> None:
    if guard == "undo":

        def in_two_steps(components: Any, planned_undo: undo.PlannedUndo, number: int) -> Entry:
            entry = components.store.append(planned_undo.draft, None)
            os.kill(os.getpid(), signal.SIGKILL)
            if state := planned_undo.state:
                epoch = undo.NewEpoch(number, clear(state.reason), undo.encode_epoch(state))
                components.store.set_epoch(entry.conversation_seq, epoch)
            return entry

        import context.context as face

        face.carry_out_undo = in_two_steps
    elif guard == "observing":
        real = Observations.store

        def store_twice(self: Observations, batch: Any, made: Any, maker: str, cursor: str) -> Any:
            stored = real(self, batch, made, maker, cursor)
            before = "INSERT OR REPLACE INTO observed (maker, entry) VALUES (?, ?)"
            self._cold.write(lambda db: run(db, before, (cursor, batch.start)))  # pyright: ignore[reportPrivateUsage] -- as in store
            os.kill(os.getpid(), signal.SIGKILL)
            self._cold.write(lambda db: run(db, before, (cursor, batch.end)))  # pyright: ignore[reportPrivateUsage] -- as in store
            return stored

        Observations.store = store_twice


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    guard = sys.argv[4] if len(sys.argv) > 4 else ""
    os.environ["PALIMPSEST_CONFIG_DIR"] = str(folder / "config")
    load_glyphs()
    chance, landed, interrupted = random.Random(seed), Counter[str](), Counter[str]()
    done = Counter[str]()
    for n in range(kills):
        home = folder / f"group{n // LIVES}"
        root, log = home / "workspace", home / "told"
        root.mkdir(parents=True, exist_ok=True)
        at_call = n % 2 == 1
        at, delay = chance.randrange(40, 900), chance.uniform(0.2, 1.2)

        def work(n: int = n, root: Path = root, log: Path = log, at: int = at, at_call: bool = at_call) -> None:
            switch_off(guard)
            told = Told(log)
            told.tell("life", str(n))
            if at_call and not guard:
                Fuse(at, after=n % 4 == 1).lay()
            live(root, told, n % LIVES, seed * 10_000 + n)

        child = forked(work)
        status = ended(child, LONGEST if at_call or guard else delay)
        landed["call" if at_call else "moment"] += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        told = [json.loads(line) for line in log.read_text().splitlines()]
        interrupted[last_step(told)] += 1
        look(home, told, n % LIVES)
        if n % LIVES == LIVES - 1 or n == kills - 1:
            done.update(values[0] for what, *values in told if what == "done")
            shutil.rmtree(home)
    print(json.dumps({"landed": landed, "interrupted": interrupted, "done": done}))


def ended(child: int, seconds: float) -> int:
    """The child's status; it is killed after so many seconds (a call that two threads make at once may be missed)."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def last_step(told: list[list[str]]) -> str:
    steps = [(what, *values) for what, *values in told if what in ("life", "begin", "done")]
    return steps[-1][1] if steps[-1][0] == "begin" else "between"


def look(home: Path, told: list[list[str]], life: int) -> None:
    """Compares in a process of its own; ends all where something is wrong."""

    def work() -> None:
        copy = home / "copy"
        shutil.copytree(home / "workspace", copy)
        trust_workspace(Workspace(copy), os.environ)
        if found := list(wrong(copy, told, life)):
            raise AssertionError("\n".join(found[:20]))
        shutil.rmtree(copy)

    _, status = os.waitpid(forked(work), 0)
    if status:
        sys.exit(1)


if __name__ == "__main__":
    main()
