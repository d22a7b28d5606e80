"""One sync of a workspace with a location: reads what other devices wrote, then writes what is new here."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.errors import PalimpsestError, TemporaryFailure
from memory.backup.place import BackupPlace
from memory.backup.place import held as locked
from memory.cold import deletions
from memory.cold.sql import fetch, run
from memory.cold.sync_values import forgotten_names
from memory.errors import Damaged, StoreBusy
from memory.memory import Memory
from memory.records import Entry
from memory.sync.consent import DUE, HELD, Consent, HeldChange
from memory.sync.device import Device, begin, this_device
from memory.sync.encryption import Keys
from memory.sync.forgotten import DeletionPort, forgotten_tokens, note_own
from memory.sync.inbox import Taken
from memory.sync.last_run import record_run
from memory.sync.names import parse_name
from memory.sync.notes import ChangedNote, KeptNote, NoteSync
from memory.sync.other_logs import NewDevice, OtherLogs, Unread, foreign_objects, unread_segments
from memory.sync.own_log import OwnLog, note_key, write_all_again

LOCK: Final = "sync.lock"
_MOST: Final = 20  # sentences of news
_MIRRORS: Final = 500  # readable copies that a run writes; the next one goes on


class SyncResult(Struct, frozen=True, kw_only=True):
    """What one run read and wrote. `stopped`: it ended early, and the next run goes on."""

    location: str
    device: Device
    taken: Taken
    segments_read: int
    segments_written: int
    bytes_written: int
    deleted: int
    """Conversations that were deleted here because another device deleted them."""
    notes: tuple[ChangedNote, ...]
    """Note files into which something of other devices was written."""
    kept: tuple[KeptNote, ...]
    """Note files that were deleted on one device and stay, since another one edited them."""
    renamed: tuple[str, ...]
    """Names that notes have here now, for those of before were forgotten on another device."""
    new_devices: tuple[NewDevice, ...]
    held_back: tuple[str, ...]
    """Note files that stay on this device, for they hold something private, cannot be read, or are too long."""
    unread: tuple[Unread, ...]
    stopped: bool = False
    held: tuple[HeldChange, ...] = ()
    """What waits for the user's answer; nothing of it is deleted here."""
    newly_held: tuple[HeldChange, ...] = ()

    @property
    def news(self) -> list[str]:
        """What others did here that a person should see, as sentences: new devices, and the notes that they changed."""
        devices = [f"New device at {self.location}: {each.name} ({each.id})." for each in self.new_devices]
        kept = [
            f"{each.path} was deleted on {_listed(each.deleted_on)} but kept, because it was edited on "
            f"{_listed(each.edited_on)} at the same time."
            for each in self.kept
        ]
        changed = [each for each in self.notes if each.path not in {note.path for note in self.kept}]
        notes = [f"{each.path} was changed by {', '.join(each.devices) or 'another device'}." for each in changed]
        renamed = [f"A note was renamed to {path}: another device deleted its old name." for path in self.renamed]
        waiting = [f"{each.sentence} {HELD}" for each in self.newly_held]
        listed = devices + waiting + renamed + kept + notes
        more = [f"And {len(listed) - _MOST:,} more: `sync status` and the versions of the notes show them."]
        return listed[:_MOST] + (more if len(listed) > _MOST else [])

    @property
    def problem(self) -> str:
        """What could not be read, as a sentence; "" where all was."""
        messages = [each.message for each in self.unread]
        more = f" And {len(messages) - 1:,} more." if len(messages) > 1 else ""
        return messages[0] + more if messages else ""


def _listed(devices: Sequence[str]) -> str:
    return ", ".join(device or "this device" for device in devices)


class Sync:
    """Syncs one workspace. Without `deletions` what other devices deleted waits for a later run. `keys` read what is
    encrypted; with `encrypts` they encrypt what this device writes. What takes more than `ask_above` entries waits for
    `answer`."""

    def __init__(
        self,
        memory: Memory,
        deletions: DeletionPort | None,
        *,
        keys: Keys | None = None,
        encrypts: bool = False,
        ask_above: int | None = None,
    ) -> None:
        self._memory = memory
        self._consent = Consent(memory.cold, deletions, ask_above)
        self._cold = memory.cold
        self._deletions = deletions
        self._keys = keys
        self._own_keys = keys if encrypts else None

    def begin(self, name: str) -> Device:
        """Records changes of this workspace from now on, under that name of the device."""
        now = to_ms(self._cold.clock.now())
        return self._cold.write(lambda db: begin(db, name, now))

    def renew_recipients(self) -> None:
        """Has all that is at the locations encrypted anew by the next run."""
        self._cold.write(write_all_again)

    @property
    def device(self) -> Device | None:
        """This device; None where no location was ever added."""
        return self._cold.read(this_device)

    def run(self, place: BackupPlace, should_stop: Callable[[], bool] = lambda: False) -> SyncResult:
        """Syncs with the location. May end at any moment: the next run goes on, and nothing is lost or taken twice.

        Raises TemporaryFailure where the location does not answer or another process syncs, BackupDiskFull, StoreError.
        """
        self._cold.refuse_read_only()
        error, done = "It was interrupted.", False
        try:
            with locked(self._memory.workspace.own / LOCK, "sync"):
                result = self._run(place, should_stop)
            error, done = result.problem, not result.stopped
        except PalimpsestError as failure:
            error = failure.message
            raise
        finally:
            record_run(self._memory.workspace, place.name, to_ms(self._cold.clock.now()), error, done=done)
        return result

    def renew(self, place: BackupPlace) -> int:
        """Takes from the location what was deleted here since, and tells other devices there; neither reads nor sends
        anything else.

        Gives the number of files that were written anew. Raises what `run` raises.
        """
        self._cold.refuse_read_only()
        with locked(self._memory.workspace.own / LOCK, "sync"):
            place.require()
            listed = place.sizes()
            names = {text: name for text in listed if (name := parse_name(text)) is not None}
            own = OwnLog(self._cold, place, self._own_keys, self._text_of)
            own.refuse_mixed(names)
            return own.renew(own.claim(names), listed)

    def _run(self, place: BackupPlace, should_stop: Callable[[], bool]) -> SyncResult:
        place.require()
        listed = place.sizes()
        names = {text: name for text in listed if (name := parse_name(text)) is not None}
        own = OwnLog(self._cold, place, self._own_keys, self._text_of)
        own.refuse_mixed(names)
        device = own.claim(names)
        place.remove_temporary(device.id)
        if (keys := self._own_keys) is not None:
            self._cold.write(lambda db: note_key(db, keys.recipient))
        tombstones = self._memory.conversations.tombstones
        logs = OtherLogs(self._cold, place, self._keys, tombstones, takes_plain=self._own_keys is None)
        notes = NoteSync(self._memory)
        notes.collect(device.id)
        if self._deletions is not None:
            known = self._deletions.tokens()
            self._cold.write(lambda db: note_own(db, known, to_ms(self._cold.clock.now())))
        before = self._cold.read(forgotten_names)
        held_before = {*self._consent.held()}
        taken, count, stopped = logs.read(names, listed, device.id, should_stop)
        self._consent.decide()
        deleted = self._delete_due()
        self._forget_due()
        merged = notes.spread(should_stop, self._consent.take)
        held = self._consent.held()
        written = (0, 0) if stopped else own.write(device, listed)
        with suppress(OSError):  # the next run goes on
            self._memory.mirrors.write_due(_MIRRORS, should_stop)
        if taken.deletions or notes.renamed or self._cold.read(forgotten_names) > before:
            self._cold.empty_journal()  # it held the words
        return SyncResult(
            location=place.name,
            device=device,
            taken=taken,
            segments_read=count,
            segments_written=written[0],
            bytes_written=written[1],
            deleted=deleted,
            notes=tuple(merged),
            kept=tuple(notes.kept),
            renamed=tuple(notes.renamed),
            new_devices=tuple(logs.new_devices),
            held_back=notes.held_back,
            unread=(*foreign_objects(place), *self._cold.read(lambda db: unread_segments(db, place.name))),
            stopped=stopped,
            held=tuple(held),
            newly_held=tuple(change for change in held if change not in held_before),
        )

    def held(self) -> list[HeldChange]:
        """What other devices deleted, forgot or emptied and the user has not answered."""
        return self._consent.held()

    def answer(self, ids: Collection[str], *, accept: bool) -> None:
        """Deletes here what other devices deleted in the conversations and notes of these ids, or keeps it for good.

        Raises TemporaryFailure if another process syncs.
        """
        self._cold.refuse_read_only()
        if (device := self.device) is None:
            return
        with locked(self._memory.workspace.own / LOCK, "sync"):
            notes = NoteSync(self._memory)
            notes.collect(device.id)
            self._consent.answer(ids, accept=accept)
            self._delete_due()
            self._forget_due()
            notes.answer(ids, accept=accept)
            self._cold.empty_journal()

    def _delete_due(self) -> int:
        """Deletes what other devices deleted; one in which an answer is being written is deleted by a later run."""
        count = 0
        for (token,) in self._cold.read(lambda db: fetch(db, DUE)):
            seq = self._cold.read(deletions.tokens).get(token)
            if seq is not None:
                if self._deletions is None:
                    continue
                try:
                    self._deletions.delete(self._cold.conversation_at(seq))
                except (StoreBusy, TemporaryFailure):
                    continue
                count += 1
            self._cold.write(lambda db, token=token: self._settle(db, token))
        return count

    def _forget_due(self) -> None:
        """Forgets what other devices forgot, and keeps the tombstones of what arrived under another name. What cannot
        be forgotten now is tried again by the next run."""
        if self._deletions is None:
            return
        new = self._cold.read(forgotten_tokens) - self._deletions.tokens()
        with suppress(StoreBusy, TemporaryFailure):
            self._deletions.forget(new, to_ms(self._cold.clock.now()))

    def _settle(self, db: apsw.Connection, token: str) -> None:
        ((ms,),) = fetch(db, "SELECT deleted_ms FROM sync_due WHERE token = ?", (token,))
        deletions.put(db, [deletions.Deletion(token=token, conversation=0, deleted_ms=ms, finished=True)])
        run(db, "DELETE FROM sync_due WHERE token = ?", (token,))

    def _text_of(self, entry: Entry) -> str | None:
        try:
            return self._memory.passage(entry).text
        except Damaged:
            return None
