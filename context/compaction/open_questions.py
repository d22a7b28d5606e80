"""Questions without an answer yet, of the person and of the model, in English and Chinese. Pure.

A question is answered by what follows it: the person's by a statement of the model that does not defer it, the model's
by a short reply or one that takes up its words. Of several questions in a message those are open whose words the reply
leaves out while it takes up those of others.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from memory.observations.talk_rules import prose
from models.tokens import estimate

MOST: Final = 8  # the newest
LONGEST: Final = 300  # characters of a question
LONGEST_TEXT: Final = 20_000  # characters of a message; a longer one is a pasted text
SHORT_REPLY: Final = 20  # tokens; a reply of the person so short answers what they were asked
LAST_SENTENCES: Final = 3  # of an answer, among which a question is one to the person

_MARK: Final = re.compile(r"[?？]")
_DEFERRED: Final = re.compile(
    r"\b(?:(?:do not|don['’]t|can(?:not|['’]t)) (?:yet )?(?:know|say|tell)|not (?:sure|clear|known|decided)|unclear"
    r"|(?:i['’]ll|i will|let me|we['’]ll|we will|to be) (?:check|look|find out|ask|see|think|get back|come back|decide)"
    r"|(?:remains?|still|left) open|undecided|tbd|later|come back to (?:that|this|it)"
    r"|needs? to (?:check|find out|ask))"
    r"|不知道|不清楚|不确定|尚未|待定|稍后|以后再|回头再|再说|还没(?:有)?(?:定|决定)|需要(?:确认|再看|查)",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    r"\b(?:anything else|shall i|should i (?:go on|continue|proceed)|would you like|do you want me to|want me to"
    r"|does (?:that|this) (?:help|work|make sense)|(?:how|what) (?:can|may) i (?:help|do)|can i help"
    r"|is that (?:ok|okay))\b"
    r"|还有(?:什么|别的)|需要我|要不要我|要我|可以吗|好吗|对吗|明白了吗",
    re.IGNORECASE,
)


class Said(Struct, frozen=True):
    """A message: its seq, whether the person wrote it, and its text."""

    seq: int
    by_user: bool
    text: str


class OpenQuestion(Struct, frozen=True):
    """`seq` of the message that asks."""

    seq: int
    text: str


class Discussion:
    """The messages of a conversation, in order; what each states is analysed once."""

    def __init__(self, messages: Sequence[Said]) -> None:
        self._messages = messages
        self._stated: dict[int, list[frozenset[str]]] = {}

    def open_questions(self) -> list[OpenQuestion]:
        """The questions that nothing after them answers, oldest first; at most MOST, the newest."""
        found: list[OpenQuestion] = []
        for at in range(len(self._messages) - 1, -1, -1):
            message, further = self._messages[at], self._messages[at + 1 :]
            asks = self._to_the_model(message, further) if message.by_user else self._to_the_person(message, further)
            still_open = [text for text in asks if not self.is_answered(text, message.by_user, at + 1)]
            found += [OpenQuestion(message.seq, text) for text in reversed(still_open)]
            if len(found) >= MOST:
                break
        return found[:MOST][::-1]

    def is_answered(self, question: str, by_user: bool, first: int = 0) -> bool:
        """Whether a statement of the other side, from the message of that number on, takes up half of its words."""
        terms = _terms(question)
        answers = (message for message in self._messages[first:] if message.by_user is not by_user)
        return any(2 * len(terms & said) >= max(2, len(terms)) for answer in answers for said in self._said(answer))

    def _said(self, message: Said) -> list[frozenset[str]]:
        """The terms of each statement of a message that defers nothing."""
        if message.seq not in self._stated:
            stated = (text for text in _statements(message.text) if not _DEFERRED.search(text))
            self._stated[message.seq] = [_terms(text) for text in stated]
        return self._stated[message.seq]

    def _to_the_model(self, message: Said, further: Sequence[Said]) -> list[str]:
        """The questions of the person that the model's reply leaves open."""
        asks = [*_questions(message.text)]
        reply = [*_until_user(further)] if asks else []
        statements = [text for answer in reply for text in _statements(answer.text)]
        if not statements:
            return asks
        words = frozenset[str]().union(*(said for answer in reply for said in self._said(answer)))
        taken_up = [text for text in asks if _terms(text) & words]
        if not taken_up and not any(map(_DEFERRED.search, statements)):
            return []  # answered in other words
        return [text for text in asks if text not in taken_up]

    def _to_the_person(self, message: Said, further: Sequence[Said]) -> list[str]:
        """The questions at the end of an answer that the person's next message leaves open."""
        if not _MARK.search(message.text) or (further and not further[0].by_user):
            return []  # or the model went on by itself
        last = [sentence.text for sentence in sentences(prose(message.text))][-LAST_SENTENCES:]
        asks = [text for text in _questions("\n".join(last)) if not _COURTESY.search(text)]
        if not asks or not further:
            return asks
        said = self._said(further[0])
        if said and estimate(further[0].text) <= SHORT_REPLY:
            return []
        words = frozenset[str]().union(*said)
        return [text for text in asks if not _terms(text) & words]


def _until_user(messages: Sequence[Said]) -> Iterator[Said]:
    for message in messages:
        if message.by_user:
            return
        yield message


def _questions(text: str) -> Iterator[str]:
    if len(text) > LONGEST_TEXT or not _MARK.search(text):
        return
    for sentence in sentences(prose(text)):
        line = " ".join(sentence.text.split()).strip("-*# ")
        if is_question(line) and len(line) <= LONGEST and len(_terms(line)) > 1:
            yield line


def _statements(text: str) -> Iterator[str]:
    if len(text) <= LONGEST_TEXT:
        yield from (s.text for s in sentences(prose(text)) if not is_question(s.text))


def _terms(text: str) -> frozenset[str]:
    """The terms that say what it is about."""
    return frozenset(term for term in term_list(text) if not is_weak(term))
