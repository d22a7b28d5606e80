"""The snapshot that a person named: by its id, the beginning of it, or a time."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from foundation.clock import LATEST_MS, to_ms
from foundation.errors import Misuse
from memory.backup.place import BackupPlace
from memory.backup.retention import readable_snapshots
from memory.backup.snapshot import Snapshot, read_snapshot, snapshot_ids

_SHORTEST_ID = 8
_TIME: Final = re.compile(r"(\d{8}T\d{6})(\d{3})Z-")  # the beginning of an id


def choose_snapshot(place: BackupPlace, at: str | None, now_ms: int = LATEST_MS) -> Snapshot:
    """The snapshot with that id, or the newest one that is not later than that time.

    Without `at` the newest that is not later than `now_ms`; where all of them are, the latest. Raises Misuse where
    there is none, NotABackup, BackupDamaged, NewerBackup.
    """
    ids = snapshot_ids(place)
    if at is None:
        later = ids_after(ids, now_ms)
        newest = read_snapshot(place, next((id_ for id_ in reversed(ids) if id_ not in later), ids[-1]))
        origins = {each.origin for each in readable_snapshots(place)[0]}
        if len(origins) > 1:
            raise Misuse(
                "Several workspaces",
                f"{place.name} holds snapshots of {len(origins)} workspaces.",
                "Choose one with `--at ID`; `backup list` shows the ids.",
            )
        return newest
    matching = [id for id in ids if id == at or (len(at) >= _SHORTEST_ID and id.startswith(at))]  # noqa: A001
    if len(matching) == 1 or at in matching:
        return read_snapshot(place, at if at in matching else matching[0])
    until = _latest(at)
    earlier = [snapshot for snapshot in readable_snapshots(place)[0] if snapshot.time_ms <= until]
    if not earlier:
        raise Misuse(
            "No such snapshot",
            f"{place.name} has no snapshot from {at!r} or earlier.",
            "`backup list` shows the snapshots and their times.",
        )
    return earlier[-1]


def ids_after(ids: list[str], now_ms: int) -> tuple[str, ...]:
    """Those of the ids whose time is after `now_ms`: the clock was ahead when they were made, or is behind now."""
    return tuple(id_ for id_ in ids if _time_ms(id_) > now_ms)


def _time_ms(id_: str) -> int:
    """The time in an id; 0 for a name that is none, which reading refuses."""
    found = _TIME.match(id_)
    try:
        return to_ms(datetime.strptime(found[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)) + int(found[2]) if found else 0
    except ValueError:
        return 0


def _latest(at: str) -> int:
    """The last millisecond that the words mean: a day means its end. A time without a zone is local."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise Misuse(
            "No such snapshot",
            f"{at!r} is neither the id of a snapshot nor a time.",
            "Give an id, a day (2026-03-14) or a time (2026-03-14 09:30).",
        ) from error
    span = timedelta(days=1) if len(at) <= len("2026-03-14") else timedelta(minutes=at.count(":") == 1, seconds=1)
    return to_ms(moment.astimezone(UTC) + span) - 1
