"""Entries that are forgotten, and those that were derived of them or repeat them.

A forgotten entry's row stays, with its id, time and place in the tree, and `[forgotten]` for its words: so branches,
pairs of calls and results, and summaries that name it stay whole. What was derived of it goes too: observations of it
are deleted, summaries keep only the lines that quote what remains, and passages of memory tools are blanked. In all
other entries the words themselves are replaced.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final, cast

import apsw
import msgspec

from foundation.privacy import Cleared, as_stored, cleared_fields
from foundation.program import PROGRAM
from memory.cold.changes import note_change, put_terms
from memory.cold.encoding import from_meta, from_parts, readable_meta, to_parts, unpack
from memory.cold.entries import replace_text
from memory.cold.epoch_copies import end_epochs_naming
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import batches, each, fetch, first, marks, run
from memory.cold.sync_words import entry_rewritten
from memory.errors import Damaged, StoreBusy
from memory.forget.ids import give_other_id
from memory.forget.lineage import citing, conversations_of, is_cited, repeating, summaries_of
from memory.forget.replacement import walked
from memory.forget.work import FORGOTTEN, ForgetWork, StepCounts, drop_requests
from memory.forgotten.bare_meta import bare_meta, without_words
from memory.records import EntryKind
from models.cleared_parts import cleared_parts
from models.messages import Image, MessagePart, RecalledSpan, Text

_REFERENCES: Final = re.compile(r"\[([^\[\]\s]{1,80})\]")
_STREAMING: Final = "SELECT e.seq, e.conversation FROM answers a JOIN entries e ON e.seq = a.entry"
_HEADING: Final = re.compile(r"Earlier\b")


def forget_rows(work: ForgetWork) -> StepCounts:
    """Blanks the job's entries, and takes their words out of all others."""
    cold, job = work.memory.cold, work.job
    cold.recover()
    holding = {entry.seq for entry in repeating(work)}

    def transaction(db: apsw.Connection) -> tuple[int, int, int]:
        chosen = _existing(db, job.entries)
        _refuse_in_use(db, {*chosen, *holding})
        observations = _forget_observations(db, chosen)
        chosen = _existing(db, chosen)
        changed = [seq for seq in chosen if _blank(db, work, seq)]
        summaries = summaries_of(db, chosen)
        for seq in _existing(db, job.renamed):
            give_other_id(db, work, seq)
        derived = sorted({*holding, *summaries, *citing(db, work), *_existing(db, job.bare)} - {*chosen})
        replaced = [seq for seq in derived if _replace(db, work, seq, is_summary=seq in summaries)]
        drop_requests(db, conversations_of(db, [*changed, *replaced, *job.renamed]))
        return len(chosen), observations, len(replaced)

    entries, observations, replaced = cold.write(transaction)
    return StepCounts({"entries": entries, "observations": observations, "derived": replaced})


def _existing(db: apsw.Connection, seqs: Collection[int]) -> list[int]:
    found: list[int] = []
    for batch in batches(sorted(seqs)):
        found += [seq for (seq,) in each(db, f"SELECT seq FROM entries WHERE seq IN ({marks(batch)})", batch)]
    return found


def refuse_late_answers(work: ForgetWork) -> None:
    """Raises StoreBusy while an answer from before the job is being written in a conversation of what goes.

    It may have no words yet, and so no look at the end finds them.
    """
    work.memory.cold.recover()
    late, last = work.late_answers, work.job.last_entry

    def check(db: apsw.Connection) -> None:
        streaming = {
            conversation for seq, conversation in each(db, _STREAMING) if last is None or seq <= last or seq in late
        }
        _refuse_streaming(db, streaming, work.job.entries)

    work.memory.cold.read(check)


def _refuse_in_use(db: apsw.Connection, seqs: Collection[int]) -> None:
    _refuse_streaming(db, {conversation for _, conversation in each(db, _STREAMING)}, seqs)


def _refuse_streaming(db: apsw.Connection, streaming: Collection[int], seqs: Collection[int]) -> None:
    if streaming and {*streaming}.intersection(conversations_of(db, list(seqs))):
        raise StoreBusy(
            "A conversation is in use",
            "An answer is being written in a conversation that contains the text.",
            f"Stop the answer or wait for it; then `{PROGRAM} forget` continues.",
        )


def _forget_observations(db: apsw.Connection, chosen: Sequence[int]) -> int:
    """Deletes the observations of these entries; no maker makes them again."""
    count = 0
    for batch in batches(chosen):
        sql = f"SELECT seq, id FROM entries WHERE kind = '{EntryKind.OBSERVATION.value}' AND parent IN ({marks(batch)})"
        rows = fetch(db, sql, batch)
        end_epochs_naming(db, [id_ for _, id_ in rows])
        note_change(db, "remove", [seq for seq, _ in rows])
        for seq, _ in rows:
            run(db, "DELETE FROM entries WHERE seq = ?", (seq,))
        for seq in set(batch) - {seq for seq, _ in rows}:
            run(db, "INSERT OR IGNORE INTO unobserved (entry) VALUES (?)", (seq,))
        count += len(rows)
    return count


def _blank(db: apsw.Connection, work: ForgetWork, seq: int) -> bool:
    """Takes all words out of an entry's row; False where that is done already."""
    row = first(db, "SELECT kind, CAST(speaker AS BLOB), body, sent, meta FROM entries WHERE seq = ?", (seq,))
    assert row is not None
    kind, name, body, sent, column = row
    meta, speaker = without_words(readable_meta(column)), work.replaced(name.decode("utf-8", "replace")).encode()
    is_bare = sent is None and speaker == name and (from_meta(cleared_fields(meta)) or None) == column
    if body == FORGOTTEN.encode() and is_bare:
        return False
    if kind == EntryKind.OBSERVATION.value:
        run(db, "DELETE FROM entries WHERE seq = ?", (seq,))
        note_change(db, "remove", [seq])
        return False
    _store(db, work, seq, as_stored(FORGOTTEN), (), meta, speaker, words="")
    note_change(db, "remove", [seq])  # of its vectors; the row goes on without terms
    return True


def _replace(db: apsw.Connection, work: ForgetWork, seq: int, *, is_summary: bool) -> bool:
    """Takes the words out of an entry that is not forgotten itself; whether it changed."""
    sql = "SELECT CAST(speaker AS BLOB), body, packed, chars, sent, meta, CAST(id AS BLOB) FROM entries WHERE seq = ?"
    row = first(db, sql, (seq,))
    if row is None or row[1] is None:  # deleted, or still on pages, which the step before reports
        return False
    speaker, body, packed, chars, sent, column, id_ = row
    try:
        text, meta, parts = unpack(body, packed, chars), readable_meta(column), to_parts(sent)
    except (Damaged, ValueError, msgspec.MsgspecError):
        return False
    new_text = work.replaced(_remade(text, work) if is_summary else text)
    new_parts = tuple(_part(part, work) for part in parts)
    kept = bare_meta(meta) if seq in work.job.bare else meta
    new_meta = cast("dict[str, Any]", walked(kept, work.replaced))
    new_speaker = work.replaced(speaker.decode("utf-8", "replace")).encode()
    if (new_text, new_parts, new_meta, new_speaker) == (text, parts, meta, speaker) and not work.prints.holds(id_):
        return False
    _store(db, work, seq, as_stored(new_text), new_parts, new_meta, new_speaker)
    note_change(db, "change", [seq])
    return True


def _remade(text: str, work: ForgetWork) -> str:
    """A summary of what remains: its heading, and the lines that quote entries that are not forgotten."""
    lines: list[str] = []
    for number, line in enumerate(text.splitlines()):
        cited = set(_REFERENCES.findall(line))
        if (number == 0 and _HEADING.match(line)) or (cited and not any(map(work.is_ref, cited))):
            lines.append(line)
    remade = [line for line in lines if not work.prints.holds(line.encode("utf-8", "surrogatepass"))]
    return "\n".join(remade) or FORGOTTEN


def _part(part: MessagePart, work: ForgetWork) -> MessagePart:
    match part:
        case RecalledSpan(citation=citation) if is_cited(citation, work):
            bare = msgspec.structs.replace(citation, title="", speaker="", place="")
            return msgspec.structs.replace(part, text=FORGOTTEN, citation=bare, dates=())
        case Image(name=name) if work.replaced(name) != name:
            return Text(FORGOTTEN, injected="attachment")
        case Image():
            return part
        case _:
            plain = msgspec.to_builtins(part)
            made = walked(plain, work.replaced)
            return part if made == plain else msgspec.convert(made, MessagePart)


def _store(  # noqa: PLR0917 -- an entry's columns
    db: apsw.Connection,
    work: ForgetWork,
    seq: int,
    text: Cleared,
    parts: tuple[MessagePart, ...],
    meta: dict[str, Any],
    speaker: bytes,
    *,
    words: str | None = None,
) -> None:
    cleared = cleared_fields(meta)
    run(db, "DELETE FROM spans WHERE entry = ?", (seq,))
    give_other_id(db, work, seq)
    replace_text(db, seq, text)
    name = speaker.decode("utf-8", "replace")
    sql = "UPDATE entries SET meta = ?, sent = ?, speaker = ? WHERE seq = ?"
    run(db, sql, (from_meta(cleared), from_parts(cleared_parts(parts)), name, seq))
    seal_rows(db, [seq])
    entry_rewritten(db, seq)
    put_terms(
        db, seq, text if words is None else words, name if words is None else "", work.memory.cold.analyse, cleared
    )
