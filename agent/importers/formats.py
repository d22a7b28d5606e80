"""Which format a file has, and its entries, streamed."""

import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from agent.importers.chatgpt import read_chatgpt
from agent.importers.claude import read_claude
from agent.importers.json_array import NotAnArray, objects
from agent.importers.jsonl import read_jsonl
from agent.importers.record import Read
from foundation.files import open_for_reading, real

SMALL = 64 * 2**20  # bytes that are unpacked however densely they were packed
LARGEST_EXPORT = 4 * 2**30
DENSEST = 100  # times its size: exports, which are JSON of talk, are packed 4 to 12 times


def read_file(path: Path, form: str | None) -> Iterator[Read]:
    """The entries of a file in this format, or in the one that it shows. Raises NotAnArray, OSError."""
    form = form or detect(path)
    if form == "jsonl":
        with open_for_reading(real(path)) as lines:
            yield from read_jsonl(lines, path.stem)
        return
    read = read_chatgpt if form == "chatgpt" else read_claude
    with _conversations(path) as found:
        yield from read(found)


def detect(path: Path) -> str:
    """jsonl, chatgpt or claude, by the file's beginning."""
    if not _is_zip(path):
        with open_for_reading(real(path)) as lines:
            first = lines.readline(1 << 20).removeprefix(b"\xef\xbb\xbf").lstrip()
        if first and not first.startswith(b"[") and path.suffix != ".json":
            return "jsonl"
    with _conversations(path) as found:
        match next(iter(found), None):
            case {"mapping": _}:
                return "chatgpt"
            case {"chat_messages": _}:
                return "claude"
            case {"text": _}:
                return "jsonl"
            case _:
                raise NotAnArray(
                    "Unknown format",
                    f"{path} is neither JSONL, nor an export of ChatGPT or Claude.",
                    "Name it with --from.",
                )


@contextmanager
def _conversations(path: Path) -> Generator[Iterator[Any]]:
    """The conversations of an export: the JSON itself, or a zip that holds it in one or several files."""
    if not _is_zip(path):
        with open_for_reading(real(path)) as stream:
            yield objects(stream, path.name)
        return
    with open_for_reading(real(path)) as file, zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if _holds_conversations(name)]
        if not names:
            raise NotAnArray("No conversations", f"{path} holds no conversations.json.", "Is it the whole export?")
        _refuse_bomb(path, [archive.getinfo(name) for name in names])
        yield _from_zip(archive, sorted(names))


def _is_zip(path: Path) -> bool:
    with open_for_reading(real(path)) as file:
        return zipfile.is_zipfile(file)


def _refuse_bomb(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuses what unpacks to far more than an export would. A member never gives more than it declares."""
    unpacked = sum(member.file_size for member in members)
    packed = max(sum(member.compress_size for member in members), 1)
    if unpacked <= SMALL or (unpacked <= LARGEST_EXPORT and unpacked / packed <= DENSEST):
        return
    raise NotAnArray(
        "Too large unpacked",
        f"{path} would unpack to {unpacked / 2**20:,.0f} MB, {unpacked / packed:,.0f} times what it takes; "
        f"up to {LARGEST_EXPORT / 2**20:,.0f} MB and {DENSEST} times are taken.",
        "If it is a true export, unpack it and import its conversations.json.",
    )


def _from_zip(archive: zipfile.ZipFile, names: list[str]) -> Iterator[Any]:
    for name in names:
        with archive.open(name) as stream:
            yield from objects(cast(BinaryIO, stream), name)


def _holds_conversations(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return last.startswith("conversations") and last.endswith(".json") and not name.startswith("__MACOSX")
