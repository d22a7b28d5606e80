"""How an archived file is kept."""

from msgspec import Struct


class Filing(Struct, frozen=True, kw_only=True):
    """`kind` is of the conversation that stands for the file, `origin` of the archive.

    Without `keep_entry` no entry stands for its pages, and search does not find them.
    """

    keep_entry: bool = True
    kind: str = "archive"
    origin: str = "file"
