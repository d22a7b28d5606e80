"""What a request holds besides the passages recalled for it, as it stands now: the latest word wins. Pure.

Messages are read from the newest back. What a change says replaces what it names (`replaces: …`) in everything before
it: the head's memory, earlier changes, and notes recalled for earlier messages.
"""

import re
from collections.abc import Iterator

from models.chat.quoting import Source, only_asks, terms
from models.messages import Message, Recalled, Request, Role, Text

CHANGES = "changes"
QUOTED_BEFORE = "offline"  # the speaker that has no words of its own
REPHRASED = 0.5  # of the shorter line's words: the same note, edited

_HOT = re.compile(r"memor|remember|note", re.IGNORECASE)
_IN_VIEW = re.compile(r"memor|remember|summary|summaries|observation|note", re.IGNORECASE)
_NAMES = {"memory": "[MEMORY.md]", "summary": "[this conversation, summed up]"}
_TOLD = re.compile(
    r"^- (?:(?:changed|new) in (?P<new>.+?)|(?P<now>.+?) now says|note m_\w+ is again as it was) ?(?:\(m_[^)]*\))?: "
)
_REPLACES = re.compile(r"^\s+replaces: (.+)$")
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)  # of Markdown: how to edit it, and when a note was written
_MARK = re.compile(r"^\s*(?:[-*+]|#{1,6}|>|\d{1,3}[.)])\s+")


def source_of(part: Recalled) -> Source:
    """A recalled passage, under its citation, its day and its trust."""
    cited = str(part.citation)
    if part.time and not part.citation.time:
        cited = f"{cited[:-1]} · {part.time:%Y-%m-%d}]"
    return Source(part.text, f"{cited} · {part.trust.value}", part.citation.speaker)


def recalled_now(request: Request) -> list[Source]:
    """The passages recalled for the current message, the best first, less what offline itself once quoted."""
    best_first = sorted(request.recalled, key=lambda part: part.rank)
    return [source_of(part) for part in best_first if part.citation.speaker != QUOTED_BEFORE]


def in_view(request: Request) -> list[Source]:
    """What memory did not recall because it stands in the request already, newest first."""
    past = _Past()
    for part in request.recalled:
        past.hold(part)
    found: list[Source] = []
    for n, message in enumerate(reversed(request.messages)):
        found.extend(_held_by(message, past, current=n == 0))
    return found


class _Past:
    """What newer messages replaced, and the notes that they recalled."""

    def __init__(self) -> None:
        self.replaced: set[str] = set()
        self.stands: set[str] = set()
        self.notes: dict[tuple[str, str], list[str]] = {}

    def hold(self, part: Recalled) -> None:
        if part.citation.kind == "memory":
            self.notes.setdefault(_place(part), []).extend(map(_bare, part.text.splitlines()))

    def told(self, said: list[str], replaced: list[str]) -> None:
        """`said` stands, unless a newer change replaced it; `replaced` does not, unless a newer one said it."""
        self.stands.update(line for line in said if line not in self.replaced)
        self.replaced.update(line for line in replaced if line not in self.stands)

    def current(self, text: str) -> str:
        """The text's lines that no newer message replaced."""
        return "\n".join(line for line in text.splitlines() if not self._is_old(_bare(line)))

    def current_note(self, part: Recalled) -> str:
        """The same of a recalled note, less the lines that a later recall of it says otherwise."""
        newer = self.notes.get(_place(part), [])
        lines = self.current(part.text).splitlines()
        return "\n".join(line for line in lines if not any(_edited(_bare(line), other) for other in newer))

    def _is_old(self, line: str) -> bool:
        if line in self.replaced:
            return True
        cut = line.strip("… ")  # a passage may begin or end within a line
        return len(cut) > 11 and line not in self.stands and any(cut in whole for whole in self.replaced)


def _held_by(message: Message, past: _Past, *, current: bool) -> Iterator[Source]:
    for part in (part for part in message.parts if isinstance(part, Text) and part.injected == CHANGES):
        yield from _changes(part.text, past)
    if current:
        return
    for part in message.parts:
        match part:
            case Recalled() if part.citation.speaker == QUOTED_BEFORE:
                pass
            case Recalled() if part.citation.kind == "memory":
                whole = source_of(part)
                yield Source(past.current_note(part), whole.cited, whole.speaker)
            case Recalled():
                yield source_of(part)
            case Text(text=text, injected="") if message.role is Role.USER and not only_asks(text):
                yield Source(text, "[this conversation]")
            case Text(text=text, injected=what) if _HOT.search(what):
                yield Source(past.current(_COMMENT.sub("", text)), _NAMES.get(what, f"[{what}]"))
            case Text(text=text, injected=what) if _IN_VIEW.search(what):
                yield Source(text, _NAMES.get(what, f"[{what}]"))
            case _:
                pass
    for part in message.parts:
        if isinstance(part, Recalled):
            past.hold(part)


def _changes(text: str, past: _Past) -> Iterator[Source]:
    """What a message tells of changed notes, by file."""
    said: dict[str, list[str]] = {}
    replaced: list[str] = []
    for line in text.splitlines():
        if told := _TOLD.match(line):
            path = told["new"] or told["now"] or "MEMORY.md"
            words = line[told.end() :].split(" / ")
            said.setdefault(path, []).extend(map(_bare, words))
        elif old := _REPLACES.match(line):
            replaced.append(_bare(old[1]))
    for path, lines in said.items():
        yield Source(past.current("\n".join(lines)), f"[{path}]")
    past.told([line for lines in said.values() for line in lines], replaced)


def _place(part: Recalled) -> tuple[str, str]:
    time = part.time or part.citation.time
    return part.citation.ref.partition("#")[0], f"{part.citation.title} {time}"


def _bare(line: str) -> str:
    return _MARK.sub("", line).strip()


def _edited(line: str, newer: str) -> bool:
    """Whether `newer` is the line with other words in it."""
    one, other = set(terms(line)), set(terms(newer))
    return line != newer and bool(one - other) and len(one & other) >= REPHRASED * (min(len(one), len(other)) or 1)
