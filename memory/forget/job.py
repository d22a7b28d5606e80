"""Runs a forgetting: its steps in their order, each journalled; at the end every byte is looked through.

A job that is cut short goes on with the next start, at the step where it was. Where the words are found at the end, all
steps run again; where they still are, the job stays open and says where, until another start could not take them out
either: then it ends, and its receipt names the places.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from foundation.clock import Clock, to_ms
from foundation.errors import PalimpsestError
from foundation.files import LockTimeout
from foundation.program import PROGRAM
from memory.cold.sql import batches
from memory.errors import MemoryFailure, StoreBusy
from memory.forget.files import (
    forget_caches,
    forget_copies,
    forget_database,
    forget_logs,
    forget_mirrors,
    forget_search,
)
from memory.forget.later import limited
from memory.forget.notes import forget_note_names, forget_notes, forget_versions
from memory.forget.pages import forget_conversations, forget_pages
from memory.forget.plan import ForgetPlan
from memory.forget.rows import forget_rows, refuse_late_answers
from memory.forget.scan import ScanResult, scan_workspace
from memory.forget.tables import forget_names, stones_of_names
from memory.forget.work import DERIVED, ForgetWork, Step, StepCounts, behind_escapes
from memory.forgotten.journal import ForgetJob, ForgetJournal, Receipt
from memory.forgotten.tombstones import EntryTombstone, ForgottenName
from memory.memory import Memory
from memory.records import Entry

OnStep = Callable[[str], None]
OnStopped = Callable[[PalimpsestError | OSError], None]
ROUNDS: Final = 2  # of all steps, before the job waits for the next start
RUNS: Final = 2  # before a job ends with words that nothing takes out


def put_tombstones(work: ForgetWork) -> StepCounts:
    """Writes down what no import and no sync may bring back. First: what comes meanwhile is refused already."""
    memory, stones = work.memory, list[EntryTombstone]()
    tombstones = memory.conversations.tombstones
    known, with_text = tombstones.tokens(), tombstones.tokens_with_text()
    for seqs in batches(list(work.job.entries)):
        for entry in memory.conversations.entries(seqs).values():
            stones += _stone(work, entry.conversation_seq, entry.id, entry.seq, with_text)
            stones += _stones_beside(work, entry, known, is_forgotten=True)
    for conversation in work.job.conversations:
        for entry in memory.conversations.all_entries(conversation):
            stones += _stone(work, conversation, entry.id, entry.seq, with_text)
    for seqs in batches(list(work.job.beside)):
        for entry in memory.conversations.entries(seqs).values():
            stones += _stones_beside(work, entry, known)
    stones += stones_of_names(work)
    return StepCounts({"tombstones": tombstones.add(stones)})


STEPS: Final[Mapping[str, Step]] = {
    "tombstones": put_tombstones,
    "conversations": forget_conversations,
    "pages": forget_pages,
    "rows": forget_rows,
    "names": forget_names,
    "notes": forget_notes,
    "note names": forget_note_names,
    "versions": forget_versions,
    "mirrors": forget_mirrors,
    "search": forget_search,
    "caches": forget_caches,
    "copies": forget_copies,
    "logs": forget_logs,
}
"""The steps within memory, in their order; the agent adds its own, and `database` is last."""


class Forgetting:
    """Forgets in one workspace. `further` are the steps of packages above, by name."""

    def __init__(self, memory: Memory, clock: Clock, further: Mapping[str, Step] | None = None) -> None:
        self._memory = memory
        self._clock = clock
        self.steps: dict[str, Step] = {**STEPS, **(further or {}), "database": forget_database}
        self.journal = ForgetJournal(memory.workspace.forgotten)

    def begin(self, plan: ForgetPlan) -> ForgetJob:
        """Writes the job down: from now on it is finished, by this process or the next. Raises ReadOnly."""
        self._memory.cold.refuse_read_only()
        job = limited(self._memory, plan.job)
        self.journal.write(job)
        return job

    def run(self, job: ForgetJob, on_step: OnStep = lambda _: None) -> ForgetJob:
        """Runs the job; gives it with its receipt, whose `found` says where the words still are.

        Raises StoreBusy where another process forgets; what stops a step, with the job left open.
        """
        lock = self.journal.lock()
        try:
            lock.acquire()
        except LockTimeout as error:
            raise StoreBusy(
                "Another process is forgetting",
                "Another Palimpsest process is doing that.",
                "Wait until it finishes, then try again.",
            ) from error
        try:
            for round_ in range(ROUNDS):
                job = self._steps(replace(job, done=()) if round_ else job, on_step)
                refuse_late_answers(ForgetWork(self._memory, job))
                on_step("scan")
                job = self._with_receipt(job, is_last=round_ == ROUNDS - 1)
                self.journal.write(job)
                if job.receipt and not job.receipt.found:
                    break
            return job
        finally:
            lock.release()

    def finish_open(self, on_step: OnStep = lambda _: None, on_stopped: OnStopped = lambda _: None) -> list[ForgetJob]:
        """Goes on with the jobs that are not finished; those that cannot be finished now stay. Quick without any.

        `on_stopped` receives why one could not be finished.
        """
        finished: list[ForgetJob] = []
        for id_ in self.journal.open_ids() if not self._memory.read_only else ():
            try:
                finished.append(self.run(self.journal.read(id_), on_step))
            except (PalimpsestError, OSError) as error:  # the next start tries again
                on_stopped(error)
        return finished

    def _steps(self, job: ForgetJob, on_step: OnStep) -> ForgetJob:
        for name, step in self.steps.items():
            if name in job.done:
                continue
            on_step(name)
            result = step(ForgetWork(self._memory, job))
            job = job.with_step(name, result.counts, result.sentences)
            self.journal.write(job)
        return job

    def _with_receipt(self, job: ForgetJob, *, is_last: bool) -> ForgetJob:
        work = ForgetWork(self._memory, job)
        found = scan_workspace(work)
        runs = job.runs + (bool(found.found) and is_last)
        is_over = not found.found or runs >= RUNS
        receipt = Receipt(
            finished_ms=to_ms(self._clock.now()) if is_over else 0,
            counts=job.counts,
            places=found.places,
            bytes=found.bytes,
            found=tuple(dict.fromkeys(map(work.replaced, found.found))),
            left=tuple(dict.fromkeys(map(work.replaced, (*found.kept, *found.others)))),
            sentences=(*job.sentences, *_later_sentence(work, found), *_used_sentence(work, found)),
        )
        return replace(job, runs=runs, receipt=receipt)


def _later_sentence(work: ForgetWork, found: ScanResult) -> Sequence[str]:
    if not found.later:
        return ()
    names = ", ".join(map(work.replaced, found.later[:20]))
    return (f"Not deleted, because it was written after the start: {names}.",)


def _used_sentence(work: ForgetWork, found: ScanResult) -> Sequence[str]:
    if not found.used:
        return ()
    paths = ", ".join(map(work.replaced, found.used[:20]))
    ends = f"`{PROGRAM} sync remove` stops using a location; a backup to another location replaces a backup's"
    return (f"Also in the path of {paths}, which backups and sync still need. {ends}.",)


def _stones_beside(
    work: ForgetWork, entry: Entry, known: frozenset[str], *, is_forgotten: bool = False
) -> Sequence[EntryTombstone]:
    """Those of what stands beside an entry's text, and of its id; with these it is known under its other id, too."""
    whose = work.memory.conversations.at(entry.conversation_seq)
    name, tokens = ForgottenName(whose.source, whose.id, entry.id), list[str]()
    is_bare = name.beside in known
    if work.prints.holds(entry.id.encode()):
        tokens.append(name.given_up)
        is_forgotten = is_forgotten or name.token in known
        name = name.other
        tokens += [name.token] if is_forgotten else []
    holds = entry.kind.value.encode() not in DERIVED and work.prints.holds(
        behind_escapes(msgspec.json.encode(entry.meta))
    )
    tokens += [name.beside] if is_bare or (holds and not is_forgotten) else []
    return [EntryTombstone(token=token, forgotten_ms=work.job.begun_ms) for token in tokens if token not in known]


def _stone(
    work: ForgetWork, conversation: int, entry: str, seq: int, with_text: frozenset[str]
) -> Sequence[EntryTombstone]:
    """The tombstone of an entry, with its text: where another device forgot it, only its name is known so far."""
    memory, tombstones = work.memory, work.memory.conversations.tombstones
    whose = memory.conversations.at(conversation)
    token = ForgottenName(whose.source, whose.id, entry).token
    if token in with_text:
        return ()
    try:
        text = memory.passage(memory.cold.entry(seq)).text
    except MemoryFailure:
        text = ""
    hashed = tombstones.hash_of(text)
    if not hashed and token in tombstones.tokens():
        return ()
    return (EntryTombstone(token=token, forgotten_ms=work.job.begun_ms, text=hashed),)
