"""Forgets again what was forgotten and came back: from an old pack or mirror that a repair took in.

It is a forgetting like any other: pages are dissolved, packs, mirrors and copies are written anew, and at the end every
file is looked through.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from foundation.errors import PalimpsestError
from foundation.files import read_bytes
from foundation.program import PROGRAM
from memory.cold.encoding import to_bytes
from memory.cold.sql import each
from memory.errors import MemoryFailure
from memory.forget.choice import Chosen
from memory.forget.job import Forgetting
from memory.forget.plan import ForgetPlan, plan_forgetting
from memory.forget.scan import files_below, is_ours
from memory.forget.work import entry_bytes
from memory.forgotten.earlier import ForgottenEarlier
from memory.forgotten.fingerprints import FORGOTTEN, Fingerprint, Fingerprints
from memory.memory import Memory

_NAMES: Final = """SELECT e.seq, e.body IS NULL, c.source, c.id, e.id
    FROM entries e JOIN conversations c ON c.seq = e.conversation
    WHERE e.body IS NULL OR CAST(e.body AS BLOB) <> ?"""
_NAMELESS: Final = "SELECT seq, time_ms FROM entries WHERE instr(meta, CAST('\"recovered\"' AS BLOB))"
_LARGEST_OTHER: Final = 2**24  # bytes of a person's file that is looked through


def came_back(memory: Memory, forgotten: ForgottenEarlier) -> list[int]:
    """Seqs of the entries that were forgotten, and have words again."""
    if not forgotten:
        return []
    blank = (FORGOTTEN.encode(),)
    rows = memory.cold.read(lambda db: list(each(db, _NAMES, blank)))
    named = [(seq, is_archived) for seq, is_archived, *name in rows if forgotten.has(*name)]
    found = {seq for seq, is_archived in named if not is_archived or _text_on_pages(memory, seq) != FORGOTTEN}
    for seq, time_ms in memory.cold.read(lambda db: list(each(db, _NAMELESS))):  # from pixels: its name may be lost
        text = _text_on_pages(memory, seq)
        if text != FORGOTTEN and forgotten.has_text(text, time_ms):
            found.add(seq)
    return sorted(found)


def _text_on_pages(memory: Memory, seq: int) -> str:
    """The entry's text; `[forgotten]` where its pages cannot be read, which a check names by itself."""
    try:
        return memory.passage(memory.cold.entry(seq)).text
    except MemoryFailure:
        return FORGOTTEN


def forget_again(memory: Memory, forgotten: ForgottenEarlier, now: datetime) -> tuple[list[str], list[str]]:
    """Forgets what came back; gives sentences about what was done and what is left. Blocks."""
    if not (seqs := came_back(memory, forgotten)):
        return [], []
    entries = "1 entry" if len(seqs) == 1 else f"{len(seqs):,} entries"
    try:
        chosen = Chosen(title="what came back", entries=dict.fromkeys(seqs, "forgotten before"))
        plan = _with_earlier_words(memory, forgotten, plan_forgetting(memory, chosen, now))
        forgetting = Forgetting(memory, memory.cold.clock)
        job = forgetting.run(forgetting.begin(plan))
    except (PalimpsestError, OSError) as error:
        reason = error.message if isinstance(error, PalimpsestError) else str(error)
        return [], [f"{entries} forgotten entries came back and are not deleted yet: {reason}"]
    mended = [f"{entries} forgotten entries came back with old files and were deleted again."]
    found = job.receipt.found if job.receipt else ()
    if not found:
        return mended, []
    return mended, [f"Forgotten text is still in {', '.join(found)}: `{PROGRAM} forget` continues the deletion."]


def _with_earlier_words(memory: Memory, forgotten: ForgottenEarlier, plan: ForgetPlan) -> ForgetPlan:
    """The plan, which also looks for the words of the jobs before: in titles, labels and what stands beside texts. Not
    for those that were said or written again since."""
    prints = forgotten.words(0)
    staying = {
        print_
        for text in _said_since(memory, forgotten, prints)
        for print_ in prints.found(text) | prints.found(text.lower())
    }
    earlier = {*prints.prints} - staying
    return replace(plan, job=replace(plan.job, prints=(*{*plan.job.prints, *earlier},)))


def _said_since(memory: Memory, forgotten: ForgottenEarlier, prints: Fingerprints) -> Iterator[bytes]:
    """Texts of entries that are later than a forgetting whose words they hold, of the notes and of the person's own
    files."""
    times = dict(memory.cold.read(lambda db: list(each(db, "SELECT seq, time_ms FROM entries"))))
    for batch in entry_bytes(memory):
        for entry in batch:
            held: set[Fingerprint] = prints.found(entry.text)
            if held and held - {*forgotten.words(times.get(entry.seq, 0)).prints}:
                yield entry.text
    memory.hot.look()
    yield from (to_bytes(file.text) for file in memory.hot.files())
    root = memory.workspace.root
    for path in files_below(root):
        if not is_ours(memory.workspace, path.relative_to(root).as_posix()) and path.stat().st_size <= _LARGEST_OTHER:
            yield read_bytes(path)
