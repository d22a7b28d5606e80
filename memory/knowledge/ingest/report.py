"""The options of adding files, its progress and its report."""

from msgspec import Struct, field


class AddOptions(Struct, frozen=True, kw_only=True):
    """How files are added. `importance` and `category` are set by the person; None leaves them to the patterns and to
    the file's folder."""

    mode: str = "base"
    redact: bool = False
    again: bool = False  # add unchanged files, too
    category: str | None = None
    importance: float | None = None
    max_file_mb: int = 100


class FileMessage(Struct, frozen=True):
    """A file, and the message about it."""

    name: str
    source: str
    why: str = ""
    hint: str = ""
    id: str = ""


class AddReport(Struct, kw_only=True):
    """Filled while files are added. `bad`: of a supported kind, but unreadable. `skipped`: of an unsupported kind, or
    excluded by rule. `removed`: memories whose files are gone from disk."""

    added: list[FileMessage] = field(default_factory=list[FileMessage])
    changed: list[FileMessage] = field(default_factory=list[FileMessage])
    unchanged: int = 0
    bad: list[FileMessage] = field(default_factory=list[FileMessage])
    skipped: list[FileMessage] = field(default_factory=list[FileMessage])
    removed: list[FileMessage] = field(default_factory=list[FileMessage])
    deleted: list[FileMessage] = field(default_factory=list[FileMessage])  # by retention
    purged: list[FileMessage] = field(
        default_factory=list[FileMessage]
    )  # older versions that held what `redact` takes out
    forgotten: list[FileMessage] = field(default_factory=list[FileMessage])  # out of view, merged or smaller now
    said: list[str] = field(default_factory=list[str])
    read_as: list[FileMessage] = field(
        default_factory=list[FileMessage]
    )  # files that are not UTF-8, with the detected encoding
    budget: int = 0  # vision tokens that the view may take
    secrets: int = 0
    redacted: bool = False
    pages: int = 0
    text_tokens: int = 0
    vision_tokens: int = 0  # of the pages that were made


class AddProgress(Struct, frozen=True):
    """`done` of `total` files, and the name of the current one."""

    done: int
    total: int
    name: str
