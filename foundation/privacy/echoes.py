"""Filter of hidden text that a model repeats: the content of `<private>` and secrets, matched verbatim in other text.

A model gets private words without their tags and may repeat them: no tag says then that they are private. Kept apart
in RAM, they are looked for letter by letter, whatever their case and the white space between words. Words said in
another way are not found.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, Final, cast

from foundation.privacy.privacy import Cleared, ClearingStream, clear, examine
from foundation.privacy.private_tags import PRIVATE, TextSource
from foundation.privacy.tag_patterns import FIRST_TAG, TAG
from foundation.privacy.values import ClearedFields, cleared_fields, cleared_json, edited

SHORTEST: Final = 4
SHORTEST_LINE: Final = 8
_LONGEST: Final = 1000  # characters: what is longer is looked for in parts, so that no more waits in a stream
_CUT: Final = "…"
_BLOCK: Final = "<palimpsest-"
_AT_THE_ENDS: Final = " \t\r\n.,;:!?…'\"“”‘’„«»()"
_MARKS: Final = "[private] [injected] [secret: private-key]"
_COMMON: Final = frozenset(
    re.findall(
        r"[a-z]+",
        """
    a about after all also an and any are as at be because been before but by can could day did do does for from get
    give go good had has have he her here him his how i if in into is it its just know like look made make many may
    me more most much must my need new no not now of off on one only or other our out over people please say see she
    should so some take tell than thank thanks that the their them then there these they thing think this those time
    to true two up us use very want was way we well were what when where which who why will with word words work
    would yes you your none null false return self else end name text
""",
    )
)
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([ntrbf"\\/]))')
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def hidden_texts(text: str) -> tuple[str, ...]:
    """What a person's message hides: the words in each private span without their tags, and each secret."""
    texts: list[str] = []
    for span in examine(text).spans:
        hidden = text[span.start : span.end]
        if span.mark == PRIVATE:
            first = FIRST_TAG.match(hidden)
            hidden = TAG.sub("", hidden[first.end() if first else 0 :])
            texts += (
                hidden,
                *(hidden[secret.start : secret.end] for secret in examine(hidden, TextSource.OTHER).secrets),
            )
        elif span.rule:
            texts.append(hidden)
    return tuple(texts)


class EchoFilter:
    """Removes hidden texts from text to be stored. Without any it only applies `clear` and `cleared_fields`."""

    def __init__(self, hidden: Iterable[str] = ()) -> None:
        self.nonces: frozenset[str] = frozenset()
        self._sought = sorted({part for text in hidden for part in _sought(text)})
        self._longest = max(map(len, self._sought), default=0)
        self._beginnings = {part[:SHORTEST] for part in self._sought}
        self._within = _within(self._sought)

    def __bool__(self) -> bool:
        return bool(self._sought or self.nonces)

    @property
    def seeks(self) -> bool:
        """Whether there is a hidden text to look for."""
        return bool(self._sought)

    def sealing(self, nonces: Iterable[str]) -> "EchoFilter":
        """The same, and blocks whose tags carry one of the nonces, those of the request, are taken out, too."""
        made = copy(self)
        made.nonces = frozenset(nonces) - {""}
        return made

    def injected(self, text: str) -> int:
        """The count of characters of an answer that are in blocks of the request."""
        return examine(text, TextSource.OTHER, self.nonces).injected if _BLOCK in text else 0

    def clear(self, text: str) -> Cleared:
        """Another's text, an answer, as it may be stored."""
        return edited(clear(text, TextSource.OTHER, self.nonces), self.without)

    def result(self, text: str) -> Cleared:
        """A tool's result as it may be stored: where it is JSON, as what it says."""
        cleared = clear(text, TextSource.OTHER, self.nonces)
        return edited(cleared, self._text) if self else cleared

    def shortened(self, text: str, most: int) -> Cleared:
        """The first `most` characters of a text as they may be stored: it is cleared first and cut then, and a hidden
        text that it begins at its end is left out."""
        cleared = self.result(text)
        return edited(cleared, lambda whole: self._without_beginning(whole[:most]))

    def _without_beginning(self, text: str) -> str:
        if not self.seeks:
            return text
        decided, rest = self.take(text, final=False)
        return f"{decided}{PRIVATE}" if len(rest.strip()) >= SHORTEST else text

    def fields(self, fields: dict[str, Any]) -> ClearedFields:
        """`cleared_fields` with hidden text removed from each text in it, JSON in a text too."""
        cleared = cleared_fields(fields)
        return cast(ClearedFields, self._value(cleared)) if self else cleared

    def json(self, text: str) -> Cleared:
        """JSON text as it may be stored: itself where nothing is hidden in it."""
        return edited(cleared_json(text), self._text) if self else cleared_json(text)

    def without(self, text: str) -> str:
        """The text with `[private]` where a hidden text stood, `[injected]` where a block of the request did."""
        if self.nonces and _BLOCK in text:
            text = clear(text, TextSource.OTHER, self.nonces)
        return self.take(text, final=True)[0] if self.seeks else text

    def take(self, text: str, *, final: bool) -> tuple[str, str]:
        """The decided part of a text without hidden text, and its undecided end, where a hidden text may have begun."""
        folded, offsets = _folded(text)
        parts: list[str] = []
        given = at = 0  # in the text; in the folded one
        while at < len(folded):
            if not final and len(folded) - at < self._longest and self._may_go_on(folded[at:]):
                return "".join((*parts, text[given : offsets[at]])), text[offsets[at] :]
            if length := self._length_at(folded, at) or self._cut_length_at(folded, at):
                parts += (text[given : offsets[at]], PRIVATE)
                given = offsets[at + length - 1] + 1
                at += length
            else:
                at += 1
        return "".join((*parts, text[given:])), ""

    def _length_at(self, folded: str, at: int) -> int:
        """The length of the longest search text that matches here; 0 where none does."""
        if folded[at : at + SHORTEST] not in self._beginnings:
            return 0
        index = bisect_right(self._sought, folded[at : at + self._longest]) - 1
        while index >= 0 and not folded.startswith(self._sought[index], at):
            index = self._within[index]
        return len(self._sought[index]) if index >= 0 else 0

    def _cut_length_at(self, folded: str, at: int) -> int:
        """The length of the beginning of a search text before the mark of a cut; 0 where none stands here."""
        if folded[at : at + SHORTEST] not in self._beginnings:
            return 0
        end = folded.find(_CUT, at + SHORTEST, at + self._longest + 2)
        cut = folded[at:end].rstrip() if end >= 0 else ""
        return len(cut) if len(cut) >= SHORTEST and self._may_go_on(cut) else 0

    def _may_go_on(self, ending: str) -> bool:
        """Whether this is the beginning of a longer text that is sought."""
        index = bisect_left(self._sought, ending)
        if index < len(self._sought) and self._sought[index] == ending:
            index += 1
        return index < len(self._sought) and self._sought[index].startswith(ending)

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case dict():
                pairs = cast(dict[str, Any], value).items()
                made: dict[str, Any] = {}
                for key, item in pairs:
                    made[_free(self._text(key), made)] = self._value(item)
                return made
            case list():
                return [self._value(item) for item in cast(list[Any], value)]
            case bool() | None:
                return value
            case int() | float():
                text = str(value)
                return value if (cleaned := self.without(text)) == text else cleaned
            case _:
                return value

    def _text(self, text: str) -> str:
        if text.lstrip()[:1] in ("{", "[", '"'):
            try:
                return self._json(text)
            except (ValueError, RecursionError):
                pass
        cleaned = self.without(text)
        plain = _ESCAPE.sub(_unescaped, cleaned) if "\\" in cleaned else cleaned
        return cleaned if (unescaped := self.without(plain)) == plain else unescaped

    def _json(self, text: str) -> str:
        value = json.loads(text)
        cleaned = self._value(value)
        if cleaned == value and self.without(text) == text:
            return text
        made = json.dumps(cleaned, ensure_ascii=False)
        if (cleaned_json := self.without(made)) == made:
            return made
        return json.dumps({"cleared": cleaned_json}, ensure_ascii=False)


class EchoFilterStream:
    """`EchoFilter.clear` for text that comes in pieces. What may be the beginning of a hidden text waits."""

    def __init__(self, echoes: EchoFilter) -> None:
        self._echoes = echoes
        self._clearing = ClearingStream(TextSource.OTHER, echoes.nonces)
        self._waiting = ""

    def feed(self, chunk: str) -> Cleared:
        """The text that is now safe to write, perhaps empty."""
        return edited(self._clearing.feed(chunk), self._decided)

    def close(self) -> Cleared:
        """The rest. Feed nothing after it."""
        return edited(self._clearing.close(), lambda rest: self._decided(rest, final=True))

    def _decided(self, cleared: str, *, final: bool = False) -> str:
        if not self._echoes.seeks:
            return cleared
        decided, self._waiting = self._echoes.take(self._waiting + cleared, final=final)
        return decided


def _within(ordered: list[str]) -> list[int]:
    """For each text the place of the longest other one that it begins with, or -1."""
    open_, links = list[int](), list[int]()
    for index, text in enumerate(ordered):
        while open_ and not text.startswith(ordered[open_[-1]]):
            open_.pop()
        links.append(open_[-1] if open_ else -1)
        open_.append(index)
    return links


def _sought(hidden: str) -> Iterator[str]:
    """The folded search texts: the whole text and each longer line of it, both without their secrets."""
    lines = hidden.splitlines()
    for text in (hidden, clear(hidden, TextSource.OTHER)):
        yield from _parts(text, SHORTEST)
    for line in lines if len(lines) > 1 else ():
        for text in (line, clear(line, TextSource.OTHER)):
            yield from _parts(text, SHORTEST_LINE)


def _parts(text: str, shortest: int) -> Iterator[str]:
    folded = _folded(text)[0].strip()
    for sought in (folded, folded.strip(_AT_THE_ENDS)):
        words = re.findall(r"\w+", sought)
        if len(sought) < shortest or sought in _MARKS or (words and _COMMON.issuperset(words)):
            continue
        size = -(-len(sought) // -(-len(sought) // _LONGEST))
        for start in range(0, len(sought), size):
            if len(part := sought[start : start + size].strip()) >= SHORTEST:
                yield part


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in lower case with white space collapsed to one space, and the offset of each letter in the text."""
    letters: list[str] = []
    offsets: list[int] = []
    spaced = False
    for offset, letter in enumerate(text):
        if letter.isspace():
            if spaced:
                continue
            small, spaced = " ", True
        else:
            small, spaced = letter.lower(), False
        letters.append(small if len(small) == 1 else letter)
        offsets.append(offset)
    return "".join(letters), offsets


def _unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


def _free(key: str, taken: dict[str, Any]) -> str:
    """The key, numbered where another became the same."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{key} {number}"
    return free
