"""The receipt of a forgetting, as sentences for a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agent.services.forget_sentences import also_said_sentence, counted_as, unnamed_sentence
from foundation.clock import from_ms
from foundation.errors import PalimpsestError
from foundation.program import PROGRAM, own_command

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.forgotten.journal import ForgetJob
    from memory.memory import Memory
    from memory.records import Conversation
    from memory.sync.renewal import RemovedLocation, UnreachedLocation


class NotAllForgotten(PalimpsestError):
    """A forgetting that ended, though some of it could not be taken out: exit status 1."""

    code = "not_all_forgotten"


def left_over(jobs: Iterable[ForgetJob]) -> NotAllForgotten | None:
    """What could not be taken out by jobs that are over, as an error to be raised or said; None where all was."""
    over = [job.receipt for job in jobs if job.receipt and job.receipt.finished_ms and job.receipt.found]
    places = ", ".join(dict.fromkeys(place for receipt in over for place in receipt.found[:5]))
    hint = f"Close every other Palimpsest and run it again. `{PROGRAM} check` reports damaged files."
    return (
        NotAllForgotten("Not everything was deleted", f"It could not be deleted from {places}.", hint) if over else None
    )


def receipt_lines(
    memory: Memory,
    job: ForgetJob,
    left: Sequence[UnreachedLocation] = (),
    known: Collection[str] | None = None,
    removed: Sequence[RemovedLocation] = (),
) -> list[str]:
    """The receipt for a person: what went, how much was searched, what stays and where it may be besides.

    `left` are locations of sync from which it could not be taken, `known` those of the settings (None where nobody
    knows), `removed` those that were taken out of them and may hold it.
    """
    from memory.forget.named_files import files_that_lost_names
    from memory.forget.plan import unread_notes
    from memory.sync.renewal import removed_sentence, unreached_sentence

    receipt = job.receipt
    assert receipt is not None
    counts = [counted_as(name, count) for name, count in receipt.counts.items() if count and name != "tombstones"]
    lines = [f"Forgotten: {', '.join(counts) or 'nothing was left of it'}."]
    still = f"still in {', '.join(receipt.found[:5])}" if receipt.found else "no occurrences left in Palimpsest's files"
    lines.append(f"Searched: {receipt.places:,} files, {receipt.bytes:,} bytes; {still}.")
    lines += left_sentences(job)
    if unnamed := files_that_lost_names(memory, job):
        lines.append(f"Kept: {unnamed_sentence(unnamed)}")
    lines += [removed_sentence(removed), unreached_sentence(left) or sync_notice(memory, known)]
    lines += [backup_notice(memory), _also_in(memory, job)]
    lines += [f"Not searched: {sentence}" for sentence in unread_notes(memory)]
    return list(filter(None, lines))


def left_sentences(job: ForgetJob) -> list[str]:
    """Sentences of the receipt about what stays: files of the person's own, what was written later, and others."""
    receipt = job.receipt
    assert receipt is not None
    whose = "this file is" if len(receipt.left) == 1 else "these files are"
    files = [f"Not changed, because {whose} your own: {', '.join(receipt.left[:20])}."] if receipt.left else []
    return [*files, *receipt.sentences]


def begun_sentence(job: ForgetJob) -> str:
    """A sentence about a job that an earlier process began, and that is over now."""
    return f"Finished the deletion that was begun on {_minute(job.begun_ms)}."


def last_sentence(job: ForgetJob) -> str:
    """A sentence about the job that was finished last."""
    finished_ms = job.receipt.finished_ms if job.receipt else 0
    return f"The last deletion was begun on {_minute(job.begun_ms)} and finished on {_minute(finished_ms)}:"


def _minute(ms: int) -> str:
    return f"{from_ms(ms).astimezone():%Y-%m-%d at %H:%M}"


def _also_in(memory: Memory, job: ForgetJob) -> str:
    from memory.errors import NotFound

    found: list[Conversation] = []
    for seq in job.also_in:
        with suppress(NotFound):  # it was deleted since
            found.append(memory.conversations.at(seq))
    return also_said_sentence(found)


def sync_notice(memory: Memory, known: Collection[str] | None = None) -> str:
    """A sentence about the locations of sync and the devices that hold it still, and which has to sync; "" for none.

    `known` are the locations of the settings: another one is no place that this workspace syncs with.
    """
    from memory.sync.status import stale_locations, untold_locations, used_locations

    def of_settings(names: list[str]) -> list[str]:
        return [name for name in names if known is None or name in known]

    now = f"`{PROGRAM} sync now`"
    if where := ", ".join(of_settings(stale_locations(memory))):
        return f"It is still at {where}: {now} deletes it there and on other devices."
    if of_settings(untold_locations(memory)):
        return f"Other devices still have copies: run {now} here, then {now} there."
    if of_settings(used_locations(memory)):
        return f"Other devices still have copies until their next sync: run {now} there."
    return ""


def backup_notice(memory: Memory) -> str:
    """A sentence about backups that were made before, which hold the words still; "" where none was made from here."""
    from memory.backup.reminder import last_backup

    last = last_backup(memory.workspace)
    if last is None:
        return ""
    listed, renewed = own_command("backup", "list", last.place), own_command("backup", last.place, "--keep", "1")
    return (
        f"Backups in {last.place} still contain it: `{listed}` lists them; `{renewed}` makes a new one "
        "and deletes the others."
    )
