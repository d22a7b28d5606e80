"""The one choke point for privacy before any write.

What stands in `<private>…</private>`, what our own program injected (`<palimpsest-…>…</palimpsest-…>`) and what is
a secret is taken out, in that order, and leaves a mark: `[private]`, `[injected]`, `[secret: github-pat]`.
Taking out twice changes nothing more. Writers to disk take `Cleared`, which is made here and nowhere else.
"""

import hashlib
import re
from typing import Final, NewType

from msgspec import Struct

from foundation.privacy.named_secrets import LONGEST_COLOURED
from foundation.privacy.private_tags import INJECTED, PRIVATE, TagScanner, TextSource
from foundation.privacy.redaction import OffsetsBefore, Redaction, redact
from foundation.privacy.secret_scan import broken_token_may_begin, find_named, find_tokens, token_may_begin
from foundation.privacy.tag_patterns import EVENT, FIRST_TAG, TAG, mentions_marks

Cleared = NewType("Cleared", str)
"""Text that may be written to disk: nothing private, no secret. Made here and nowhere else."""


class Secret(Struct, frozen=True):
    """A secret in the text that was examined: its rule, and its span in characters."""

    rule: str
    start: int
    end: int


class PrivacyFindings(Struct, frozen=True):
    """What `clear` takes out of a text.

    `private` counts spans, nested ones with the outermost. `unclosed` counts the characters that a tag hides because
    it is never closed, `injected` those between `<palimpsest-…>` tags: tell the person at once where either is not 0.
    """

    private: int
    secrets: tuple[Secret, ...]
    cleared: Cleared
    unclosed: int = 0
    injected: int = 0
    spans: tuple[Redaction, ...] = ()  # all that was taken out: characters of the text that was examined, in order


def clear(text: str, source: TextSource = TextSource.PERSON, nonces: frozenset[str] = frozenset()) -> Cleared:
    """The text as it may be stored. `nonces`: those of the request that it answers, so that no block of it is kept."""
    return examine(text, source, nonces).cleared


def examine(text: str, source: TextSource = TextSource.PERSON, nonces: frozenset[str] = frozenset()) -> PrivacyFindings:
    """The text as it may be stored, and what was redacted."""
    tags = _tags(text, source, nonces)
    no_tags = redact(text, tags)
    tokens = find_tokens(no_tags)
    no_tokens = redact(no_tags, tokens)
    named, _ = find_named(no_tokens)
    before_tokens, before_tags = OffsetsBefore(tokens), OffsetsBefore(tags)
    spans = [*tags, *map(before_tags.span, (*tokens, *map(before_tokens.span, named)))]
    spans.sort(key=lambda span: span.start)
    return PrivacyFindings(
        sum(span.mark == PRIVATE for span in tags),
        tuple(Secret(span.rule, span.start, span.end) for span in spans if span.rule),
        Cleared(redact(no_tokens, named)),
        sum(span.end - _after_first_tag(text, span) for span in tags if span.unclosed),
        sum(span.end - span.start for span in tags if span.mark == INJECTED),
        tuple(spans),
    )


def cleared_id(raw: str) -> Cleared:
    """An id as it may be stored: itself, or its cleared form and a short hash, so that it stays the only one.

    The same for the same id, and for an id that was cleared before. Eight digits of SHA-256 tell two ids apart and give
    none back, though who guesses the words can see that the guess fits.
    """
    if (cleared := clear(raw)) == raw:
        return cleared
    digest = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
    return clear(f"{cleared}-{digest[:8]}")


def as_given(text: str) -> Cleared:
    """A file that a person named themselves: theirs, kept to the byte. Count its secrets with `examine`."""
    return Cleared(text)


def without_tags(text: str, source: TextSource = TextSource.PERSON) -> str:
    """What the model may see: the words inside `<private>` too, the tags dropped. Talk about the tag stays."""
    parts: list[str] = []
    at = 0
    for span in _tags(text, source):
        if span.mark == PRIVATE:
            parts += (text[at : span.start], TAG.sub("", text[_after_first_tag(text, span) : span.end]))
            at = span.end
    parts.append(text[at:])
    return "".join(parts)


class ClearingStream:
    """Streaming `clear`: the joined results of `feed` and `close` equal `clear` of the whole text.

    Held back, and lost if the program is killed, is only what could still turn out private or secret: what may be the
    beginning of a tag or of a token, to the end of its word; the value of what has a secret's name, to its end; the
    rest of a line after a tag in a code span that is not closed yet; a block of keys until it ends. All else is given
    at once. What was given is on disk when its writer says so: an answer's chunks within a tenth of a second.
    """

    def __init__(self, source: TextSource = TextSource.PERSON, nonces: frozenset[str] = frozenset()) -> None:
        self._tags = TagScanner(source, nonces)
        self._words = _TokenFilter()
        self._named = _NamedValueFilter()

    @property
    def held(self) -> int:
        """Characters that are kept back by the tag scanner, with the little before them that it looks at."""
        return self._tags.held

    def feed(self, chunk: str) -> Cleared:
        """The text that is now safe to write, perhaps empty."""
        return Cleared(self._named.feed(self._words.feed(self._tags.feed(chunk))))

    def close(self) -> Cleared:
        """The rest. Feed nothing after it."""
        words = self._words.feed(self._tags.close()) + self._words.close()
        return Cleared(self._named.feed(words) + self._named.close())


def _tags(text: str, source: TextSource, nonces: frozenset[str] = frozenset()) -> list[Redaction]:
    if not mentions_marks(text) or EVENT.search(text) is None:  # without one, nothing is taken out
        return []
    scanner = TagScanner(source, nonces)
    scanner.feed(text)
    scanner.close()
    return scanner.taken


def _after_first_tag(text: str, span: Redaction) -> int:
    first = FIRST_TAG.match(text, span.start, span.end)
    return first.end() if first else span.start


_WORD_ENDS: Final = re.compile(r"[^\x21-\x7e]")  # no token goes on past white space, or anything beyond ASCII
_IN_A_VALUE: Final = re.compile(r"[A-Za-z0-9_.+-]+")  # no kind of value ends before one of these
_BEFORE_A_TOKEN: Final = 64  # characters: a boundary, and the scheme of an address


class _TokenFilter:
    """Takes tokens out. Of the word that is being written, what may be a token's beginning waits."""

    def __init__(self) -> None:
        self._given = ""  # the end of what was given out: what stands before a token has a part in it
        self._waiting: list[str] = []
        self._sure = False  # a token's keyword stands in what waits: it waits for the end of its word

    def feed(self, chunk: str) -> str:
        self._waiting.append(chunk)
        if not chunk or (self._sure and not _WORD_ENDS.search(chunk)):
            return ""
        text, at = self._given + "".join(self._waiting), len(self._given)
        end = _last(_WORD_ENDS, text[at:]) + 1 + at
        until, self._sure = token_may_begin(text, end)
        until = broken_token_may_begin(text, at, until)
        return self._give(text, at, until)

    def close(self) -> str:
        text = self._given + "".join(self._waiting)
        return self._give(text, len(self._given), len(text))

    def _give(self, text: str, at: int, until: int) -> str:
        self._waiting = [text[until:]]
        self._given = text[max(0, until - _BEFORE_A_TOKEN) : until]
        return redact(text[:until], find_tokens(text[:until], at), at)


class _NamedValueFilter:
    """Takes named values out. Only a value that is being written waits; the name before it has been given."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0  # what is before it was given out, and is kept for the name it may hold

        self._waits = 0  # how much more must come before it is worth another look at the value that waits

    def feed(self, chunk: str) -> str:
        self._text += chunk
        self._waits -= len(chunk)
        if not chunk or (self._waits > 0 and _IN_A_VALUE.fullmatch(chunk)):
            return ""
        return self._give(final=False)

    def close(self) -> str:
        return self._give(final=True)

    def _give(self, *, final: bool) -> str:
        redactions, until = find_named(self._text, self._at, final=final)
        self._waits = (len(self._text) - until) // 8 if until < len(self._text) else 0
        out = redact(self._text, redactions, self._at, until)
        keep = max(0, until - LONGEST_COLOURED)
        self._text = self._text[keep:]
        self._at = until - keep
        return out


def _last(pattern: re.Pattern[str], text: str) -> int:
    """The offset of the pattern's last match of a single character, or -1."""
    match = pattern.search(text[::-1])
    return len(text) - match.end() if match else -1
