"""Loose pictures of pages, `<page id>.png`: for a person to open and for a vision model to be sent. Packs keep them."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from foundation.clock import Clock
from foundation.files import (
    child,
    exists,
    make_private_folder,
    read_bytes,
    remove,
    scan,
    touch,
    write_atomically,
)
from memory.settings import ArchiveSettings

SURE_FOR = timedelta(days=1)
"""A picture stays for so long after its path was given out, whatever the bounds are."""

_SWEEP_SECONDS = 3600


class PageCache:
    """A folder of pictures, bounded by `page_cache_mb` and `page_cache_days` of the settings."""

    def __init__(self, folder: Path, clock: Clock, settings: ArchiveSettings) -> None:
        self._folder = folder
        self._clock = clock
        self._most_bytes = settings.page_cache_mb * 2**20
        self._most_seconds = timedelta(days=settings.page_cache_days).total_seconds()
        self._swept_at: float | None = None

    def put(self, page_id: str, png: bytes) -> Path:
        """The page as a file, which stays for a day at least."""
        make_private_folder(self._folder)
        self.sweep()
        path = child(self._folder, f"{page_id}.png")
        if not exists(path) or read_bytes(path) != png:
            write_atomically(path, png, sync=False)  # compared above before it is given out again
        touch(path, self._clock.now().timestamp())
        return path

    def drop(self, page_id: str) -> None:
        remove(child(self._folder, f"{page_id}.png"), missing_ok=True)

    def sweep(self) -> None:
        """Deletes what is older than the bound, then what was used longest ago while all of it is too large.

        Once an hour at most. Nothing of the last day is deleted. A picture that is open (Windows) stays for now. Raises
        UnsafePath where the folder is a link.
        """
        now = self._clock.now().timestamp()
        if self._swept_at is not None and now - self._swept_at < _SWEEP_SECONDS:
            return
        self._swept_at = now
        pictures = sorted((found.st_mtime, found.st_size, path) for path, found in scan(self._folder, "pg_*.png"))
        total = sum(size for _, size, _ in pictures)
        for used, size, path in pictures:
            age = now - used
            if age <= SURE_FOR.total_seconds() or (age <= self._most_seconds and total <= self._most_bytes):
                break
            with suppress(OSError):
                remove(path, missing_ok=True)
                total -= size
