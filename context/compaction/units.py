"""Units of a summary: sentences of turns, cleaned of what says nothing, that can be understood by themselves.

    "Wow, Caroline! I went to a support group on 7 May. It was great."  →  "I went to a support group on 7 May."

Cut off are exclamations, thanks, and names that are only addressed. Dropped are questions without an answer beside
them, praise and courtesy, and sentences that begin with a pronoun whose noun is not in the sentence before.
"""

import heapq
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.folding import UNSPACED, is_unspaced
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from memory.search.results.values import values

MOST_CHARACTERS = 20_000  # of a turn that are read
SHORT_ANSWER = 30  # characters: an answer that needs its question
FEWEST_TERMS = 2  # that say something, of a unit
DECIDES, OPEN_POINT, OWN = 1.2, 1.2, 1.4  # times the weight
ADDRESSING = 0.6  # times the weight of what speaks of the one addressed
CHINESE = 0.5  # weight of two Chinese characters, which are often no word
MOST_TURNS = 8000  # that are read sentence by sentence: those with the most figures, names and words
FIGURE, DIGITS, NAME, COMMON = 1.0, 0.8, 1.4, 0.1  # weight of a term

_DECIDED = re.compile(
    r"\b(?:decid\w+|agree[ds]? (?:to|on|that)|settled|we(?:'ll| will)|going with|chose|chosen|picked|booked|confirmed"
    r"|instead of|must|prefer\w*)\b|决定|确定|选择|改用|订好|必须|不要|改成|改到",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:todo|to do|remind|pending|waiting for|needs? to|have to|don't forget|unresolved|deadline|due|follow up)\b"
    r"|待办|记得|提醒|还没|尚未|需要|下一步|截止",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:i|i'm|i've|my|we|we're|our)\b|我", re.IGNORECASE)
_INTERJECTION = (
    r"(?:wow|whoa|oh|hey|hi|hello|yeah|yes|yep|yup|no|nope|aw+|ah|haha\w*|lol|ok|okay|well|so|sure|right|cool|nice|great"
    r"|awesome|amazing|wonderful|fantastic|perfect|absolutely|definitely|totally|really|exactly|of course|by the way"
    r"|btw|you know|i mean|i agree|agreed|sounds (?:good|great|amazing|fun|awesome)"
    r"|good (?:question|point|idea|to hear|luck)|glad to hear(?: that| it)?"
    r"|that's (?:great|awesome|cool|amazing|nice|true|right|wonderful|so \w+)|congrats\w*|congratulations"
    r"|thank you(?: so much| very much)?|thanks(?: so much| a lot| a bunch|, \w+)?|no (?:problem|worries)"
    r"|long time no (?:see|talk|chat)|good (?:morning|evening|afternoon)|hope you're (?:well|doing well))"
)
_CHINESE_OPENING = (
    r"(?:嗯+|哦+|噢|哇+|啊|哎|唉|哈+|嘿+|好的?呀?|好啊|好吧|行|是的?啊?|是啊|对了?啊?|对的|真的|当然|没错|没事|太好了"
    r"|太棒了|谢谢你?|多谢|不客气|没问题|恭喜你?|早上好|晚上好|你好|说起来|其实|话说|那就|那)"
)
_LEADING = re.compile(
    rf"^(?:{_INTERJECTION}(?![\w'’])[\s,!.?…—–-]*|{_CHINESE_OPENING}[，。！？、～~…\s]+)+", re.IGNORECASE
)
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+")
_PRONOUN = re.compile(
    r"(?:and |but |so |also |then |plus )?"
    r"(?:it|it['’]s|its|he|he['’]s|she|she['’]s|they|they['’](?:re|ve)|them|his|her|their|this|that|that['’]s|these"
    r"|those|such|both|one of them|some of them|there|which|same)\b"
    r"|(?:而且|但是?|所以|不过|然后|还有)?(?:它|他|她|[这那其该此](?![个天年里次边种些我你就么时周月座套家]))",
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"^(?:you(?:['’]re| are)?|your|keep|can't wait|spill|(?:i )?(?:100%|totally|completely|couldn't|so)? ?agree"
    r"|good luck|have fun|take care|let me know|enjoy|let's|looks?|sounds?|what an?|how)\b"
    r"|^(?:你|祝|加油|期待|听起来|看起来|真)",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|you're|you’re)\b|你", re.IGNORECASE)
_FIGURE = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<![.!?…“\"] )(?<!^)\b(?!I\b|I['’])[A-Z][\w'-]{1,30}")
_QUOTED = re.compile(r"[“「『《\"][^”」』》\"]{2,30}[”」』》\"]")
_OBJECT = re.compile(r"(?:I|we)(?:['’]\w+)?(?: [\w'’]+){0,4} (?:it|them|him)\b|.{0,4}(?:它|他们|她们)", re.IGNORECASE)
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Unit(Struct, frozen=True):
    """A line that may stand in a summary. `terms`: its words with their weights; `factor`: for what it is about."""

    turn: int
    place: int
    speaker: str
    time: datetime
    shown: str
    terms: dict[str, float]
    factor: float

    @property
    def density(self) -> float:
        """Weight a character, about."""
        return sum(self.terms.values()) / (12 + len(self.shown) + len(_UNSPACED.findall(self.shown)) * 2)


class SpokenTurn(Protocol):
    """A turn to be summarised."""

    @property
    def speaker(self) -> str: ...

    @property
    def time(self) -> datetime: ...

    @property
    def text(self) -> str: ...


def units_of(turns: Sequence[SpokenTurn], longest: int) -> Iterator[Unit]:
    """The units of the turns, in their order, each of about `longest` characters at most."""
    address = _addressed_names(turns)
    read = _worth_reading(turns)
    question = ""
    for n, turn in enumerate(turns):
        if read is not None and n not in read:
            question = ""
            continue
        before, place, short = "", 0, True
        pieces = [" ".join(one.text.split()) for one in sentences(_EMOJI.sub("", turn.text[:MOST_CHARACTERS]))]
        asked = ""
        for piece in pieces:
            cleaned = _clean(piece, address)
            if not cleaned:
                continue
            if is_question(cleaned):
                asked, before = cleaned, ""
                continue
            shown = cleaned
            if leans := _leans(cleaned):
                if not before:
                    short = False
                    continue
                shown = f"{before} {cleaned}" if not _is_chinese(cleaned) else before + cleaned
            elif short and question and len(cleaned) <= SHORT_ANSWER and place == 0:
                joined = f"{question} — {cleaned}"
                shown = joined if len(joined) <= longest else cleaned
            short = False
            before = cleaned if shown is cleaned or not leans else ""
            unit = _unit(n, place, turn, _cut(shown, longest), is_pair=shown is not cleaned)
            place += 1
            if unit:
                yield unit
        question = f"{turn.speaker}: {asked}" if asked and len(asked) < 120 else ""


def _worth_reading(turns: Sequence[SpokenTurn]) -> set[int] | None:
    """The turns that are read, of more than MOST_TURNS; None where all are."""
    if len(turns) <= MOST_TURNS:
        return None

    def promise(n: int) -> float:
        text = turns[n].text[:2_000]
        found = len(_FIGURE.findall(text)) + 3 * len(_CAPITAL.findall(text)) + len(text) / 20
        return found / (40 + len(text)) * min(len(text), 200)

    return set(heapq.nlargest(MOST_TURNS, range(len(turns)), key=promise))


def _unit(n: int, place: int, turn: SpokenTurn, shown: str, *, is_pair: bool) -> Unit | None:
    terms = _weighed(shown)
    if len(terms) < FEWEST_TERMS or (_PRAISE.match(shown) and not is_pair):
        return None
    factor = DECIDES if _DECIDED.search(shown) else OPEN_POINT if _OPEN.search(shown) else 1.0
    factor *= OWN if _OWN.search(shown) else 1.0
    factor *= ADDRESSING if _YOU.search(shown) else 1.0
    return Unit(n, place, turn.speaker, turn.time, shown, terms, factor)


def _weighed(text: str) -> dict[str, float]:
    """The words of a text that say something, and what each is worth wherever it stands."""
    names = {term for match in _CAPITAL.finditer(text) for term in term_list(match[0], "")}
    found = [value for value in values(text) if value.kind != "name"]
    figures = {f"={value.value}": FIGURE for value in found}
    names |= {term for match in _QUOTED.finditer(text) for term in term_list(match[0], "")}
    weights: dict[str, float] = {}
    for term in term_list(text, ""):
        if is_weak(term):
            continue
        if _FIGURE.search(term):
            weights[term] = DIGITS
        elif term in names:
            weights[term] = NAME
        else:
            weights[term] = CHINESE if is_unspaced(term) else COMMON + (1 - COMMON) * _rareness(term)
    return weights | figures


@lru_cache(maxsize=1 << 13)
def _rareness(term: str) -> float:
    from foundation.text.synonyms import rareness  # brings numpy

    return rareness(term)


def _addressed_names(turns: Sequence[SpokenTurn]) -> re.Pattern[str]:
    """Names by which speakers address each other: their own, the first of several, and short forms of those."""
    speakers = {turn.speaker for turn in turns}
    names = {name for speaker in speakers for name in (speaker, *speaker.split()[:1])}
    names = {name for name in names if len(name) > 1 and name not in {"user", "assistant", "tool", "system"}}
    short = {name[:length] for name in names if name.isascii() for length in range(3, len(name))}
    either = "|".join(re.escape(name) for name in sorted(names | short, key=lambda name: -len(name))) or r"(?!)"
    return re.compile(
        rf"^(?:{either})\s*[,!，！]\s*|[,，]\s*(?:{either})(?=\s*[.!?,…。！？，]|$)|(?<=[!.?]) (?:{either})[!.](?=\s|$)"
    )


def _clean(sentence: str, address: re.Pattern[str]) -> str:
    """Without openings and addressed names; "" where nothing is left."""
    text = address.sub("", sentence).strip()
    while (shorter := address.sub("", _LEADING.sub("", text)).strip(" ,，-–—")) != text:
        text = shorter
    if not any(character.isalnum() for character in text):
        return ""
    return text[0].upper() + text[1:] if text[0].isascii() else text


def _leans(text: str) -> bool:
    """Whether it has a pronoun whose noun is not in it."""
    return _PRONOUN.match(text) is not None or _OBJECT.match(text) is not None


def _is_chinese(text: str) -> bool:
    return bool(_UNSPACED.match(text))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
