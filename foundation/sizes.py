"""Sizes in bytes as a person reads them. A megabyte (MB) is 2^20 bytes, a kilobyte (kB) 2^10: in settings, too."""

from pathlib import Path

KILOBYTE = 2**10
MEGABYTE = 2**20
GIGABYTE = 2**30


def format_size(count: int) -> str:
    """`12.3 MB`; `45.6 kB` below a tenth of a megabyte, `45.6 GB` from ten gigabytes on."""
    if abs(count) >= 10 * GIGABYTE:
        return f"{count / GIGABYTE:,.1f} GB"
    if abs(count) >= MEGABYTE // 10:
        return f"{count / MEGABYTE:,.1f} MB"
    return f"{count / KILOBYTE:,.1f} kB"


def free_bytes(folder: Path) -> int | None:
    """Bytes on the folder's disk that this user may still write; None where the system does not say."""
    try:
        import shutil

        return shutil.disk_usage(folder).free
    except OSError:
        return None
