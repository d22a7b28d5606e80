"""Words in MEMORY.md and memory/*.md, line by line, and in the versions of all files."""

from collections.abc import Collection

from memory.cold.encoding import to_bytes
from memory.cold.secret import keyed
from memory.forget.work import ForgetWork, StepResult
from memory.forgotten.fingerprints import Fingerprints
from memory.hot.parse import lines_of, parse
from memory.versions.manifest import Version


def line_hash(secret: bytes, line: str) -> str:
    """What stands for a line of a note in the journal."""
    return keyed(secret, f"line {line.strip()}")


def forget_notes(work: ForgetWork) -> StepResult:
    """Takes the lines out of the notes; a note that has no words left goes with its heading."""
    hot, gone = work.memory.hot, 0
    hot.look()
    for file in hot.files():
        if file.path in work.job.kept or file.problem:
            continue
        hashes = frozenset(line.line for line in work.job.lines if line.file == file.path)
        numbers = lines_that_go(work, file.text, hashes)
        if numbers:
            hot.edit(file.path, lambda before, hashes=hashes, name=file.path: _without(work, name, before, hashes))
            gone += len(numbers)
    return StepResult({"lines": gone})


def lines_that_go(work: ForgetWork, text: str, hashes: Collection[str]) -> list[int]:
    """The numbers of the lines, from 0, that are named or hold any of the words."""
    secret = work.memory.cold.secret
    lines = lines_of(text)
    named = {number for number, line in enumerate(lines) if hashes and line_hash(secret, line) in hashes}
    return sorted(named | set(_holding(work.prints, lines)))


def forget_versions(work: ForgetWork) -> StepResult:
    """Takes the same lines out of every version of every file, but of those that the person keeps."""
    secret = work.memory.cold.secret

    def forgotten(version: Version, body: bytes) -> bytes | None:
        if version.path in work.job.kept:
            return None
        hashes = frozenset(line.line for line in work.job.lines if line.file == version.path)
        lines = body.splitlines(keepends=True)
        kept = [
            line
            for line in lines
            if not work.prints.holds(line)
            and not (hashes and line_hash(secret, line.decode("utf-8", "replace")) in hashes)
        ]
        rest = b"".join(kept)
        if work.prints.holds(rest):  # over a line's end, or no text
            rest = b""
        return rest if rest != body else None

    return StepResult({"versions": work.memory.versions.store.rewrite(forgotten, work.replaced)})


def _without(work: ForgetWork, name: str, before: str, hashes: frozenset[str]) -> str:
    numbers = set(lines_that_go(work, before, hashes))
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
