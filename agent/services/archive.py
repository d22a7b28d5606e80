"""Archiving of a text or a file as pages: kept to the byte, its secrets counted or redacted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from foundation.clock import iso
from foundation.errors import Misuse
from foundation.files import FileTooLarge, UnsafePath, read_bytes, resolve_new_folder, resolve_path, write_atomically
from foundation.paths import expand_home
from foundation.privacy import Cleared, TextSource, as_given, clear, examine
from foundation.program import PROGRAM
from memory.archive.json import archived_as_json
from memory.archive.write.sidecar import file_stem
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE, mode_named
from memory.pages.types import ArchiveResult, ArchiveRow, PageRow
from memory.settings import AUTO

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory


class FileArchiveResult(Struct, frozen=True, kw_only=True):
    """The result of `archive FILE`. `text_path` is the text file next to the pages, if there is one."""

    archived: ArchiveResult
    text: str  # as it was archived
    pictures: tuple[Path, ...]  # of the pages, in the page cache
    text_path: Path | None
    secrets: int  # found in the text
    redacted: bool


def archive_text(
    memory: Memory,
    text: str,
    label: str,
    *,
    mode: str | None = None,
    dense: bool | None = None,
    keep: bool = True,
    redact: bool = False,
    on_page: Callable[[int], None] | None = None,
) -> FileArchiveResult:
    """Archives `text` under `label`; with `keep` the text is also written to `memory/archive/<label>.md`.

    `mode` and `dense` default to the settings; the mode auto is the cheapest layout for the settings' profile. Secrets
    are counted, and removed with `redact`. Raises Misuse for an empty text or label.
    """
    if not label.strip():
        raise Misuse("No label", "An archive needs a label.", "--label NAME")
    if not text.strip():
        raise Misuse("Nothing to archive", "The text is empty.")
    if on_page is not None:
        on_page(0)  # a long text is scanned for a while before its first page
    label = clear(label)
    archived_text, secrets = _cleared_text(text, redact=redact)
    paths: dict[str, Path] = {}
    if (mode or memory.vault.settings.mode) == AUTO:
        choice = memory.vault.choose_layout(archived_text, dense=dense)
        mode, dense = choice.mode.name, choice.mode.cell == DENSE
    archived = memory.vault.archive_text(
        archived_text, label=label, mode=mode, dense=dense, on_page=on_page, pictures=paths
    )
    path = memory.vault.keep_text(label, archived_text) if keep else None
    pictures = tuple(paths.get(page.id) or memory.vault.png(page.id) for page in archived.pages)
    return FileArchiveResult(
        archived=archived,
        text=archived_text,
        pictures=pictures,
        text_path=path,
        secrets=secrets,
        redacted=redact,
    )


def _cleared_text(text: str, *, redact: bool) -> tuple[Cleared, int]:
    """The text to archive, and the number of secrets. The findings themselves are dropped at once."""
    findings = examine(text, TextSource.OTHER)
    return findings.cleared if redact else as_given(text), len(findings.secrets)


def copy_pictures(result: FileArchiveResult, folder: Path) -> tuple[Path, ...]:
    """Copies the pages to `folder`, named by label and number."""
    folder = resolve_new_folder(folder)
    copies: list[Path] = []
    for page, picture in zip(result.archived.pages, result.pictures, strict=True):
        copies.append(folder / f"{file_stem(result.archived.label)}-{page.number:04}-{page.id}.png")
        write_atomically(copies[-1], read_bytes(picture))
    return tuple(copies)


def draw_natural(result: FileArchiveResult, folder: Path) -> tuple[Path, ...]:
    """Draws the whole text in `folder` as pages for people (render.readable), as large as the largest archived."""
    from memory.pages.render.readable import natural_pages

    folder = resolve_new_folder(folder)
    label = result.archived.label
    largest = max(result.archived.pages, key=lambda page: page.width)
    mode = mode_named(largest.mode, dense=largest.cell == DENSE.name)
    paths: list[Path] = []
    for number, png in enumerate(natural_pages([LayoutText(result.text)], mode, label), 1):
        paths.append(folder / f"{file_stem(label)}-natural-{number:04}.png")
        write_atomically(paths[-1], png)
    return tuple(paths)


def archive_object(result: FileArchiveResult) -> dict[str, Any]:
    """The object of `palimpsest archive --json`, without its schema."""
    pictures = {page.id: path for page, path in zip(result.archived.pages, result.pictures, strict=True)}
    return {
        **archived_as_json(result.archived, pictures.__getitem__),
        "text_path": str(result.text_path) if result.text_path else None,
        "secrets": result.secrets,
        "redacted": result.redacted,
    }


def archive_sentence(result: FileArchiveResult) -> str:
    """The result in a sentence."""
    archived = result.archived
    return f"“{archived.label}”: {pages_sentence(len(archived.pages), archived.text_tokens)}"


def pages_sentence(pages: int, text_tokens: int) -> str:
    """Pages and tokens of the text in a sentence."""
    return f"{pages:,} page{'s' if pages != 1 else ''}, read back and verified; {text_tokens:,} tokens of text."


def archives_markdown(memory: Memory) -> str:
    """The archives, newest first, as a Markdown table."""
    archives = memory.vault.archives()
    if not archives:
        return "No archives yet."
    rows = [
        f"| #{archive.seq} | {iso(archive.created)[:10]} | {archive.pages:,} | {archive.text_tokens:,} | "
        f"{archive.vision_tokens:,} | {_in_a_cell(archive.label)}{' · pinned' if archive.pinned else ''} |"
        for archive in archives
    ]
    return "\n".join(["| no | when | pages | text tokens | vision tokens | label |", "|-|-|-|-|-|-|", *rows])


def archive_row_sentence(row: ArchiveRow) -> str:
    """Where an archive comes from, when it was made, and its tokens."""
    tags = f" Tags: {', '.join(row.tags)}." if row.tags else ""
    return (
        f"#{row.seq}, from {'a' if row.origin != 'knowledge' else ''} {row.origin}".replace("  ", " ")
        + f", {iso(row.created)[:10]}: {row.text_tokens:,} text tokens on {row.vision_tokens:,} vision tokens.{tags}"
    )


def archive_pages(memory: Memory, archive: int) -> list[PageRow]:
    """The pages of one archive, in order. Blocks."""
    return sorted(memory.vault.pages(archive), key=lambda page: page.number)


def _in_a_cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def secrets_sentence(result: FileArchiveResult) -> str:
    """Secrets in a sentence; "" where there are none."""
    if not result.secrets:
        return ""
    count = f"{result.secrets:,} secret{'s' if result.secrets != 1 else ''}"
    if result.redacted:
        return f"{count} removed."
    return f"{count} found and kept in the text. --redact removes them."


def read_text_file(path: Path, max_file_mb: int) -> str:
    """The file's text, to the byte. Raises Misuse for a file that is no text or too large."""
    try:
        raw = read_bytes(resolve_path(path), most=max_file_mb * 2**20)
    except FileTooLarge as error:
        raise too_large_to_archive(str(path), max_file_mb) from error
    except IsADirectoryError as error:
        hint = f"Give a file; for folders use `{PROGRAM} knowledge add`."
        raise Misuse("A folder", f"{path} is a folder.", hint) from error
    except FileNotFoundError as error:
        raise Misuse("No such file", f"There is no file {path}.", "- reads standard input.") from error
    except UnsafePath as error:
        raise Misuse("Not a file", error.message, error.hint) from error
    except OSError as error:
        raise Misuse("Cannot be read", f"{path} cannot be read ({error.strerror}).") from error
    return decode_text(raw, str(path))


def too_large_to_archive(name: str, max_file_mb: int) -> Misuse:
    return Misuse(
        "Too large to archive at once",
        f"{name} is larger than {max_file_mb:,} MB (archive.max_file_mb).",
        "Split it (`split -C 16m FILE`), or raise the setting: archiving needs about 10 times the file size in memory.",
    )


def decode_text(raw: bytes, name: str) -> str:
    """Decodes UTF-8; a byte order mark and line ends are kept. Raises Misuse for anything else."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Misuse("Not text", f"{name} is not valid UTF-8 (byte {error.start}).", "Convert it to UTF-8.") from error


def archive_markdown(memory: Memory, name: str, on_page: Callable[[int], None] | None = None) -> str:
    """The output of `/archive FILE`. A relative name is resolved in the working directory, as on the command line."""
    path = expand_home(name).absolute()
    result = archive_text(memory, read_text_file(path, memory.vault.settings.max_file_mb), path.stem, on_page=on_page)
    pages = "\n".join(f"- `{page.id}` ({page.mode}, {page.chars:,} characters)" for page in result.archived.pages)
    return "\n\n".join(part for part in (archive_sentence(result), pages, secrets_sentence(result)) if part)
