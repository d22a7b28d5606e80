"""Forgetting in all of a workspace: the steps of memory, and those over checkpoints, drafts and typed prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.deletion import attached_archives
from agent.services.drafts import clear_marked, without_marks
from agent.services.forget_receipt import begun_sentence, left_over, left_sentences, receipt_lines
from agent.services.forget_sentences import kept_sentence, same_id_sentence
from agent.services.pasted_images import remove_images
from foundation.clock import Clock, SystemClock, from_ms
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.files import is_file, list_files, read_bytes, read_text, remove, write_atomically
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.forget.choice import Chosen
    from memory.forget.job import Forgetting
    from memory.forget.plan import ForgetPlan
    from memory.forget.work import ForgetWork, StepCounts
    from memory.forgotten.journal import ForgetJob
    from memory.memory import Memory
    from memory.sync.renewal import LocationAccess, UnreachedLocation


class NotForgottenYet(TemporaryFailure):
    """A forgetting that is begun and not finished: exit status 75."""

    code = "not_forgotten_yet"


class ForgetReceipt(Struct, frozen=True):
    """What a forgetting came to, as sentences. `left` are locations of sync that hold it still."""

    job: ForgetJob
    lines: tuple[str, ...]
    left: tuple[UnreachedLocation, ...]


class NothingToForget(PalimpsestError):
    """What was named is not here: exit status 1, so that no script takes it for forgotten."""

    code = "nothing_to_forget"


def plan(
    memory: Memory,
    *,
    named: str = "",
    words: str = "",
    conversation: str = "",
    before: datetime | None = None,
    here: Path | None = None,
) -> ForgetPlan:
    """The plan for one of them. `words` are a phrase, whatever has that name; paths in `named` are of the folder
    `here`. Blocks. Raises Misuse for none or several, NotFound."""
    from memory.forget.choice import choose_before, choose_conversation, choose_named, choose_words

    if sum(map(bool, (named.strip(), words.strip(), conversation, before))) != 1:
        raise Misuse(
            "Nothing given",
            "Give one of: text, an id, a file, a conversation or a day.",
            f"See `{PROGRAM} forget --help`.",
        )
    if before is not None:
        chosen = choose_before(memory, before)
    elif conversation:
        chosen = choose_conversation(memory, conversation)
    elif words:
        chosen = choose_words(memory, words.strip())
    else:
        chosen = choose_named(memory, named.strip(), here)
    return planned(memory, chosen)


def planned(memory: Memory, chosen: Chosen) -> ForgetPlan:
    """The plan for what was chosen, with the archives of texts that were attached to a conversation's messages."""
    from memory.forget.plan import plan_forgetting

    for seq in list(chosen.conversations):
        for attached in attached_archives(memory, memory.conversations.at(seq)):
            chosen.conversations[attached] = None
    return plan_forgetting(memory, chosen, memory.cold.clock.now())


def forgetting(memory: Memory, clock: Clock | None = None) -> Forgetting:
    """Runs jobs in this memory, with the steps of this package."""
    from memory.forget.job import Forgetting

    further = {
        "checkpoints": _checkpoints,
        "drafts": _drafts,
        "prompts": _prompts,
        "images": _images,
    }
    return Forgetting(memory, clock or SystemClock(), further)


def forget_everywhere(
    memory: Memory,
    what: ForgetPlan,
    locations: LocationAccess | None,
    on_step: Callable[[str], None] = lambda _: None,
) -> ForgetReceipt:
    """Carries out the plan here and at the locations of sync; gives the receipt. Blocks.

    Without `locations` none is written to: the sync that runs does it. Raises what `forget` raises.
    """
    from memory.sync.renewal import renew_locations, take_removed_locations

    job = forget(memory, what, on_step)
    if locations is None:
        return ForgetReceipt(job, tuple(receipt_lines(memory, job)), ())
    removed = take_removed_locations(memory, locations.settings)
    left = renew_locations(memory, locations, on_step)
    lines = receipt_lines(memory, job, left, locations.settings.locations, removed)
    return ForgetReceipt(job, tuple(lines), left)


def forget(memory: Memory, what: ForgetPlan, on_step: Callable[[str], None] = lambda _: None) -> ForgetJob:
    """Carries out the plan; gives the job with its receipt. Blocks.

    Raises NotForgottenYet where it could not be finished now: a later one goes on with it. Raises NotAllForgotten
    where nothing takes the rest out.
    """
    from memory.sync.renewal import note_locations

    forgets = forgetting(memory)
    job = forgets.begin(what)
    try:
        note_locations(memory)
        job = forgets.run(job, on_step)
    except (PalimpsestError, OSError) as error:
        reason = error.message if isinstance(error, PalimpsestError) else str(error)
        raise NotForgottenYet("Not forgotten yet", reason, _GOES_ON) from error
    if ended := left_over([job]):
        raise ended
    if job.receipt is None or job.receipt.found:
        places = ", ".join(job.receipt.found[:5] if job.receipt else ())
        raise NotForgottenYet("Not forgotten yet", f"The text is still in {places}.", _GOES_ON)
    return job


class Resumed(Struct, frozen=True):
    """What became of jobs that earlier processes began: those that are over now, and why others are not."""

    over: tuple[ForgetJob, ...] = ()
    stopped: tuple[PalimpsestError | OSError, ...] = ()

    @property
    def finished(self) -> int:
        """How many are over, with nothing left that should go."""
        return sum(bool(job.receipt and not job.receipt.found) for job in self.over)


def finish_pending(
    memory: Memory,
    on_notice: Callable[[str], None] = lambda _: None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Resumed:
    """Goes on with what an earlier process began to forget. Quick without any.

    `on_notice` receives a line for each job that is over: when it was begun, what was left, and how to see its receipt.
    """
    from memory.forgotten.journal import ForgetJournal
    from memory.sync.renewal import note_locations

    if memory.read_only or not ForgetJournal(memory.workspace.forgotten).open_ids():
        return Resumed()
    note_locations(memory)  # a kill may have come between
    stopped: list[PalimpsestError | OSError] = []
    jobs = forgetting(memory).finish_open(on_step, stopped.append)
    over = tuple(job for job in jobs if job.receipt and job.receipt.finished_ms)
    for job in over:
        on_notice(_resumed_notice(job))
    return Resumed(over, tuple(stopped))


def _resumed_notice(job: ForgetJob) -> str:
    """A line about a job of an earlier process that is over now."""
    ended = left_over([job])
    said = f"{ended.title}: {ended.message} {ended.hint}" if ended else ""
    return " ".join(
        filter(None, (begun_sentence(job), said, *left_sentences(job), f"`{PROGRAM} forget` shows its receipt."))
    )


def open_jobs(memory: Memory) -> list[str]:
    """A sentence for each job that is not finished."""
    from memory.errors import Damaged
    from memory.forgotten.journal import ForgetJournal

    journal, sentences = ForgetJournal(memory.workspace.forgotten), list[str]()
    for id_ in journal.open_ids():
        try:
            job = journal.read(id_)
        except Damaged as error:
            sentences.append(error.message)
            continue
        found = ", ".join(job.receipt.found[:5]) if job.receipt else ""
        where = f"the text is still in {found}" if found else f"{len(job.done):,} steps are done"
        sentences.append(
            f"The deletion {id_} of {from_ms(job.begun_ms).astimezone():%Y-%m-%d %H:%M} is not finished: {where}."
        )
    return sentences


def refuse_nothing(what: ForgetPlan) -> None:
    """Raises NothingToForget where nothing of it can be forgotten: it says which files of the person's hold it."""
    if not what.is_empty:
        return
    held = "nothing that could be read contains this text" if what.unread else "nothing contains this text"
    message = kept_sentence(what) if what.kept else f"Nothing here has this name or id, and {held}."
    if what.unread:
        message = f"{message} Not searched: {' '.join(what.unread)}"
    if what.same_id:
        message = f"{message} {same_id_sentence(what)}"
    raise NothingToForget("Nothing to forget", message, f"`{PROGRAM} search` also finds by meaning.")


def line_numbers(answer: str, most: int) -> set[int]:
    """The numbers that a person chose: `1,3`, `2-4`, `all`, `none`. Raises Misuse."""
    said = answer.strip().casefold()
    if said in {"", "all", "none"}:
        return set() if said == "none" else set(range(1, most + 1))
    chosen: set[int] = set()
    for part in said.replace(",", " ").split():
        first, _, last = part.partition("-")
        if not (first.isdigit() and (not last or last.isdigit())):
            raise Misuse("No such lines", f"“{answer}” is not a list of lines.", "Write 1,3 or 2-4, all or none.")
        chosen.update(range(int(first), min(int(last or first), most) + 1))
    return chosen


def _checkpoints(work: ForgetWork) -> StepCounts:
    from agent.checkpoints.checkpoints import Checkpoints
    from agent.checkpoints.forget import forget_in_checkpoints
    from memory.errors import Damaged
    from memory.forget.work import StepCounts

    checkpoints = Checkpoints(work.workspace.checkpoints, SystemClock())
    try:
        gone = forget_in_checkpoints(checkpoints, work.is_ref, work.prints.distinctive.holds)
    except Damaged as error:  # the look at the end tells whether they hold any of it
        folder = checkpoints.folder.relative_to(work.workspace.root)
        sentence = f"{folder} may still contain versions of files that it changed; it was not deleted"
        return StepCounts(sentences=(f"{sentence}: {error.message}",))
    return StepCounts({"checkpoints": gone})


def _drafts(work: ForgetWork) -> StepCounts:
    """Removes the drafts of conversations that are gone, and the words from all others."""
    from memory.forget.work import StepCounts

    count = 0
    for path in list_files(work.workspace.drafts, "*.md"):
        with suppress(FileNotFoundError):
            if work.is_ref(path.name):
                remove(path, missing_ok=True)
                count += 1
            elif work.prints.holds(read_bytes(path)):
                write_atomically(path, clear_marked(work.replaced(read_text(path, owned=True))))
                count += 1
    return StepCounts({"drafts": count})


def _images(work: ForgetWork) -> StepCounts:
    """Removes images of the clipboard that only forgotten messages attach; after drafts and prompts."""
    from memory.forget.work import StepCounts

    return StepCounts({"pasted images": remove_images(work.workspace, work.job.images)})


def _prompts(work: ForgetWork) -> StepCounts:
    """Removes the typed prompts that hold the words, or are messages that are forgotten."""
    from memory.forget.notes import line_hash
    from memory.forget.work import StepCounts

    path = work.workspace.prompt_history
    if not is_file(path):
        return StepCounts()
    lines = read_bytes(path).splitlines(keepends=True)
    secret, typed = work.memory.cold.secret, frozenset(work.job.typed)
    kept = [
        line
        for line in lines
        if not work.prints.holds(line) and line_hash(secret, without_marks(_parsed(line))[0]) not in typed
    ]
    if len(kept) != len(lines):
        write_atomically(path, b"".join(kept))
    return StepCounts({"typed prompts": len(lines) - len(kept)})


def _parsed(line: bytes) -> str:
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return message if isinstance(message, str) else ""


_GOES_ON = f"The deletion is recorded: `{PROGRAM} forget` or the next start of the chat continues it."
