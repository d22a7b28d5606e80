"""A text that a person names, turned into pages: theirs, kept to the byte, its secrets counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from foundation.clock import iso
from foundation.errors import Misuse
from foundation.files import FileTooLarge, UnsafePath, made_folder, read_bytes, real, write_atomically
from foundation.privacy import Cleared, TextSource, as_given, clear, examine
from foundation.program import PROGRAM
from memory.archive.json import archived_as_json
from memory.archive.write.sidecar import file_stem, keep_text
from memory.memory import Memory
from memory.pages.render.blocks import LayoutText
from memory.pages.render.modes import DENSE, mode_named
from memory.pages.types import ArchiveResult


class FileArchiveResult(Struct, frozen=True, kw_only=True):
    """What `archive FILE` did. `text_path` is the text that stands beside the pages, where it does."""

    archived: ArchiveResult
    text: str  # as it was archived
    pictures: tuple[Path, ...]  # one a page, in the page cache
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
    """Archives `text` under `label`; with `keep` the text stands as `memory/archive/<label>.md` too.

    Without `mode` or `dense` pages are as the settings say.

    Secrets are counted, and taken out where `redact` says so. Raises Misuse for an empty text or label.
    """
    if not label.strip():
        raise Misuse("No label", "An archive needs a label.", "--label NAME")
    if not text.strip():
        raise Misuse("Nothing to archive", "The text is empty.")
    if on_page is not None:
        on_page(0)  # a long text is looked over for a while before its first page
    label = clear(label)
    kept, secrets = _looked_over(text, redact=redact)
    archived = memory.vault.archive_text(kept, label=label, mode=mode, dense=dense, on_page=on_page)
    path = keep_text(memory.workspace.kept_texts, label, kept) if keep else None
    pictures = tuple(memory.vault.png(page.id) for page in archived.pages)
    return FileArchiveResult(
        archived=archived, text=kept, pictures=pictures, text_path=path, secrets=secrets, redacted=redact
    )


def _looked_over(text: str, *, redact: bool) -> tuple[Cleared, int]:
    """The text that is archived, and how many secrets were found. Nothing else that was found is held any longer."""
    findings = examine(text, TextSource.OTHER)
    return findings.cleared if redact else as_given(text), len(findings.secrets)


def copy_pictures(kept: FileArchiveResult, folder: Path) -> tuple[Path, ...]:
    """Copies of the pages in `folder`, named by label and number."""
    folder = made_folder(folder)
    copies: list[Path] = []
    for page, picture in zip(kept.archived.pages, kept.pictures, strict=True):
        copies.append(folder / f"{file_stem(kept.archived.label)}-{page.number:04}-{page.id}.png")
        write_atomically(copies[-1], read_bytes(picture))
    return tuple(copies)


def draw_natural(kept: FileArchiveResult, folder: Path) -> tuple[Path, ...]:
    """The whole text in `folder` as pages for people (draw.natural), as large as the largest archived."""
    from memory.pages.render.readable import natural_pages

    folder = made_folder(folder)
    label = kept.archived.label
    largest = max(kept.archived.pages, key=lambda page: page.width)
    mode = mode_named(largest.mode, dense=largest.cell == DENSE.name)
    drawn: list[Path] = []
    for number, png in enumerate(natural_pages([LayoutText(kept.text)], mode, label), 1):
        drawn.append(folder / f"{file_stem(label)}-natural-{number:04}.png")
        write_atomically(drawn[-1], png)
    return tuple(drawn)


def described(kept: FileArchiveResult) -> dict[str, Any]:
    """The object of `palimpsest archive --json`, less its schema."""
    pictures = {page.id: path for page, path in zip(kept.archived.pages, kept.pictures, strict=True)}
    return {
        **archived_as_json(kept.archived, pictures.__getitem__),
        "text_path": str(kept.text_path) if kept.text_path else None,
        "secrets": kept.secrets,
        "redacted": kept.redacted,
    }


def sentence(kept: FileArchiveResult) -> str:
    """What was done, for a person."""
    archived = kept.archived
    counted = counted_as_pages(
        len(archived.pages), archived.text_tokens, archived.vision_tokens, archived.profile, archived.tokenizer
    )
    return f"“{archived.label}”: {counted}"


def counted_as_pages(
    pages: int, text_tokens: int, vision_tokens: int, profile: str, tokenizer: str = "estimate"
) -> str:
    """What words became: their own tokens, and those of the pictures, as the profile's reader counts them."""
    ratio = f", {text_tokens / vision_tokens:.3g} to 1" if vision_tokens else ""
    return (
        f"{pages:,} page{'s' if pages != 1 else ''}, each read back and compared: {text_tokens:,} text tokens "
        f"({tokenizer}) stand on {vision_tokens:,} vision tokens ({profile}){ratio}."
    )


def archives_markdown(memory: Memory) -> str:
    """What was archived, newest first, as a table."""
    archives = memory.vault.archives()
    if not archives:
        return "Nothing is archived yet."
    rows = [
        f"| #{one.seq} | {iso(one.created)[:10]} | {one.pages:,} | {one.text_tokens:,} | {one.vision_tokens:,} | "
        f"{_in_a_cell(one.label)}{' · pinned' if one.pinned else ''} |"
        for one in archives
    ]
    return "\n".join(["| no | when | pages | text tokens | vision tokens | label |", "|-|-|-|-|-|-|", *rows])


def _in_a_cell(words: str) -> str:
    return " ".join(words.split()).replace("\\", "\\\\").replace("|", "\\|")


def secrets_sentence(kept: FileArchiveResult) -> str:
    """What was found of secrets; "" where there are none."""
    if not kept.secrets:
        return ""
    found = f"{kept.secrets:,} secret{'s' if kept.secrets != 1 else ''}"
    if kept.redacted:
        return f"{found} taken out."
    return f"{found} found and kept, for the text is yours. --redact takes them out."


def read_text_file(path: Path, max_file_mb: int) -> str:
    """The file's text, to the byte. Raises Misuse where it is none, or larger than that."""
    try:
        raw = read_bytes(real(path), most=max_file_mb * 2**20)
    except FileTooLarge as error:
        raise too_large_to_archive(str(path), max_file_mb) from error
    except IsADirectoryError as error:
        hint = f"Name a file; `{PROGRAM} knowledge add` takes folders."
        raise Misuse("A folder", f"{path} is a folder.", hint) from error
    except FileNotFoundError as error:
        raise Misuse("No such file", f"There is no file {path}.", "- reads standard input.") from error
    except UnsafePath as error:
        raise Misuse("Not a file", error.message, error.hint) from error
    except OSError as error:
        raise Misuse("Cannot be read", f"{path} cannot be read ({error.strerror}).") from error
    return text_of(raw, str(path))


def too_large_to_archive(name: str, max_file_mb: int) -> Misuse:
    return Misuse(
        "Too large to archive at once",
        f"{name} is larger than {max_file_mb:,} MB (archive.max_file_mb).",
        "Split it (`split -C 16m FILE`), or raise the setting: archiving takes some 10 times its size in memory.",
    )


def text_of(raw: bytes, name: str) -> str:
    """UTF-8, a byte order mark and line ends kept. Raises Misuse where it is something else."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Misuse("Not text", f"{name} is not UTF-8 text (byte {error.start}).", "Convert it to UTF-8.") from error


def archive_markdown(memory: Memory, name: str, on_page: Callable[[int], None] | None = None) -> str:
    """`/archive FILE`, answered. A relative name begins where the person stands, as on the command line."""
    path = Path(name).expanduser().absolute()
    kept = archive_text(memory, read_text_file(path, memory.vault.settings.max_file_mb), path.stem, on_page=on_page)
    pages = "\n".join(f"- `{page.id}` ({page.mode}, {page.chars:,} characters)" for page in kept.archived.pages)
    return "\n\n".join(part for part in (sentence(kept), pages, secrets_sentence(kept)) if part)
