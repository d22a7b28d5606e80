"""What a person marked as private, what we injected ourselves, and blocks of private keys: found in text as it comes.

A scanner reads chunks and gives out what may be kept. Its answer depends on the text alone, never on where a chunk
ends; and its state depends only on what it gave out, so that a second pass changes nothing.

A tag in a code span that is closed on its line is talk about the tag. In a person's own message any other tag counts,
and one that is never closed hides what follows, except in a fence or directly after a word (`Local<Private>`), where
only a closed pair counts; within a private span, a tag after a word counts where a closing tag is left for it. In other
text only a closed pair counts, and none whose first tag stands in code or after a word. What is private goes on where
the closing tag stands in a fence of its own that is closed later: there it may be part of what is private.

A block of ours counts in a person's message, which may hold a paste of one. In other text it counts where its tags
carry a nonce of the request (`nonces`): anything else only looks like one, and is text.
"""

import re
from enum import Enum

from foundation.privacy.markdown_code import CodeContext
from foundation.privacy.redaction import Redaction
from foundation.privacy.tag_pairs import TagPairs
from foundation.privacy.tag_patterns import (
    INSIDE,
    KEY_BODY,
    KEY_CUT_OFF,
    KEY_END,
    KEY_WORDS,
    LONGEST_BEFORE,
    LONGEST_EVENT,
    LONGEST_KEY,
    LONGEST_KEY_UNIT,
    OUTSIDE,
    PUTTY_END,
    UNFINISHED,
    is_attached,
)

PRIVATE = "[private]"
INJECTED = "[injected]"
KEY_BLOCK = "[secret: private-key]"
KEY_RULE = "private-key"


class TextSource(Enum):
    """Whose text it is.

    A person's own message: a tag that is never closed hides what follows. Anything else (an answer, a tool result, a
    file): only a closed pair hides. The default everywhere is PERSON, so that a forgotten argument keeps nothing
    private.
    """

    PERSON = "person"
    OTHER = "other"


class TagScanner:
    """Takes out private spans, injected blocks and private keys. `feed` and `close` give what may be kept."""

    def __init__(self, source: TextSource = TextSource.PERSON, nonces: frozenset[str] = frozenset()) -> None:
        self.source = source
        self._nonces = nonces
        self.taken: list[Redaction] = []
        self.depth = 0
        self._text = ""  # not yet decided, after a little of what was
        self._offset = 0  # of _text within the input
        self._at = 0  # how far _text is decided
        self._since = 0  # where the private span that we are in began, in the input
        self._attached = 0  # tags after a word within it that no closing tag was counted for
        self._may_end: int | None = None  # where it ended if those were no tags, in the input
        self._is_last = False  # the end of the text was seen: no closing tag is left for tags after a word
        self._out: list[str] = []
        self._context = CodeContext()
        self._inner = CodeContext(fences_talk=True)
        self._pairs = TagPairs(attached_count=source is TextSource.PERSON, is_ours=self._is_ours)
        self._never_ended: set[str] = set()  # endings that the rest of the text is known to lack

    @property
    def held(self) -> int:
        """Characters in memory."""
        return len(self._text)

    def feed(self, chunk: str) -> str:
        self._text += chunk
        self._scan(final=False)
        return self._hand_out()

    def close(self) -> str:
        self._scan(final=True)
        if self._may_end is not None:
            self._end_private(self._may_end)
            self._is_last = True
            self._scan(final=True)
        if self.depth:
            end = self._offset + len(self._text)
            self.taken.append(Redaction(self._since, end, PRIVATE, unclosed=True))
        return self._hand_out()

    def _hand_out(self) -> str:
        needed = self._at if self._may_end is None else self._may_end - self._offset
        cut = max(0, needed - LONGEST_BEFORE)
        self._offset += cut
        self._text = self._text[cut:]
        self._at -= cut
        out = "".join(self._out)
        self._out.clear()
        return out

    def _scan(self, *, final: bool) -> None:
        sure = len(self._text) if final else self._decidable()
        while self._at < sure:
            pattern = INSIDE if self.depth else OUTSIDE
            event = pattern.search(self._text, self._at)
            if event is None or event.start() >= sure:
                self._plain(sure)
                return
            self._plain(event.start())
            if not self._handle(event, sure, final=final):
                return

    def _decidable(self) -> int:
        """Up to where nothing that is still to come can make an event begin."""
        start = max(self._at, len(self._text) - LONGEST_EVENT)
        unfinished = UNFINISHED.search(self._text, start)
        return unfinished.start() if unfinished else len(self._text)

    def _handle(self, event: re.Match[str], sure: int, *, final: bool) -> bool:
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
                return self._tag(event, context, sure, final=final)
        return True

    def _tag(self, event: re.Match[str], context: CodeContext, sure: int, *, final: bool) -> bool:
        talk_until = context.talk_until(self._text, event.end(), final=final)
        if talk_until is None:
            return False
        if talk_until:
            self._text_after_all(event, context)
            return True
        match event.lastgroup:
            case "open" if self.depth and is_attached(self._text, event.start()):
                self._attached += not self._is_last
                self._text_after_all(event, context)
            case "open" if self.depth:
                self.depth += 1
                self._at = event.end()
            case "open":
                return self._open(event, sure, final=final)
            case "close":
                self._close(event)
            case _:
                return self._ours(event, final=final)
        return True

    def _text_after_all(self, event: re.Match[str], context: CodeContext) -> None:
        context.plain(event.group())
        self._keep(event.end())

    def _open(self, event: re.Match[str], sure: int, *, final: bool) -> bool:
        start = self._offset + event.start()
        doubtful = self._context.in_fence or is_attached(self._text, event.start())
        if self.source is TextSource.PERSON and not doubtful:
            self._begin_private(start)
            self.depth = 1
            self._at = event.end()
            return True
        end = None
        if self.source is TextSource.PERSON or not doubtful:
            decided, end = self._pairs.end_of(start, self._text, self._offset, sure, final=final)
            if not decided:
                return False
        if end is None:
            self._text_after_all(event, self._context)
            return True
        self._at = end - self._offset
        self._mark(PRIVATE)
        self.taken.append(Redaction(start, end, PRIVATE))
        return True

    def _begin_private(self, since: int) -> None:
        self._since = since
        self._attached = 0
        self._inner = CodeContext(fences_talk=True)
        self._mark(PRIVATE)

    def _close(self, event: re.Match[str]) -> None:
        self._at = event.end()
        if self.depth > 1:
            self.depth -= 1
        elif self._attached:
            self._attached -= 1
            self._may_end = self._offset + self._at
        else:
            self._end_private(self._offset + self._at)

    def _end_private(self, end: int) -> None:
        self.depth = 0
        self._may_end = None
        self._at = end - self._offset
        self.taken.append(Redaction(self._since, end, PRIVATE))

    def _is_ours(self, event: re.Match[str]) -> bool:
        return self.source is TextSource.PERSON or event["nonce"] in self._nonces

    def _ours(self, event: re.Match[str], *, final: bool) -> bool:
        if not self._is_ours(event):
            self._text_after_all(event, self._context)
            return True
        ending = f"</palimpsest-{event['name']}>"
        end = -1 if ending in self._never_ended else self._text.find(ending, event.end())
        if end < 0:
            if final:  # never closed: somebody's words, not a block of ours
                self._never_ended.add(ending)
                self._text_after_all(event, self._context)
            return final
        start = self._offset + event.start()
        self._at = end + len(ending)
        self._mark(INJECTED)
        self.taken.append(Redaction(start, self._offset + self._at, INJECTED))
        within = TagScanner(self.source, self._nonces)
        within.feed(self._text[event.end() : end])
        within.close()
        if within.depth:  # a private span that began inside goes on
            self._begin_private(self._offset + self._at)
            self.depth = within.depth
            self._attached = within._attached
        return True

    def _key(self, event: re.Match[str], *, final: bool) -> bool:
        body = KEY_BODY.match(self._text, event.end())
        assert body is not None  # it may be empty
        limit = min(body.end(), event.end() + LONGEST_KEY)
        undecided = len(self._text) - limit < LONGEST_KEY_UNIT and limit < event.end() + LONGEST_KEY
        ending = PUTTY_END if event.group().startswith("Private") else KEY_END
        if (end := ending.search(self._text, event.end(), limit)) is None:
            if undecided and not final:
                return False
            end = KEY_CUT_OFF.match(self._text, event.end(), limit)
        if end is None or not KEY_WORDS.search(self._text, event.end(), end.end()):
            self._text_after_all(event, self._context)
            return True
        start = self._offset + event.start()
        self._at = end.end()
        self._mark(KEY_BLOCK)
        self.taken.append(Redaction(start, self._offset + self._at, KEY_BLOCK, KEY_RULE))
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
