"""What was written after a forgetting began: it stays, and so is not looked for.

Answers to messages from before it are no part of that: the model was sent the words.
"""

from collections.abc import Iterator

import apsw
from msgspec.structs import replace

from memory.cold.encoding import to_bytes
from memory.cold.sql import fetch
from memory.forget.notes import lines_that_go
from memory.forget.pieces import cases, encodings
from memory.forget.work import ForgetWork, entry_bytes, line_hash
from memory.forgotten.fingerprints import Fingerprints
from memory.forgotten.journal import ForgetJob, NoteLine
from memory.hot.parse import lines_of
from memory.memory import Memory

_LAST = "SELECT (SELECT ifnull(max(seq), 0) FROM entries), (SELECT ifnull(max(seq), 0) FROM conversations)"


def limited(memory: Memory, job: ForgetJob) -> ForgetJob:
    """The job, limited to what is here now. All lines of notes that go are named in it by their hashes."""

    def last(db: apsw.Connection) -> tuple[int, int]:
        ((entry, conversation),) = fetch(db, _LAST)
        return entry, conversation

    entry, conversation = memory.cold.read(last)
    versions = memory.versions.store.versions()
    return replace(
        job,
        lines=tuple(dict.fromkeys((*job.lines, *_lines(memory, job)))),
        last_entry=entry,
        last_conversation=conversation,
        last_version=max((version.number for version in versions), default=0),
    )


def written_later(work: ForgetWork) -> tuple[list[str], Fingerprints]:
    """Entries and notes of later that hold any of the words, by their names, and the words in them."""
    names: dict[str, None] = {}
    words: set[str] = set()
    for name, text in _later_texts(work):
        if spans := work.prints.spans(text):
            names[name] = None
            words.update(text[span.start : span.end].decode("utf-8", "replace") for span in spans)
    return list(names), Fingerprints.of(encodings(cases(words)), work.memory.cold.secret)


def _lines(memory: Memory, job: ForgetJob) -> Iterator[NoteLine]:
    work = ForgetWork(memory, job)
    memory.hot.look()
    for file in memory.hot.files():
        lines = lines_of(file.text)
        for number in () if work.keeps(file.path) else lines_that_go(work, file.path, file.text):
            yield NoteLine(work.hashed(file.path), line_hash(memory.cold.secret, lines[number]))


def _later_texts(work: ForgetWork) -> Iterator[tuple[str, bytes]]:
    if work.job.last_entry is None:
        return
    for batch in entry_bytes(work.memory, work.job.last_entry):
        for entry in batch:
            if not work.is_earlier(entry):
                yield entry.id, entry.words
    work.memory.hot.look()
    for file in work.memory.hot.files():
        lines = lines_of(file.text)
        going = {*lines_that_go(work, file.path, file.text)}
        kept = {line.line for line in work.job.kept_lines}
        for number, line in enumerate(lines):
            if number not in going and line_hash(work.memory.cold.secret, line) not in kept:
                yield file.path, to_bytes(line)
