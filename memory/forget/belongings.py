"""What belongs to conversations and archives that go, by its origin: their names, and the texts beside archives."""

from collections.abc import Iterable, Iterator
from typing import Final

from foundation.files import read_bytes
from memory.archive.write.sidecar import file_stem, kept_files_of
from memory.cold.encoding import to_text
from memory.cold.sql import batches, fetch
from memory.forget.choice import Chosen
from memory.forget.pieces import SHORTEST_LINE, is_common, short_pieces_of
from memory.forget.said_elsewhere import roles_of_sources
from memory.forget.scan import files_below
from memory.forget.work import line_hash
from memory.forgotten.fingerprints import FORGOTTEN
from memory.forgotten.journal import NoteLine
from memory.hot.parse import lines_of
from memory.memory import Memory
from memory.pages.types import ArchiveRow
from memory.records import Entry

MOST_PIECES: Final = 4000  # of a job: more are taken evenly from all of them
_NAMES: Final = """SELECT seq, title FROM conversations
    UNION SELECT seq, CAST(id AS BLOB) FROM conversations WHERE source <> ''
    UNION SELECT conversation, CAST(label AS BLOB) FROM labels
    UNION SELECT conversation, CAST(label AS BLOB) FROM archives
    UNION SELECT a.conversation, CAST(t.tag AS BLOB) FROM archive_tags t JOIN archives a ON a.seq = t.archive
    UNION SELECT conversation, CAST(name AS BLOB) FROM knowledge
    UNION SELECT conversation, CAST(source AS BLOB) FROM knowledge
    UNION SELECT conversation, CAST(speaker AS BLOB) FROM entries"""


def names_of(memory: Memory, conversations: Iterable[int]) -> list[str]:
    """Titles, labels, imported ids and other names of these conversations that no other one has, also as file names."""
    whose, going = dict[str, set[int | None]](), set(conversations)
    for seq, name in memory.cold.read(lambda db: fetch(db, _NAMES)) if going else ():
        whose.setdefault(to_text(name), set()).add(seq)
    alone = {name for name, seqs in whose.items() if seqs <= going and name and FORGOTTEN not in name}
    named = {form for name in alone for form in (name, file_stem(name))}
    return sorted(name for name in named if len(name) >= SHORTEST_LINE or not is_common(name))


def kept_lines_of(memory: Memory, conversations: Iterable[int]) -> Iterator[NoteLine]:
    """What goes of the texts beside archives of these conversations (memory.archive.write.sidecar): each text that is
    one of theirs as a whole, and of one that was edited the lines that are theirs."""
    going, folder = set(conversations), memory.workspace.kept_texts
    files = {path: read_bytes(path).decode("utf-8", "replace") for path in files_below(folder)} if going else {}
    archives = [archive for archive in memory.vault.archives() if archive.origin == "file"] if files else []
    for archive in (archive for archive in archives if archive.conversation in going):
        text, beside = _text_of(memory, archive), set(kept_files_of(folder, archive.label))
        alike = [other for other in archives if other.label == archive.label and other.conversation not in going]
        others = {_text_of(memory, other) for other in alike}
        theirs = _lines(text or "") - _lines("\n".join(filter(None, others)))
        staying = {other.label for other in archives if other.conversation not in going}
        for path, body in files.items():
            name = path.relative_to(memory.workspace.root).as_posix()
            is_other = path not in beside and any(path in kept_files_of(folder, label) for label in staying)
            if (body == text and not is_other) or (text is None and path in beside and not alike):
                yield _line(memory, name, body)
            elif path in beside and body not in others:
                yield from (_line(memory, name, line) for line in lines_of(body) if line.strip() in theirs)


def _text_of(memory: Memory, archive: ArchiveRow) -> str | None:
    """The archive's text; None if a page of it cannot be read."""
    parts = [memory.vault.exact_text(page) for page in memory.vault.pages(archive.seq)]
    return None if not parts or None in parts else "".join(filter(None, parts))


def _lines(text: str) -> set[str]:
    return {line.strip() for line in lines_of(text)} - {""}


def _line(memory: Memory, file: str, line: str) -> NoteLine:
    return NoteLine(line_hash(memory.cold.secret, file), line_hash(memory.cold.secret, line))


def entries_of(memory: Memory, chosen: Chosen) -> Iterator[Entry]:
    """The entries that go, with those of the conversations that do."""
    for batch in batches(list(chosen.entries)):
        yield from memory.conversations.entries(batch).values()
    for conversation in chosen.conversations:
        yield from memory.conversations.all_entries(conversation)


def text_of(memory: Memory, entry: Entry) -> str:
    """The entry's text, as far as it can be read."""
    return memory.vault.readable_text(entry).text if entry.text is None else entry.text


def short_pieces(memory: Memory, chosen: Chosen) -> tuple[list[str], int]:
    """Short lines, codes and names of what goes, and the number of those that are not looked for."""
    found = dict.fromkeys((*chosen.names, *names_of(memory, chosen.conversations)))
    sources, common = memory.cold.read(roles_of_sources), 0
    for entry in entries_of(memory, chosen):
        if entry.seq in sources:
            pieces, more = short_pieces_of(text_of(memory, entry))
            found.update(dict.fromkeys(pieces))
            common += more
    kept = list(found)[:: -(-len(found) // MOST_PIECES) or 1]
    return kept, common + len(found) - len(kept)
