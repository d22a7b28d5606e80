"""A store whose end is cut off: SQLite refuses the whole file, though the pages that are there are whole."""

_MARK = b"SQLite format 3\x00"
_PAGE_SIZE = slice(16, 18)  # big-endian; 1 stands for 65,536: https://sqlite.org/fileformat2.html#the_database_header
_PAGES = slice(28, 32)


def with_its_own_length(raw: bytes) -> bytes:
    """The bytes of a store whose header counts the pages that are there; the same bytes where it does, or is no header.

    SQLite reads such a file, and names as damaged what lay on the pages that are not there.
    """
    if not raw.startswith(_MARK) or len(raw) < 100:
        return raw
    size = int.from_bytes(raw[_PAGE_SIZE])
    pages = len(raw) // (1 << 16 if size == 1 else size or 1 << 16)
    if int.from_bytes(raw[_PAGES]) <= pages:
        return raw
    return raw[: _PAGES.start] + pages.to_bytes(4) + raw[_PAGES.stop :]
