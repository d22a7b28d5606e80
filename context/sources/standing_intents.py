"""Standing intents: lines of the hot memory that say when to remind the person of something.

    - When we talk about the boiler, remind me of its warranty.
    - 谈到锅炉时，提醒我续保。

A message that has the topic as a phrase fires the intent. No model is called to decide it. Topics may be alternatives:
`the boiler or the heating`, `锅炉、暖气`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from context.sources.conditions import has_keyword
from memory.hot import Note

MOST_FIRED: Final = 5  # reminders with one message
_LONGEST_LINE: Final = 500
_HINT: Final = re.compile("remind|提醒", re.IGNORECASE)
_ENGLISH: Final = re.compile(
    r"(?:when(?:ever)?|if|next time|the next time|every time)\s+(?:we|i|you)\s+"
    r"(?:(?:talk|speak|chat|ask|write)\s+(?:to you\s+)?(?:about|of)|mention|discuss|bring up)\s+"
    r"(?P<topic>[^,，;]{1,200}?)\s*[,，;]\s*(?:please\s+)?remind\s+me\s+(?:(?:of|about|that)\s+)?(?P<reminder>\S.*)",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?:当|每当|每次|以后|下次|如果)?(?:我们|我|你)?(?:再)?(?:谈到|聊到|说到|提到|讨论|谈起|聊起|说起|提起)"
    r"(?P<topic>[^，,；;]{1,100}?)(?:的?时候?|的话)?\s*[，,；;]\s*(?:请)?(?:你)?提醒我(?P<reminder>\S.*)"
)
_SEPARATORS: Final = re.compile(r"\s+or\s+|\s*/\s*|、|或者|或", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:the|a|an|my|our|your)\s+", re.IGNORECASE)
_QUOTES: Final = "\"'“”‘’「」『』《》 "


class StandingIntent(Struct, frozen=True):
    """What to remind the person of where a message names one of the topics; with its file and line."""

    topics: tuple[str, ...]
    reminder: str
    path: str
    line: int

    def fires(self, text: str) -> bool:
        """Whether the message names a topic; in Latin script as whole words, in the singular or with an s."""
        return has_keyword(text, [form for topic in self.topics for form in (topic, f"{topic}s")])

    @property
    def instruction(self) -> str:
        """The line for the model."""
        place = f"{self.path}, line {self.line}"
        return f"The user wants to be reminded where “{' or '.join(self.topics)}” comes up ({place}): {self.reminder}"


def standing_intents(notes: Sequence[Note]) -> Iterator[StandingIntent]:
    """The intents in the notes, in their order."""
    for note in notes:
        if _HINT.search(note.text):
            for offset, line in enumerate(note.text.split("\n")):
                if intent := _parse_line(line, note.path, note.words_first + offset):
                    yield intent


def _parse_line(line: str, path: str, number: int) -> StandingIntent | None:
    text = line.strip().lstrip("-*+ ")
    if len(text) > _LONGEST_LINE or not (match := _ENGLISH.match(text) or _CHINESE.match(text)):
        return None
    parts = (part.strip(_QUOTES) for part in _SEPARATORS.split(match["topic"].strip(_QUOTES)))
    topics = tuple(topic for part in parts if (topic := _ARTICLE.sub("", part, count=1).strip(_QUOTES)))
    return StandingIntent(topics, match["reminder"].strip(), path, number) if topics else None
