"""What a person marked as private, what we injected ourselves, and blocks of private keys: found in text as it comes.

A scanner reads chunks and gives out what may be kept. Its answer depends on the text alone, never on where a chunk
ends; and its state depends only on what it gave out, so that a second pass changes nothing.

Where Markdown leaves doubt the text is private: a tag is talk about the tag only within a code span that is closed on
its line. In a fence it counts, for people paste logs there. What is private goes on where the closing tag stands in
a fence of its own that is closed later: there it may be part of what is private.
"""

import re
from enum import Enum
from typing import Final

from foundation.privacy.markdown_code import CodeContext
from foundation.privacy.redaction import Taken

PRIVATE = "[private]"
INJECTED = "[injected]"
KEY_BLOCK = "[secret: private-key]"
KEY_RULE = "private-key"

_OPEN = r"<[ \t]{0,3}[pP][rR][iI][vV][aA][tT][eE](?=[\s>]|/\s{0,8}>)|＜[pP][rR][iI][vV][aA][tT][eE]＞"
_CLOSE = r"<[ \t]{0,3}/[ \t]{0,3}[pP][rR][iI][vV][aA][tT][eE]\s{0,8}>|＜/[pP][rR][iI][vV][aA][tT][eE]＞"
_OURS = r"<palimpsest-(?P<name>[a-z][a-z0-9-]{0,39})(?=[\s>])"
_KEY = r"-----BEGIN[ A-Z0-9]{0,40} PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,3}(?=\s)"
_MARKS = r"(?P<line>\n)|(?P<run>`+)|(?P<tilde>~~~+)"
_OUTSIDE = re.compile(rf"{_MARKS}|(?P<open>{_OPEN})|(?P<ours>{_OURS})|(?P<key>{_KEY})")
_INSIDE = re.compile(rf"{_MARKS}|(?P<open>{_OPEN})|(?P<close>{_CLOSE})")
_TAGGISH = re.compile(r"<[ \t]{0,3}[pP][rR]|＜[pP]|<palimpsest-|-----BEGIN|Private-Lines")
TAG = re.compile(rf"(?:{_OPEN})(?:[^<>＜＞\n]{{0,80}}[>＞])?|{_CLOSE}")

_KEY_BODY = re.compile(r"[^<＜\[`~]{0,32768}")
_KEY_END = re.compile(r"-----END[ A-Z0-9]{0,40} PRIVATE KEY(?: BLOCK)?-----")
_PUTTY_END = re.compile(r"Private-MAC: [0-9a-f]{8,64}")
_KEY_WORDS = re.compile(r"[A-Za-z0-9+/=]{16}")
_KEY_CUT_OFF = re.compile(
    r"(?:(?:\s|\\[nr]|[\"'+,])*(?:[A-Z][A-Za-z-]{3,20}: [^\n<＜\[`~]{0,200}\n|[A-Za-z0-9+/=]{24,}))+"
)
_LONGEST_EVENT: Final = 100


def _prefixes(word: str) -> str:
    """A pattern for every beginning of `word`, the empty one included."""
    pattern = ""
    for letter in reversed(word):
        pattern = f"(?:[{letter}{letter.upper()}]{pattern})?"
    return pattern


def _beginnings(word: str) -> str:
    """A pattern for every beginning of `word` that is not empty."""
    pattern = ""
    for letter in reversed(word[1:]):
        pattern = f"(?:{re.escape(letter)}{pattern})?"
    return word[0] + pattern


_UNFINISHED = re.compile(
    rf"(?:<[ \t]{{0,3}}/?[ \t]{{0,3}}{_prefixes('private')}\s{{0,8}}/?\s{{0,8}}"
    rf"|＜/?{_prefixes('private')}"
    r"|<palimpsest-[a-z0-9-]{0,40}"
    r"|<p(?:a(?:l(?:i(?:m(?:p(?:s(?:e(?:s(?:t(?:-)?)?)?)?)?)?)?)?)?)?"
    r"|-----BEGIN[ A-Z0-9]{0,60}-{0,4}|-----?(?:B(?:E(?:G(?:I)?)?)?)?|-{1,4}"
    rf"|{_beginnings('Private-Lines: ')}|Private-Lines: \d{{0,3}}"
    r"|`+|~+)\Z"
)


def mentions_tags(text: str) -> bool:
    """Whether the scanner could find anything at all in the text."""
    return _TAGGISH.search(text) is not None


class Source(Enum):
    """Whose text it is.

    A person's own message: a tag that is never closed hides what follows. Anything else (an answer, a tool result, a
    file): only a closed pair hides. The default everywhere is PERSON, so that a forgotten argument keeps nothing
    private.
    """

    PERSON = "person"
    OTHER = "other"


class TagScanner:
    """Takes out private spans, injected blocks and private keys. `feed` and `close` give what may be kept."""

    def __init__(self, source: Source = Source.PERSON) -> None:
        self.source = source
        self.taken: list[Taken] = []
        self.depth = 0
        self._text = ""  # not yet decided
        self._offset = 0  # of _text within the input
        self._at = 0  # how far _text is decided
        self._opening = 0  # length of the tag that opened the private span that we are in
        self._since = 0  # where the private span that we are in began, in the input
        self._out: list[str] = []
        self._context = CodeContext()
        self._inner = CodeContext(fences_talk=True)
        self._never_ended: set[str] = set()  # endings that the rest of the text is known to lack

    def feed(self, chunk: str) -> str:
        self._text += chunk
        self._scan(final=False)
        return self._hand_out()

    def close(self) -> str:
        self._scan(final=True)
        if self.depth:
            end = self._offset + len(self._text)
            self.taken.append(Taken(self._since, end, PRIVATE, opening=self._opening, unclosed=True))
        return self._hand_out()

    def _hand_out(self) -> str:
        self._offset += self._at
        self._text = self._text[self._at :]
        self._at = 0
        out = "".join(self._out)
        self._out.clear()
        return out

    def _scan(self, *, final: bool) -> None:
        sure = len(self._text) if final else self._decidable()
        while self._at < sure:
            pattern = _INSIDE if self.depth else _OUTSIDE
            event = pattern.search(self._text, self._at)
            if event is None or event.start() >= sure:
                self._plain(sure)
                return
            self._plain(event.start())
            if not self._handle(event, final=final):
                return

    def _decidable(self) -> int:
        """Up to where nothing that is still to come can make an event begin."""
        start = max(self._at, len(self._text) - _LONGEST_EVENT)
        unfinished = _UNFINISHED.search(self._text, start)
        return unfinished.start() if unfinished else len(self._text)

    def _handle(self, event: re.Match[str], *, final: bool) -> bool:
        """Acts on one event; False where it cannot be judged yet."""
        context = self._inner if self.depth else self._context
        match event.lastgroup:
            case "line":
                context.newline()
                self._keep(event.end())
            case "run" | "tilde":
                context.run(event.group())
                self._keep(event.end())
            case "key":
                return self._key(event, final=final)
            case _:
                return self._tag(event, context, final=final)
        return True

    def _tag(self, event: re.Match[str], context: CodeContext, *, final: bool) -> bool:
        talk_until = context.talk_until(self._text, event.end(), final=final)
        if talk_until is None:
            return False
        if talk_until:
            context.plain(event.group())
            self._keep(event.end())
            return True
        match event.lastgroup:
            case "open":
                self._open(event)
            case "close":
                self._close(event)
            case _:
                return self._ours(event, final=final)
        return True

    def _open(self, event: re.Match[str]) -> None:
        if not self.depth:
            self._opening = len(event.group())
            self._begin_private(self._offset + event.start())
        self.depth += 1
        self._at = event.end()

    def _begin_private(self, since: int) -> None:
        self._since = since
        self._inner = CodeContext(fences_talk=True)
        self._mark(PRIVATE)

    def _close(self, event: re.Match[str]) -> None:
        self.depth -= 1
        self._at = event.end()
        if not self.depth:
            self.taken.append(Taken(self._since, self._offset + self._at, PRIVATE))

    def _ours(self, event: re.Match[str], *, final: bool) -> bool:
        ending = f"</palimpsest-{event['name']}>"
        end = -1 if ending in self._never_ended else self._text.find(ending, event.end())
        if end < 0:
            if final:  # never closed: somebody's words, not a block of ours
                self._never_ended.add(ending)
                self._context.plain(event.group())
                self._keep(event.end())
            return final
        start = self._offset + event.start()
        self._at = end + len(ending)
        self._mark(INJECTED)
        self.taken.append(Taken(start, self._offset + self._at, INJECTED))
        within = TagScanner()
        within.feed(self._text[event.end() : end])
        within.close()
        if within.depth:  # a private span that began inside goes on
            self._begin_private(self._offset + self._at)
            self.depth = within.depth
        return True

    def _key(self, event: re.Match[str], *, final: bool) -> bool:
        body = _KEY_BODY.match(self._text, event.end())
        assert body is not None  # it may be empty
        undecided = body.end() == len(self._text) and len(body.group()) < 32768
        ending = _PUTTY_END if event.group().startswith("Private") else _KEY_END
        if (end := ending.search(self._text, event.end(), body.end())) is None:
            if undecided and not final:
                return False
            end = _KEY_CUT_OFF.match(self._text, event.end(), body.end())
        if end is None or not _KEY_WORDS.search(self._text, event.end(), end.end()):
            self._context.plain(event.group())
            self._keep(event.end())
            return True
        start = self._offset + event.start()
        self._at = end.end()
        self._mark(KEY_BLOCK)
        self.taken.append(Taken(start, self._offset + self._at, KEY_BLOCK, KEY_RULE))
        return True

    def _plain(self, end: int) -> None:
        context = self._inner if self.depth else self._context
        context.plain(self._text[self._at : end])
        self._keep(end)

    def _keep(self, end: int) -> None:
        if not self.depth:
            self._out.append(self._text[self._at : end])
        self._at = end

    def _mark(self, mark: str) -> None:
        self._out.append(mark)
        self._context.plain(mark)
