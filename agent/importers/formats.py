"""Detection of a file's format, and streaming of its entries."""

import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from agent.importers.agent_sessions import PROBED_BYTES, agent_format
from agent.importers.chatgpt import read_chatgpt
from agent.importers.chunks import holds_chunks, read_chunks
from agent.importers.claude import knowledge_documents, knowledge_file, read_claude
from agent.importers.claude_code import read_claude_code
from agent.importers.codex import read_codex
from agent.importers.gemini import read_gemini, read_gemini_object
from agent.importers.json_array import NotAnArray, UnknownFormat, objects
from agent.importers.jsonl import bounded_lines, read_jsonl
from agent.importers.opencode import is_storage, read_opencode, read_storage
from agent.importers.record import ParsedRecord, as_object
from agent.importers.settings import ImportSettings
from agent.importers.skipped import Skipped, SkipReason
from foundation.files import open_for_reading, resolve_path

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)  # RuntimeError: encrypted
SMALL_BYTES = 64 * 2**20  # unpacked at any compression ratio
MAX_EXPORT_BYTES = 4 * 2**30
MAX_RATIO = 100  # compression ratio; that of exports is 4 to 12


_LINE_READERS = {"jsonl": read_jsonl, "claude-code": read_claude_code, "codex": read_codex, "gemini": read_gemini}
_FIRST_KEYS = {
    ("mapping",): "chatgpt",
    ("chat_messages",): "claude",
    ("sessionId", "messages"): "gemini",
    ("info", "messages"): "opencode",
    ("text",): "jsonl",
    ("docs",): "claude",
    ("conversations_memory",): "claude",
}
"""Keys of a file's first object, and its format."""
_METADATA = (".json", ".html", ".txt", ".md")
_OBJECT_READERS = {"gemini": read_gemini_object, "opencode": read_opencode}


def read_file(path: Path, form: str | None, limits: ImportSettings | None = None) -> Iterator[ParsedRecord]:
    """The entries of a file in the given or the detected format. Raises NotAnArray, OSError."""
    limits = limits or ImportSettings()
    form = form or detect(path, limits)
    if form == "chunks":
        yield from read_chunks(path, limits)
        return
    if form == "opencode" and is_storage(resolve_path(path)):
        yield from read_storage(resolve_path(path))
        return
    if form in _OBJECT_READERS and path.suffix == ".json":
        with _conversations(path, limits) as sessions:
            for session in sessions:
                yield from _OBJECT_READERS[form](as_object(session), path.stem)
        return
    if (reader := _LINE_READERS.get(form)) is not None:
        with open_for_reading(resolve_path(path)) as stream:
            yield from reader(bounded_lines(stream, limits.line), path.stem)
        return
    of_export = read_chatgpt if form == "chatgpt" else read_claude
    with _conversations(path, limits) as conversations:
        yield from of_export(conversations)
    yield from _other_members(path)


def read_knowledge(path: Path, limits: ImportSettings) -> Iterator[tuple[str, str]]:
    """Name and text of each document, instruction and memory in an export of Claude."""
    with _conversations(path, limits) as items:
        for item in map(as_object, items):
            if knowledge_file(item):
                yield from knowledge_documents(item)


def _other_members(path: Path) -> Iterator[Skipped]:
    """What a zip holds besides conversations and knowledge."""
    with open_for_reading(resolve_path(path)) as stream:
        if zipfile.is_zipfile(stream):
            for name in zipfile.ZipFile(stream).namelist():
                if not name.endswith("/") and not _holds_conversations(name) and not _holds_knowledge(name):
                    suffix = Path(name).suffix.lower()
                    kind = Path(name).name if suffix == ".json" else f"{suffix or 'other'} file"
                    yield Skipped(name, kind, SkipReason.METADATA if suffix in _METADATA else SkipReason.MEDIA)


def detect(path: Path, limits: ImportSettings | None = None) -> str:
    """The format by the file's name and beginning: one of FORMATS. Raises NotAnArray for another."""
    if holds_chunks(resolve_path(path)) or is_storage(resolve_path(path)):
        return "chunks" if holds_chunks(resolve_path(path)) else "opencode"
    with open_for_reading(resolve_path(path)) as stream:
        if not _is_zip(path, stream):
            stream.seek(0)
            first_line = stream.readline(1 << 20).removeprefix(b"\xef\xbb\xbf").lstrip()
            if first_line and not first_line.startswith(b"[") and path.suffix != ".json":
                stream.seek(0)
                return agent_format(bounded_lines(stream, PROBED_BYTES)) or "jsonl"
    with _conversations(path, limits or ImportSettings()) as conversations:
        first = as_object(next(iter(conversations), None))
        for keys, form in _FIRST_KEYS.items():
            if first.keys() >= {*keys}:
                return form
        raise UnknownFormat(
            "Unknown format",
            f"{path} is not an export of ChatGPT or Claude, a session of a coding agent, a chunk file or JSONL.",
            "Give the format with --from.",
        )


def _is_zip(path: Path, stream: BinaryIO) -> bool:
    """Whether the file is a zip. Raises NotAnArray if only its name says so."""
    is_zip = zipfile.is_zipfile(stream)
    if path.suffix.lower() == ".zip" and not is_zip:
        raise NotAnArray("Damaged", f"{path} is not a ZIP archive.", "Is the download complete?")
    return is_zip


@contextmanager
def _conversations(path: Path, limits: ImportSettings) -> Generator[Iterator[Any]]:
    """The conversations of an export: a JSON file, or a zip with one or several."""
    with open_for_reading(resolve_path(path)) as stream:
        if not _is_zip(path, stream):
            stream.seek(0)
            yield objects(stream, path.name, limits.conversation)
            return
        stream.seek(0)
        try:
            with _archive_members(path, stream, limits) as conversations:
                yield conversations
        except _BROKEN as error:
            raise NotAnArray(
                "Damaged", f"{path} cannot be unpacked ({error}).", "Check that the export is complete."
            ) from error


@contextmanager
def _archive_members(path: Path, stream: BinaryIO, limits: ImportSettings) -> Generator[Iterator[Any]]:
    with zipfile.ZipFile(stream) as archive:
        names = [name for name in archive.namelist() if _holds_conversations(name) or _holds_knowledge(name)]
        if not any(map(_holds_conversations, names)):
            raise UnknownFormat(
                "No conversations", f"{path} contains no conversations.json.", "Check that the export is complete."
            )
        _refuse_bomb(path, [archive.getinfo(name) for name in names])
        yield _from_zip(archive, sorted(names), limits)


def _refuse_bomb(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuses a zip that unpacks to far more than an export. A member never unpacks to more than it declares.

    zlib unpacks only as much as is read; bzip2 and LZMA do not limit it, so they are refused.
    """
    if any(member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for member in members):
        raise NotAnArray(
            "Unknown compression", f"{path} uses a compression that exports do not use.", "Unpack it first."
        )
    unpacked = sum(member.file_size for member in members)
    packed = max(sum(member.compress_size for member in members), 1)
    if unpacked <= SMALL_BYTES or (unpacked <= MAX_EXPORT_BYTES and unpacked / packed <= MAX_RATIO):
        return
    raise NotAnArray(
        "Too large unpacked",
        f"{path} would unpack to {unpacked / 2**20:,.0f} MB, {unpacked / packed:,.0f} times its size; "
        f"up to {MAX_EXPORT_BYTES / 2**20:,.0f} MB and {MAX_RATIO} times are allowed.",
        "If it is an export, unpack it and import its conversations.json.",
    )


def _from_zip(archive: zipfile.ZipFile, names: list[str], limits: ImportSettings) -> Iterator[Any]:
    for name in names:
        with archive.open(name) as stream:
            yield from objects(cast(BinaryIO, stream), name, limits.conversation)


def _holds_conversations(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return last.startswith("conversations") and last.endswith(".json") and not name.startswith("__MACOSX")


def _holds_knowledge(name: str) -> bool:
    return (
        not name.startswith("__MACOSX")
        and re.search(r"(?:^|/)(?:(?:projects|memories)|projects/[^/]+)\.json$", name) is not None
    )
