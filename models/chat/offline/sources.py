"""Sources in a request besides its recalled passages, in their latest state: the latest change wins. Pure.

Messages are read from the newest back. What a change says replaces what it names (`replaces: …`) in everything before
it: the head's memory, earlier changes, and notes recalled for earlier messages.

What offline says of the files that go with a message: their first lines, and those that answer. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from foundation.text.similarity import overlap
from foundation.trust import Citation, Trust
from models.chat.offline.phrases import SUPERSEDED_ON, LanguagePhrases, asks, asks_summary
from models.chat.offline.question import content_terms
from models.chat.offline.quotes import (
    LONGEST_QUOTE,
    Quote,
    QuoteSource,
    best_quotes,
    is_only_questions,
    telling_sentences,
)
from models.excerpts import line_count, split_excerpt, without_placeholders
from models.messages import Image, Message, RecalledSpan, Request, Role, Text

FIRST_LINES = 5

_UNREAD = re.compile(r"\A(?P<name>[^\n]+): a picture of (?P<size>\d+×\d+) pixels\. This model cannot see it, and ")
_READ = re.compile(r"\A(?P<name>[^\n]+) \(a picture of (?P<size>\d+×\d+) pixels; [^\n]+\)\n")
_KINDS = {
    ".json": "JSON",
    ".md": "Markdown",
    ".csv": "CSV",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".toml": "TOML",
    ".py": "Python",
    ".html": "HTML",
    ".xml": "XML",
}


class AttachmentSource(Struct, frozen=True):
    """A file as the request holds it. `text` is "" for a picture that nobody read; `size` is a picture's, in pixels.

    `lines` are those of the whole file, `last` is the last of them in view, `passages` those recalled from its archive.
    """

    name: str
    kind: str
    text: str = ""
    size: str = ""
    lines: int = 0
    last: int = 0
    passages: tuple[QuoteSource, ...] = ()


def attached_files(message: Message) -> list[AttachmentSource]:
    """The files that go with this message, in their order."""
    files: list[AttachmentSource] = []
    for part in message.parts:
        match part:
            case Image(name=name, width=width, height=height):
                files.append(AttachmentSource(name or "the picture", "picture", size=f"{width}×{height}"))
            case Text(text=text, injected="attachment"):
                file = _from_text(text)
                recalled = [span for span in message.parts if isinstance(span, RecalledSpan)]
                passages = tuple(source_of(span) for span in recalled if span.citation.title == file.name)
                files.append(replace(file, passages=passages))
            case _:
                pass
    return files


def _from_text(text: str) -> AttachmentSource:
    if picture := _UNREAD.match(text):
        return AttachmentSource(picture["name"], "picture", size=picture["size"])
    if picture := _READ.match(text):
        words = text[picture.end() :]
        return AttachmentSource(picture["name"], "picture", words, picture["size"], line_count(words))
    name, _, rest = text.partition("\n")
    kind = "calendar" if rest.startswith("Event: ") else _KINDS.get(PurePath(name).suffix.lower(), "text")
    shown, excerpt = split_excerpt(rest)
    lines = line_count(rest)
    return AttachmentSource(
        name, kind, shown, lines=excerpt.lines if excerpt else lines, last=excerpt.last if excerpt else lines
    )


def without_names(question: str, files: list[AttachmentSource]) -> str:
    """The question less the names of its files, which nothing answers."""
    question = without_placeholders(question)
    for file in files:
        question = question.replace(f"@{file.name}", " ").replace(file.name, " ")
    return question


def describe_files(question: str, files: list[AttachmentSource], words: LanguagePhrases) -> str:
    """Markdown. Each quoted line (`> …`) is a verbatim piece of its file."""
    if not files:
        return ""
    parts = [_unread(file, words) if not file.text.strip() else _shown(file, question, words) for file in files]
    return "\n\n".join(parts)


def text_below(question: str, name: str) -> AttachmentSource | None:
    """The text under a first line that asks, as piped input stands under the prompt."""
    request_line, _, below = question.strip().partition("\n")
    below = below.strip("\n")
    if not below.strip() or not (asks_summary(request_line) or asks(request_line)):
        return None
    return AttachmentSource(name, "text", below, lines=line_count(below), last=line_count(below))


def instead_of_summary(files: list[AttachmentSource], words: LanguagePhrases) -> str:
    """Markdown: that there is no summary, then the telling sentences of each file, each under its line."""
    return "\n\n".join([words.no_file_summary, *(_telling(file, words) for file in files)])


def _telling(file: AttachmentSource, words: LanguagePhrases) -> str:
    in_lines = file.kind not in {"JSON", "calendar"} and not file.size  # their texts are not the lines of the file
    chosen = telling_sentences(file.text) if in_lines and line_count(file.text) > FIRST_LINES else []
    if not chosen:
        return describe_files("", [file], words)
    shown = [words.telling.format(name=file.name, last=file.last, lines=file.lines)]
    for piece in chosen:
        start = piece.start + _offset(piece.text, file.text[piece.start : piece.end])
        number = file.text.count("\n", 0, start) + 1
        shown += [f"> {piece.text}", f"— {words.at_line.format(name=file.name, line=number)}"]
    return "\n\n".join(shown)


def _offset(sentence: str, paragraph: str) -> int:
    """Where in its paragraph, with its line breaks, the sentence begins; 0 where it is not found."""
    words = r"\s*".join(map(re.escape, sentence[:60].split()))
    match = re.search(words, paragraph)
    return match.start() if match else 0


def _unread(file: AttachmentSource, words: LanguagePhrases) -> str:
    if file.size:
        return words.picture.format(name=file.name, size=file.size)
    return words.empty.format(name=file.name)


def _shown(file: AttachmentSource, question: str, words: LanguagePhrases) -> str:
    lines = [line.strip() for line in file.text.splitlines() if line.strip()]
    first = [_cut(line) for line in lines[:FIRST_LINES]]
    quotes = best_quotes(question, [QuoteSource(file.text, file.name), *file.passages], most=1)
    answering = [line for quote in quotes if quote.overlap for line in quote.lines]
    cited = [quote.source.cited for quote in quotes if quote.source in file.passages]
    more = [line for line in answering if not any(line in shown_line or shown_line in line for shown_line in first)]
    opening = words.attached if len(lines) <= FIRST_LINES else words.attached_begins
    kind = words.kinds.get(file.kind, file.kind)
    shown = [opening.format(name=file.name, kind=kind, lines=file.lines), _quoted(first)]
    if more:
        shown += [words.attached_answers, _quoted(more), *(f"— {words.citation(source)}" for source in cited)]
    return "\n\n".join(shown)


def _quoted(lines: list[str]) -> str:
    return "  \n".join(f"> {line}" for line in lines)  # two spaces: the lines stay lines, in one paragraph


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE].rsplit(" ", 1)[0]


CHANGES = "changes"
QUOTED_BEFORE = "offline"  # the speaker that has no words of its own
REPHRASED = 0.5  # of the shorter line's terms: the same note, edited

_HOT = re.compile(r"memor|remember|note", re.IGNORECASE)
_IN_VIEW = re.compile(r"memor|remember|summary|summaries|observation|note", re.IGNORECASE)
_NAMES = {"memory": "[MEMORY.md]", "summary": "[this conversation, summed up]"}
_TOLD = re.compile(
    r"^- (?:(?:changed|new) in (?P<new>.+?)|(?P<now>.+?) now says|note m_\w+ is again as it was) ?(?:\(m_[^)]*\))?: "
)
_REPLACES = re.compile(r"^\s+replaces: (.+)$")
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)  # of Markdown: how to edit it, and when a note was written
_MARK = re.compile(r"^\s*(?:[-*+]|#{1,6}|>|\d{1,3}[.)])\s+")


def source_of(part: RecalledSpan, since: str = "") -> QuoteSource:
    """A recalled passage, under its citation, its day and its trust. `since`: the day on which it was superseded."""
    cited = str(part.citation)
    if part.time and not part.citation.time:
        cited = f"{cited[:-1]} · {part.time:%Y-%m-%d}]"
    text, document = without_placeholders(part.text), part.citation.kind in {"page", "file"}
    since = since or part.superseded
    return QuoteSource(
        text,
        f"{cited} · {part.trust.value}{_superseded_on(since)}",
        part.citation.speaker,
        document,
        superseded=bool(since),
        unverified=part.unverified,
        is_dated=part.is_dated,
        asked=part.asked,
    )


def _superseded_on(day: str) -> str:
    return f" · {SUPERSEDED_ON}{day}" if day else ""


def recalled_sources(request: Request) -> list[QuoteSource]:
    """The passages recalled for the current message, the best first, each with all of its text, less what offline
    itself once quoted. Two recalled parts of a passage are one source."""
    whole = {part.citation.ref: part for part in request.whole}
    sources: list[QuoteSource] = []
    used = set[str]()
    for part in sorted(request.recalled, key=lambda part: part.rank):
        ref = part.citation.ref
        if part.citation.speaker == QUOTED_BEFORE or ref in used or is_only_questions(part.text):
            continue
        source = source_of(part, request.superseded.get(ref, ""))
        if ref in whole:
            used.add(ref)
            source = replace(source, text=source_of(whole[ref]).text, asked=whole[ref].asked)
        sources.append(source)
    further = [
        part
        for ref, part in whole.items()
        if ref not in used and part.citation.speaker != QUOTED_BEFORE and not is_only_questions(part.text)
    ]
    return [
        *sources,
        *(replace(source_of(part, request.superseded.get(part.citation.ref, "")), listed=False) for part in further),
    ]


def request_sources(request: Request) -> list[QuoteSource]:
    """Sources that memory did not recall because the request has them already, newest first."""
    past = _HistorySources(request.superseded)
    for part in request.recalled:
        past.hold(part)
    sources: list[QuoteSource] = []
    cited = request.cited or (None,) * len(request.messages)
    for n, (message, citation) in enumerate(zip(reversed(request.messages), reversed(cited), strict=True)):
        sources.extend(_held_by(message, past, citation, current=n == 0))
    return [replace(source, in_view=True) for source in sources]


def with_lines(quote: Quote, notes: Sequence[RecalledSpan]) -> Quote:
    """The quote, cited by the lines of the notes it is from, with their trust; where they are not among these, by their
    file, whose text the request holds."""
    file = quote.source.notes
    if not file:
        return quote
    own_first = sorted(notes, key=lambda note: note.citation.ref != file)
    found = (next((place for note in own_first if (place := _place(line, note))), "") for line in quote.lines)
    cited = " ".join(dict.fromkeys(place for place in found if place))
    cited = cited or f"{quote.source.cited} · {Trust.EXACT.value}"
    return replace(quote, source=replace(quote.source, cited=cited))


def _place(quoted: str, note: RecalledSpan) -> str:
    """The citation of the note's line where the quoted words begin; "" where the note does not have them."""
    words = "".join(quoted.split())
    lines = ["".join(_bare(line).split()) for line in note.text.split("\n")]
    start = "".join(lines).find(words)
    if not words or start < 0 or not note.citation.lines:
        return ""
    ends = accumulate(map(len, lines))
    first, last = note.citation.lines
    if last - first + 1 != len(lines):  # the file has lines between that are no words of the note
        return f"{note.citation} · {note.trust.value}"
    number = first + next(n for n, end in enumerate(ends) if start < end)
    line = replace(note.citation, ref=f"{note.citation.ref}:{number}", lines=None)
    return f"{line} · {note.trust.value}"


class _HistorySources:
    """What newer messages replaced, and the notes that they recalled. `superseded`: a day by reference."""

    def __init__(self, superseded: Mapping[str, str]) -> None:
        self.superseded = superseded
        self.replaced: set[str] = set()
        self.stands: set[str] = set()
        self.notes: dict[tuple[str, str], list[str]] = {}

    def hold(self, part: RecalledSpan) -> None:
        if part.citation.kind == "memory":
            self.notes.setdefault(_location(part), []).extend(map(_bare, part.text.splitlines()))

    def told(self, said: list[str], replaced: list[str]) -> None:
        """`said` stands, unless a newer change replaced it; `replaced` does not, unless a newer one said it."""
        self.stands.update(line for line in said if line not in self.replaced)
        self.replaced.update(line for line in replaced if line not in self.stands)

    def current(self, text: str) -> str:
        """The text's lines that no newer message replaced."""
        return "\n".join(line for line in text.splitlines() if not self._is_old(_bare(line)))

    def current_note(self, part: RecalledSpan) -> str:
        """The same of a recalled note, less the lines that a later recall of it says otherwise."""
        newer = self.notes.get(_location(part), [])
        lines = self.current(part.text).splitlines()
        return "\n".join(line for line in lines if not any(_edited(_bare(line), other) for other in newer))

    def _is_old(self, line: str) -> bool:
        if line in self.replaced:
            return True
        cut = line.strip("… ")  # a passage may begin or end within a line
        return (
            len(cut) > 11 and line not in self.stands and any(cut in replaced_line for replaced_line in self.replaced)
        )


def _held_by(
    message: Message, past: _HistorySources, citation: Citation | None, *, current: bool
) -> Iterator[QuoteSource]:
    for part in (part for part in message.parts if isinstance(part, Text) and part.injected == CHANGES):
        yield from _changes(part.text, past)
    if current:
        return
    for part in message.parts:
        match part:
            case RecalledSpan() if part.citation.speaker == QUOTED_BEFORE:
                pass
            case RecalledSpan() if part.citation.kind == "memory":
                source = source_of(part)
                yield QuoteSource(past.current_note(part), source.cited, source.speaker)
            case RecalledSpan():
                yield source_of(part, past.superseded.get(part.citation.ref, ""))
            case Text(text=text, injected=""):
                yield from _spoken(text, message.role, citation, past.superseded)
            case Text(text=text, injected=what) if _HOT.search(what):
                name = _NAMES.get(what, f"[{what}]")
                yield QuoteSource(past.current(_COMMENT.sub("", text)), name, notes=name.strip("[]"))
            case Text(text=text, injected=what) if _IN_VIEW.search(what):
                yield QuoteSource(text, _NAMES.get(what, f"[{what}]"))
            case _:
                pass
    for part in message.parts:
        if isinstance(part, RecalledSpan):
            past.hold(part)


def _spoken(text: str, role: Role, citation: Citation | None, superseded: Mapping[str, str]) -> Iterator[QuoteSource]:
    """What a person said, without the name that the request has before it; questions alone say nothing."""
    name = f"{citation.speaker}: " if citation and citation.speaker else ""
    named = bool(name) and text.startswith(name)
    if (named or role is Role.USER) and not is_only_questions(text):
        speaker = citation.speaker if citation and named else ""
        since = superseded.get(citation.ref, "") if citation else ""
        cited = f"{citation or '[this conversation]'}{_superseded_on(since)}"
        yield QuoteSource(text.removeprefix(name), cited, speaker, superseded=bool(since))


def _changes(text: str, past: _HistorySources) -> Iterator[QuoteSource]:
    """What a message tells of changed notes, by file."""
    changes: dict[str, list[str]] = {}
    replaced: list[str] = []
    for line in text.splitlines():
        if match := _TOLD.match(line):
            path = match["new"] or match["now"] or "MEMORY.md"
            words = line[match.end() :].split(" / ")
            changes.setdefault(path, []).extend(map(_bare, words))
        elif old := _REPLACES.match(line):
            replaced.append(_bare(old[1]))
    for path, lines in changes.items():
        yield QuoteSource(past.current("\n".join(lines)), f"[{path}]", notes=path)
    past.told([line for lines in changes.values() for line in lines], replaced)


def _location(part: RecalledSpan) -> tuple[str, str]:
    time = part.time or part.citation.time
    return part.citation.ref.partition("#")[0], f"{part.citation.title} {time}"


def _bare(line: str) -> str:
    return _MARK.sub("", line).strip()


def _edited(line: str, newer: str) -> bool:
    """Whether `newer` is the line with other words in it."""
    old_terms, new_terms = set(content_terms(line)), set(content_terms(newer))
    return line != newer and bool(old_terms - new_terms) and overlap(old_terms, new_terms) >= REPHRASED
