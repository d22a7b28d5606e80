"""Words in MEMORY.md and memory/*.md, line by line, and in the versions of all files."""

import apsw

from foundation.clock import to_ms
from memory.cold import note_names as shared_names
from memory.cold.encoding import to_bytes
from memory.cold.note_lines import forget_note_lines
from memory.forget.work import ForgetWork, StepCounts, line_hash
from memory.forgotten.fingerprints import Fingerprints
from memory.hot.move import move_note, remove_note
from memory.hot.parse import lines_of, parse
from memory.versions.cause import Author, Cause, caused_by
from memory.versions.manifest import Version


def forget_notes(work: ForgetWork) -> StepCounts:
    """Takes the lines out of the notes; a note that has no words left goes with its heading, and a file of memory/ in
    which nothing is left is removed."""
    hot, gone = work.memory.hot, 0
    hot.look()
    for file in hot.files():
        if file.problem:
            continue
        if numbers := lines_that_go(work, file.path, file.text):
            with caused_by(Author.USER, "forget"):
                hot.edit(file.path, lambda before, name=file.path: _without(work, name, before))
                if file.path.startswith("memory/") and not _text(work, file.path).strip():
                    remove_note(hot, work.workspace, file.path)
            gone += len(numbers)
    return StepCounts({"lines": gone})


def lines_that_go(work: ForgetWork, file: str, text: str, *, is_earlier: bool = False) -> list[int]:
    """The numbers of the file's lines, from 0, that are named or hold any of the words, but for those that stay.

    Once a job is begun it names all lines, and what is written later stays; `is_earlier`: the text is from before it.
    """
    lines = lines_of(text)
    name, going = work.hashed(file), work.lines_named(file)
    staying = {line.line for line in work.job.kept_lines if line.file == name}
    hashes = [line_hash(work.memory.cold.secret, line) for line in lines] if going or staying else [""] * len(lines)
    found = {number for number, hash_ in enumerate(hashes) if hash_ in going}
    if is_earlier or work.job.last_entry is None:
        found |= set(_holding(work.prints, lines))
    return sorted(number for number in found if hashes[number] not in staying)


def holds_besides_kept(work: ForgetWork, file: str, body: bytes) -> bool:
    """Whether a text of this file holds any of the words in another line than those that the person keeps."""
    if not keeps_lines(work, file):
        return work.prints.holds(body)
    return bool(lines_that_go(work, file, body.decode("utf-8", "replace")))


def keeps_lines(work: ForgetWork, file: str) -> bool:
    """Whether the person keeps lines with the words in this file."""
    return bool(work.job.kept_lines) and work.hashed(file) in {line.file for line in work.job.kept_lines}


def forget_note_names(work: ForgetWork) -> StepCounts:
    """Gives notes whose names hold the words other names, with what is left in them, and the versions that devices
    share, without the lines."""
    hot, cold, count = work.memory.hot, work.memory.cold, 0
    _forget_shared(work)
    hot.look()
    files = {file.path: file for file in hot.files()}
    others = {path: new for path in files if (new := _named(work, path)) != path and not files[path].problem}
    now_ms = to_ms(cold.clock.now())
    cold.write(
        lambda db: shared_names.forget_note_names(db, cold.secret, others, lambda path: _named(work, path), now_ms)
    )
    for path, new in others.items():
        move_note(hot, work.workspace, files[path], new, Cause(Author.USER, "forget"))
        count += 1
    left = [file.path for file in hot.files()]
    cold.write(lambda db: shared_names.settle_names(db, cold.secret, left))
    return StepCounts({"file names": count})


def _named(work: ForgetWork, path: str) -> str:
    """The name of the file after the job."""
    return path if keeps_lines(work, path) or work.keeps(path) else work.named(path)


def _text(work: ForgetWork, name: str) -> str:
    return next((file.text for file in work.memory.hot.files() if file.path == name), "")


def forget_versions(work: ForgetWork) -> StepCounts:
    """Takes the same lines out of every version of every file, but of those that the person keeps."""

    def forgotten(version: Version, body: bytes) -> bytes | None:
        text = body.decode("utf-8", "replace")
        is_earlier = version.number <= (work.job.last_version or 0)
        numbers = set(lines_that_go(work, version.path, text, is_earlier=is_earlier))
        if work.keeps(version.path):
            return None
        if not numbers:  # in another encoding they stand on no line
            hides = is_earlier and not keeps_lines(work, version.path) and work.prints.holds(body)
            return b"" if hides else None
        rest = "".join(line for number, line in enumerate(lines_of(text)) if number not in numbers)
        return rest.encode()

    count = work.memory.versions.store.rewrite(forgotten, work.replaced, lambda path: _named(work, path))
    return StepCounts({"versions": count})


def _forget_shared(work: ForgetWork) -> None:
    """Takes the lines out of the versions that devices share, but for those that a note holds still: it was written
    since, or the person keeps it."""
    hot, cold = work.memory.hot, work.memory.cold
    hot.look()
    held = {file.path: frozenset(map(str.strip, lines_of(file.text))) for file in hot.files() if not file.problem}

    def going(path: str, text: str) -> list[int]:
        lines, staying = lines_of(text), held.get(path, frozenset())
        numbers = lines_that_go(work, path, text, is_earlier=True)
        return [number for number in numbers if lines[number].strip() not in staying]

    def transaction(db: apsw.Connection) -> int:
        return forget_note_lines(db, cold.secret, going, to_ms(cold.clock.now()))

    cold.write(transaction)


def _without(work: ForgetWork, name: str, before: str) -> str:
    numbers = set(lines_that_go(work, name, before))
    for note in parse(before, name):
        said = range(note.words_first - 1, note.words_last)
        lines = lines_of(before)
        words = {number for number in said if number < len(lines) and lines[number].strip()}
        heading = set(range(note.line_first - 1, note.line_last))
        if (words and words <= numbers) or (heading & numbers and not words - numbers):
            numbers |= heading
    after = [line for number, line in enumerate(lines_of(before)) if number not in numbers]
    while after and not after[0].strip() and numbers and 0 in numbers:
        after.pop(0)
    return "".join(after)


def _holding(prints: Fingerprints, lines: list[str]) -> list[int]:
    """The numbers of the lines that hold any of the words, also those that they begin on."""
    if not prints:
        return []
    starts: list[int] = []
    at = 0
    raw = [to_bytes(line) for line in lines]
    for line in raw:
        starts.append(at)
        at += len(line)
    found: set[int] = set()
    for span in prints.spans(b"".join(raw)):
        found.update(n for n, start in enumerate(starts) if start < span.end and start + len(raw[n]) > span.start)
    return sorted(found)
