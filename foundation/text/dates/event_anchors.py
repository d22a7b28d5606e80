"""Times relative to an event: `before the move`, `after she got married`, 搬家之前."""

import re
from enum import StrEnum

from msgspec import Struct

_LONGEST = 20_000  # characters of a text that are read
_MOST = 8  # of one text
_WORDS = 7  # of an event: what goes on longer tells something else


class AnchorSide(StrEnum):
    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


class EventAnchor(Struct, frozen=True):
    """What lies on one side of an event, or within it. `event` are its words; `at` and `to` where all of it stands."""

    event: str
    side: AnchorSide
    at: int
    to: int


_DETERMINER = (
    r"(?:the|my|our|your|his|her|their|its|that|this|a|an|[A-Z][\w-]*['’]s?|i|we|you|he|she|they|it|[A-Z][\w-]*"
    r"|\w{3,}ing)"
)
_SIDES = {
    "before": AnchorSide.BEFORE,
    "prior to": AnchorSide.BEFORE,
    "leading up to": AnchorSide.BEFORE,
    "until": AnchorSide.BEFORE,
    "ahead of": AnchorSide.BEFORE,
    "after": AnchorSide.AFTER,
    "following": AnchorSide.AFTER,
    "since": AnchorSide.AFTER,
    "once": AnchorSide.AFTER,
    "during": AnchorSide.DURING,
    "while": AnchorSide.DURING,
}
_ENGLISH = re.compile(
    r"\b(?P<side>(?i:" + "|".join(sorted((s.replace(" ", r"\s") for s in _SIDES), key=len, reverse=True)) + r"))\s{1,3}"
    rf"(?P<event>(?P<first>(?i:{_DETERMINER}))\b(?:\s{{1,3}}[^\s,.;:?!()，。？！]{{1,30}}){{0,{_WORDS}}})"
)
_ENDS = re.compile(
    r"\s(?:and|but|or|did|do|does|what|where|who|how|when|why|which|was|is|were|are|has|had|have)\s.*$",
    re.IGNORECASE | re.DOTALL,
)
_TIMES = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|week|weekend|month|year|day|morning|evening|night|time|\d+)\b",
    re.IGNORECASE,
)
_NOTHING = {"it", "this", "that", "the", "a", "an", "i", "we", "you", "he", "she", "they", "my", "our", "his", "her"}
_CHINESE = re.compile(r"(?P<event>[\u3400-\u9fff]{2,10}?)(?:的时候)?(?P<side>之前|以前|之后|以后|期间)")
_CHINESE_SIDES = {
    "之前": AnchorSide.BEFORE,
    "以前": AnchorSide.BEFORE,
    "之后": AnchorSide.AFTER,
    "以后": AnchorSide.AFTER,
    "期间": AnchorSide.DURING,
}
_LEAD = re.compile(r"^(?:[我你您他她它](?:们)?|在|从|自从|自|于|和|是|那|这|那次|这次|上次)+")
_CHINESE_TIMES = re.compile(
    r"[年月日号天周季点]|星期|礼拜|小时|分钟|[\d一二三四五六七八九十两几半]个|^(?:从|很久|不久|在此|此|那|这|多)$"
)


def event_anchors(text: str) -> tuple[EventAnchor, ...]:
    """The events that a text tells a time by, in their order. Dates are no events: `spans` reads those."""
    text = text[:_LONGEST]
    anchors = [anchor for match in _ENGLISH.finditer(text) if (anchor := _english(match))]
    if not text.isascii():
        anchors += [anchor for match in _CHINESE.finditer(text) if (anchor := _chinese(match))]
    return tuple(sorted(anchors, key=lambda anchor: anchor.at)[:_MOST])


def _english(match: re.Match[str]) -> EventAnchor | None:
    event = _ENDS.sub("", match["event"]).rstrip(" '’\"")
    words = event.split()
    is_name = len(words) == 1 and words[0][:1].isupper() and words[0].lower() not in _NOTHING
    is_doing = words[0].endswith("ing") and words[0].lower() not in ("during", "something", "nothing", "everything")
    if not (len(words) > 1 or is_name or is_doing) or _TIMES.search(event):
        return None
    side = _SIDES[re.sub(r"\s", " ", match["side"].lower())]
    return EventAnchor(event, side, match.start(), match.start("event") + len(event))


def _chinese(match: re.Match[str]) -> EventAnchor | None:
    lead = _LEAD.match(match["event"])
    event = match["event"][lead.end() :] if lead else match["event"]
    if len(event) < 2 or _CHINESE_TIMES.search(event):
        return None
    return EventAnchor(event, _CHINESE_SIDES[match["side"]], match.start() + (lead.end() if lead else 0), match.end())
