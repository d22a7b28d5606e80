"""What other devices delete, forget or empty here: above a limit it waits for the user's answer.

Whoever can write to a location that is not encrypted can write as any device. So the limit counts what all devices
together took in a week.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, Literal

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.program import PROGRAM
from foundation.terminal_text import visible_line
from memory.cold import ColdStore, deletions
from memory.cold.encoding import to_text
from memory.cold.sql import fetch, first, run, run_many
from memory.sync.forgotten import DeletionPort, forgotten_tokens

HELD: Final = f"Nothing was deleted here: `{PROGRAM} sync accept ID` or `{PROGRAM} sync refuse ID`."
WAITS: Final = 1
REFUSED: Final = 2
ACCEPTED: Final = 3
_WEEK_MS: Final = 7 * 24 * 3_600_000
DUE: Final = f"SELECT token FROM sync_due WHERE answer = {ACCEPTED}"
_WAITING: Final = "SELECT token, device FROM sync_due WHERE answer = 1"
_IDS: Final = "SELECT seq, id FROM conversations"
_TOUCHED: Final = "SELECT 1 FROM entries WHERE conversation = ? AND instr(meta, CAST(? AS BLOB)) LIMIT 1"


class HeldChange(Struct, frozen=True):
    """A change of another device that waits: the conversation's id and title, or the note's path; how many entries or
    lines it takes, and who made it."""

    kind: Literal["deletion", "forgetting", "note"]
    id: str
    title: str
    entries: int
    device: str

    @property
    def sentence(self) -> str:
        """What waits, for a person."""
        match self.kind:
            case "deletion":
                return f"{self.device} deleted the conversation {self.id} “{self.title}” ({self.entries:,} entries)."
            case "forgetting":
                return f"{self.device} forgot {self.entries:,} entries of the conversation {self.id} “{self.title}”."
            case "note":
                return f"{self.device} removed {self.entries:,} lines of {self.id}."


class Consent:
    """Decides what other devices may delete here without a question. `ask_above` None: everything."""

    def __init__(self, cold: ColdStore, port: DeletionPort | None, ask_above: int | None) -> None:
        self._cold = cold
        self._port = port
        self._ask_above = ask_above

    def decide(self) -> None:
        """Accepts what is below the limit of what arrived, and has the rest wait."""
        self._cold.write(self._decide_deletions)
        if self._port is None or self._ask_above is None:
            return
        here = self._port.present(self._cold.read(forgotten_tokens) - self._port.tokens())
        deleted = self._cold.read(_asked_deletions)  # a deletion comes with the tokens of its entries
        alone = [token for token, seq in here.items() if seq not in deleted]
        waiting = [] if self.take(len(alone)) else alone

        def write(db: apsw.Connection) -> None:
            _note(db, "sync_forgotten", waiting, WAITS)
            for token in here.keys() - {*alone}:
                _note(db, "sync_forgotten", [token], deleted[here[token]])

        self._cold.write(write)

    def take(self, entries: int) -> bool:
        """Whether so many entries or lines may be taken without a question; then they are counted."""
        return self._cold.write(lambda db: self._take(db, entries))

    def held(self) -> list[HeldChange]:
        """All that waits for an answer."""
        return self._cold.read(_held_deletions) + self._held_forgettings() + self._cold.read(_held_notes)

    def answer(self, ids: Collection[str], *, accept: bool) -> None:
        """Notes the answer for the conversations of these ids; the caller deletes."""
        given = ACCEPTED if accept else REFUSED
        chosen = {seq for seq, id_ in self._cold.read(lambda db: fetch(db, _IDS)) if id_ in ids}
        forgotten = [token for token, (seq, _) in self._waiting_tokens().items() if seq in chosen]

        def write(db: apsw.Connection) -> None:
            here = deletions.tokens(db)
            _note(db, "sync_due", [token for token, _ in fetch(db, _WAITING) if here.get(token) in chosen], given)
            _note(db, "sync_forgotten", forgotten, given)

        self._cold.write(write)

    def _take(self, db: apsw.Connection, entries: int) -> bool:
        if self._ask_above is None or not entries:
            return True
        now = to_ms(self._cold.clock.now())
        run(db, "DELETE FROM sync_unasked WHERE abs(? - taken_ms) > ?", (now, _WEEK_MS))
        ((taken,),) = fetch(db, "SELECT coalesce(sum(entries), 0) FROM sync_unasked")
        if taken + entries > self._ask_above:
            return False
        run(db, "INSERT INTO sync_unasked (taken_ms, entries) VALUES (?, ?)", (now, entries))
        return True

    def _decide_deletions(self, db: apsw.Connection) -> None:
        due = fetch(db, "SELECT token, device FROM sync_due WHERE answer = 0")
        here = deletions.tokens(db) if due else {}
        for token, device in due:
            size = _size(db, here.get(token, 0))
            is_touched = first(db, _TOUCHED, (here.get(token), device.rpartition(" ")[2])) is not None
            is_taken = self._ask_above is None or not size or (is_touched and self._take(db, size))
            _note(db, "sync_due", [token], ACCEPTED if is_taken else WAITS)

    def _waiting_tokens(self) -> dict[str, tuple[int, str]]:
        """The forgettings that wait: by token the seq of the conversation, and the device."""
        sql = "SELECT token, device FROM sync_forgotten WHERE answer = ?"
        tokens = dict(self._cold.read(lambda db: fetch(db, sql, (WAITS,))))
        here = self._port.present(tokens) if self._port and tokens else {}
        return {token: (seq, tokens[token]) for token, seq in here.items()}

    def _held_forgettings(self) -> list[HeldChange]:
        deleted = self._cold.read(_asked_deletions)
        sizes = Counter(change for change in self._waiting_tokens().values() if change[0] not in deleted)
        return self._cold.read(
            lambda db: [_change(db, "forgetting", seq, size, device) for (seq, device), size in sizes.items()]
        )


def _asked_deletions(db: apsw.Connection) -> dict[int, int]:
    """The answers on deletions of conversations that are here, by the conversation's seq."""
    due = fetch(db, "SELECT token, answer FROM sync_due")
    here = deletions.tokens(db) if due else {}
    return {here[token]: given for token, given in due if token in here}


def _note(db: apsw.Connection, table: str, tokens: Iterable[str], answer: int) -> None:
    run_many(db, f"UPDATE {table} SET answer = ? WHERE token = ?", [(answer, token) for token in tokens])


def _held_deletions(db: apsw.Connection) -> list[HeldChange]:
    waiting = fetch(db, _WAITING)
    here = deletions.tokens(db) if waiting else {}
    found = [(here[token], device) for token, device in waiting if token in here]
    return [_change(db, "deletion", seq, _size(db, seq), device) for seq, device in found]


def _held_notes(db: apsw.Connection) -> list[HeldChange]:
    sql = "SELECT path, held_lines, held_by FROM sync_merged WHERE held_by <> '' ORDER BY path"
    return [HeldChange("note", path, "", lines, device) for path, lines, device in fetch(db, sql)]


def _change(
    db: apsw.Connection, kind: Literal["deletion", "forgetting"], seq: int, entries: int, device: str
) -> HeldChange:
    ((id_, title),) = fetch(db, "SELECT id, title FROM conversations WHERE seq = ?", (seq,))
    return HeldChange(kind, id_, visible_line(to_text(title)), entries, device)


def _size(db: apsw.Connection, seq: int) -> int:
    ((size,),) = fetch(db, "SELECT count(*) FROM entries WHERE conversation = ? AND kind <> 'observation'", (seq,))
    return int(size)
