"""Which versions are kept: all of a while, then the last of each day, and always the newest of each file."""

from collections.abc import Sequence
from datetime import timedelta

from foundation.clock import from_ms
from memory.settings import VersionSettings
from memory.versions.manifest import Version


def kept_versions(versions: Sequence[Version], now_ms: int, settings: VersionSettings) -> list[Version]:
    """Those that are kept, in their order. Days are those of UTC, so that two machines drop the same."""
    now = from_ms(now_ms)
    all_from = now - timedelta(days=settings.all_days)
    daily_from = all_from - timedelta(days=settings.daily_days)
    newest = {version.path: version.number for version in versions}
    last_of_day = {(version.path, from_ms(version.time_ms).date()): version.number for version in versions}

    def is_kept(version: Version) -> bool:
        time = from_ms(version.time_ms)
        if time >= all_from or newest[version.path] == version.number:
            return True
        return time >= daily_from and last_of_day[version.path, time.date()] == version.number

    return [version for version in versions if is_kept(version)]
