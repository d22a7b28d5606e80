"""Slash commands that take file changes back: undo, redo, rewind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.conversation import first_line
from agent.commands.nothing_to_undo import code_span, nothing_to_undo
from agent.commands.results import Choice, Choices, OpenNamedScreen, Outcome, Proposal, SessionSwitched, TextResult
from foundation.clock import iso, to_ms
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.program import PROGRAM
from foundation.terminal_text import fenced, visible
from models.messages import Role

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.checkpoints.change import CheckpointKind, CheckpointRecord
    from agent.checkpoints.history import CheckpointHistory
    from agent.checkpoints.restore import PlannedFile, Restored, RestorePlan
    from agent.session import Session
    from memory.pages.types import OnPage
    from memory.records import Entry

MAX_MESSAGES: Final = 200
MAX_FILES: Final = 30  # listed in the transcript
MAX_ROWS: Final = 8  # listed in a dialog of 24 lines
STAY_REWOUND: Final = "The files were not restored, because they changed after the rewind: see /redo."
BOTH, CONVERSATION, FILES = "both", "conversation", "files"


async def _undo(session: Session, _rest: str) -> Outcome:
    from agent.checkpoints.change import CheckpointKind

    history = await _history(session)
    records = history.last_turn()
    _refuse_uncertain(history, records)
    if not records:
        return TextResult(await asyncio.to_thread(nothing_to_undo, session, history))
    earlier = await _earlier_turn(session, records[-1])
    title = "Undo the changes of an earlier turn" if earlier else "Undo the last turn's changes"
    return await _restore(session, history, records, CheckpointKind.UNDO, title, earlier=earlier)


async def _earlier_turn(session: Session, record: CheckpointRecord) -> str:
    """The first words of the turn that made this change and when it was, where it is not the last turn; else ""."""
    from memory.records import STEERS

    messages = await session.branch.own_messages(MAX_MESSAGES)
    is_last = True
    for ago, (entry, text) in enumerate(messages):
        if entry.id == record.message:
            if is_last:
                return ""
            when = iso(entry.time)[:16].replace("T", " ")
            return f"“{visible(first_line(text))}”, {when}, {ago} message{'s' * (ago != 1)} before your last one"
        is_last = is_last and bool(entry.meta.get(STEERS))
    return "a message that is not in this branch" if messages and record.message else ""


async def _redo(session: Session, _rest: str) -> Outcome:
    from agent.checkpoints.change import CheckpointKind

    history = await _history(session)
    reversal = history.last_reversal()
    _refuse_uncertain(history, history.records[-1:] if reversal is None else (reversal,))
    if reversal is None:
        return TextResult("Nothing to redo: the last change of files was not made by /undo or /rewind.")
    return await _restore(session, history, (reversal,), CheckpointKind.REDO, "Redo the undone changes")


async def _rewind(session: Session, rest: str) -> Outcome:
    from agent.checkpoints.change import CheckpointKind

    ref, _, what = rest.partition(" ")
    if not ref:
        return await _messages(session)
    entry = await asyncio.to_thread(_own_message, session, ref)
    what = what.strip()
    if not what:
        return await _offer(session, entry)
    if what not in (BOTH, CONVERSATION, FILES):
        raise Misuse("Rewind what?", f"“{what}” is not both, conversation or files.", f"/rewind {entry.id} both")
    if what == CONVERSATION:
        return await _rewind_conversation(session, entry, "No files were changed.")
    history, records = await _edits_since(session, entry)
    if not records:
        done = "No tool changed a file since then."
        return await _rewind_conversation(session, entry, done) if what == BOTH else TextResult(done)
    title = "Rewind the files" + (" and the conversation" if what == BOTH else "")
    return await _restore(
        session, history, records, CheckpointKind.REWIND, title, entry=entry if what == BOTH else None
    )


async def _messages(session: Session) -> Outcome:
    """The user's messages, each with the files that rewinding to it restores."""
    messages = await session.branch.own_messages(MAX_MESSAGES)
    if not messages:
        return TextResult("There is no message to rewind to yet.")
    history = await _history(session)
    edits = await _placed_edits(session, history)
    items = list[Choice]()
    for entry, text in messages:
        count = len({file.place for record in _made_since(entry, edits) for file in record.files})
        restores = f"{_files(count)} changed after it" if count else "no files changed after it"
        items.append(Choice(entry.id, first_line(text), f"{iso(entry.time)[:16].replace('T', ' ')} · {restores}"))
    return Choices("Rewind to before which message? which message?", tuple(items), "/rewind", notes=_doubts(history))


async def _offer(session: Session, entry: Entry) -> Outcome:
    """What can be rewound to before the message."""
    from agent.checkpoints.restore import plan_restore
    from memory.errors import Damaged

    try:
        history, records = await _edits_since(session, entry)
    except Damaged as error:
        only = Choice(CONVERSATION, "The conversation", "puts the message back in the prompt; keeps the files")
        return Choices("Rewind", (only,), f"/rewind {entry.id}", notes=(error.message,))
    if not records:
        only = Choice(CONVERSATION, "The conversation", "puts the message back in the prompt; no files changed")
        return Choices("Rewind", (only,), f"/rewind {entry.id}")
    plan = await asyncio.to_thread(plan_restore, session.checkpoints, records, session.project.folders)
    files = _outline(plan)
    items = (
        Choice(BOTH, "Files and conversation", files),
        Choice(CONVERSATION, "The conversation only", "puts the message back in the prompt; keeps the files"),
        Choice(FILES, "Files only", files),
    )
    return Choices("Rewind", items, f"/rewind {entry.id}", notes=_doubts(history))


async def _restore(
    session: Session,
    history: CheckpointHistory,
    records: Sequence[CheckpointRecord],
    kind: CheckpointKind,
    title: str,
    *,
    entry: Entry | None = None,
    earlier: str = "",
) -> Outcome:
    """Takes the checkpoints back, at once where nobody edited the files in between; then the conversation, where
    `entry` is given. `earlier` names a turn before the last one: then it asks."""
    from agent.checkpoints.command_checkpoints import BACKGROUND
    from agent.checkpoints.restore import plan_restore, restore

    if session.busy:
        raise TemporaryFailure(
            "Still answering", "Files are restored between turns.", "Wait, or stop the answer first."
        )
    folders = session.project.folders

    async def run(_on_page: OnPage) -> Outcome:
        restored = await asyncio.to_thread(restore, session.checkpoints, records, kind, folders)
        report = _report(restored, kind.value, named=str if entry else code_span)
        report = "\n".join((report, *(f"\n{doubt}" for doubt in _doubts(history))))
        plan = restored.plan
        if entry is not None:
            return await _rewind_conversation(session, entry, report, restored.record.id if plan.changes else "")
        merged = sum(file.merged for file in plan.changes)
        counts = {"restored": len(plan.changes), "merged": merged, "left": len(plan.conflicts)}
        return TextResult(report, failed=bool(plan.conflicts) and not plan.changes, counts=counts)

    plan = await asyncio.to_thread(plan_restore, session.checkpoints, records, folders)
    by_weight = sorted(plan.files, key=lambda file: (not file.problem, not file.merged))
    rows = tuple((file.verb, f"{_name(file, plan)}: {file.effect}") for file in by_weight[:MAX_ROWS])
    if len(plan.files) > MAX_ROWS:
        rows = (*rows, ("…", f"and {len(plan.files) - MAX_ROWS} more"))
    rows = (*(("journal", doubt) for doubt in _doubts(history)), *rows)
    rows = (("turn", earlier), *rows) if earlier else rows
    proposal = Proposal(title=title, rows=rows, activity="restoring files", unit="file", run=run)
    is_doubtful = bool(plan.conflicts or any(file.merged for file in plan.files) or _doubts(history))
    is_doubtful |= any(record.label == BACKGROUND for record in records)  # it may be an edit of the user
    is_asked = plan.changes and (is_doubtful or earlier)
    return proposal if is_asked else await run(_unreported)  # nothing to agree to where no file changes


async def _rewind_conversation(session: Session, entry: Entry, report: str, checkpoint: str = "") -> Outcome:
    """`checkpoint` (an id) took files back for it: it is taken back with the conversation."""
    entry = await session.branch.branch_from(entry.id)
    session.branch.rewound = checkpoint
    notice = f"{report}\n\nThe conversation is rewound: your message is in the prompt. What followed it stays stored."
    notice += " Esc undoes this, including the files." if checkpoint else ""
    return SessionSwitched(notice, prompt=(await asyncio.to_thread(session.memory.passage, entry)).text)


async def redo_rewind(session: Session, checkpoint: str) -> str:
    """Makes the changes again that this rewind took back, where nothing changed the files since; a sentence on them."""
    from agent.checkpoints.change import CheckpointKind
    from agent.checkpoints.restore import plan_restore, restore

    folders = session.project.folders
    if session.busy:
        return STAY_REWOUND
    try:
        history = await _history(session)
        reversal = history.last_reversal()
        if reversal is None or reversal.id != checkpoint or _doubts(history):
            return STAY_REWOUND
        plan = await asyncio.to_thread(plan_restore, session.checkpoints, (reversal,), folders)
        if plan.conflicts or any(file.merged for file in plan.files):
            return STAY_REWOUND
        restored = await asyncio.to_thread(restore, session.checkpoints, (reversal,), CheckpointKind.REDO, folders)
    except PalimpsestError as error:
        return f"{STAY_REWOUND} {error.message}"
    count = len(restored.plan.changes)
    return f"{_files(count)} {'is' if count == 1 else 'are'} restored to before the rewind."


def _report(restored: Restored, done: str, *, named: Callable[[str], str]) -> str:
    """What was restored and what was not. `named` writes a path: as Markdown, or as it is."""
    plan, kept, unkept = restored.plan, dict(restored.kept), dict(restored.unkept)
    merged = sum(file.merged for file in plan.changes)
    is_stuck = bool(plan.conflicts) and not plan.changes
    deleted = sum(file.wanted.body is None for file in plan.changes)
    back = len(plan.changes) - deleted
    outline = "no file could be restored" if is_stuck else f"{_files(back)} restored"
    if deleted:
        outline = f"{outline}, {deleted} deleted" if back else f"{_files(deleted)} deleted"
    outline += f", {merged} keeping later edits" if merged else ""
    outline += f", {_files(len(plan.conflicts))} not restored because of later edits" if plan.conflicts else ""
    lines = [f"{done.capitalize()}: {outline}."]
    for file in plan.files[:MAX_FILES]:
        path = named(_name(file, plan))
        lines.append(f"- {path} {file.effect}" + (", also changed by a command" if file.command else ""))
        if (place := kept.get(file.file.place)) is not None:
            lines.append(f"  The earlier version was saved as {named(visible(str(place)))}.")
        if (reason := unkept.get(file.file.place)) is not None:
            version = named(f"blobs/{file.file.before[:2]}/{file.file.before}")
            lines.append(
                f"  The earlier version could not be saved next to it ({visible(reason)}); it is in the "
                f"checkpoint, as the zstd file {version}."
            )
    if len(plan.files) > MAX_FILES:
        lines.append(f"- and {len(plan.files) - MAX_FILES} more")
    if done != "redo" and plan.changes:
        lines.append("\n/redo restores the changes.")
    elif done != "redo" and is_stuck:
        lines.append("\nThe changes now count as undone: the next /undo takes the turn before; /redo reverses this.")
    return "\n".join(lines)


def _name(planned: PlannedFile, plan: RestorePlan) -> str:
    """The file's path in its project folder; the whole path where another folder of the plan has the same."""
    same = sum(file.file.path == planned.file.path for file in plan.files)
    return visible(str(planned.file.place) if same > 1 else planned.file.path)


def _outline(plan: RestorePlan) -> str:
    """What restoring would do, in a line."""
    kept = f", keeps later edits in {_files(len(plan.conflicts))}" if plan.conflicts else ""
    return f"restores {_files(len(plan.changes))}{kept}"


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


async def _history(session: Session) -> CheckpointHistory:
    from memory.access import refuse_read_only  # loads memory, which the list of commands must not

    refuse_read_only(session.workspace)
    if session.conversation is None:
        raise TemporaryFailure(
            "No conversation yet", "Changes are undone per conversation.", "/resume opens an earlier one."
        )
    return await asyncio.to_thread(session.checkpoints.history, session.conversation.id)


def _refuse_uncertain(history: CheckpointHistory, records: Sequence[CheckpointRecord], hint: str = "") -> None:
    """Raises Damaged where an unreadable line of the journal may be a change after the first of these checkpoints."""
    from memory.errors import Damaged

    if not history.is_certain(records):
        raise Damaged(
            "The journal is damaged",
            f"{history.content.damage}. A later change may be missing, so no file was restored.",
            hint or f"New changes can be undone. `{PROGRAM} check --repair` removes the damaged lines.",
        )


def _doubts(history: CheckpointHistory) -> tuple[str, ...]:
    """A sentence where changes may be missing from the history."""
    damage = history.content.damage
    return (f"{damage}: changes may be missing here. Run `{PROGRAM} check` for details.",) if damage else ()


async def _placed_edits(session: Session, history: CheckpointHistory) -> list[tuple[int, CheckpointRecord]]:
    """The edits in effect, oldest first, each with the place of its message in the conversation."""

    def read() -> list[tuple[int, CheckpointRecord]]:
        stored, conversation = session.memory.conversations, session.conversation
        seq = conversation.seq if conversation else None
        messages = {record.message for record in history.edits()}
        named = {message: stored.entries_named(message, seq) for message in messages}
        return [(named[record.message][0].seq if named[record.message] else 0, record) for record in history.edits()]

    return await asyncio.to_thread(read)


async def _edits_since(session: Session, entry: Entry) -> tuple[CheckpointHistory, tuple[CheckpointRecord, ...]]:
    """The history, and its edits that were made from this message on. Raises Damaged where some may be missing."""
    history = await _history(session)
    edits = await _placed_edits(session, history)
    records = _made_since(entry, edits)
    hint = f"/rewind {entry.id} conversation does not touch files. Run `{PROGRAM} check` for details."
    _refuse_uncertain(history, records or tuple(record for _, record in edits[-1:]), hint)
    return history, records


def _made_since(entry: Entry, edits: Sequence[tuple[int, CheckpointRecord]]) -> tuple[CheckpointRecord, ...]:
    """The edits that were made from this message on, on any branch, oldest first. Those of a deleted message (0) go
    by the time."""
    return tuple(record for at, record in edits if at >= entry.seq or (not at and record.time >= to_ms(entry.time)))


def _own_message(session: Session, ref: str) -> Entry:
    """The user's message of that id. Raises NotFound, Misuse."""
    conversation = session.conversation
    entry = session.memory.conversations.find_entry(ref, conversation.seq if conversation else None)
    if entry.role is not Role.USER:
        raise Misuse("Not your message", f"{entry.id} is not a message of yours.", "/rewind lists your messages.")
    return entry


def _unreported(_done: int) -> None:
    """Discards progress."""


async def _diff(session: Session, _rest: str) -> Outcome:
    async def printed() -> Outcome:
        return TextResult(await asyncio.to_thread(_diff_text, session))

    return OpenNamedScreen("changes", "", printed)


def _diff_text(session: Session) -> str:
    """The diffs of all files that the conversation changed, in Markdown. Blocks."""
    from agent.services.panel_figures import diff_of_file, touched_files

    checkpoints, conversation = session.checkpoints, session.conversation
    files = touched_files(checkpoints, conversation.id) if conversation else ()
    diffs = [
        f"{code_span(file.path)} {file.figures}\n\n{fenced(diff_of_file(checkpoints, file).rstrip(), 'diff')}"
        for file in files
    ]
    return "\n\n".join(diffs) or "No tool has changed a file in this conversation."


COMMANDS = (
    Command(
        name="diff",
        summary="Show what tools changed in this conversation, file by file.",
        keys="↑ ↓ choose a file, Enter opens its diff, Esc closes.",
        beside_turns=True,
        run=_diff,
    ),
    Command(name="undo", summary="Undo the file changes of the last turn; your own edits are kept.", run=_undo),
    Command(name="redo", summary="Redo what /undo or /rewind undid.", run=_redo),
    Command(
        name="rewind",
        summary="Restore files, the conversation or both to before a message.",
        usage="[ID [both|conversation|files]]",
        run=_rewind,
    ),
)
