"""Parses sentences into statements: subject, frame of words, values, and whether they describe a state. Rules for
English and Chinese; questions, suppositions and wishes are no statements.
"""

import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from foundation.text.analysis import plain_words, term_list
from foundation.text.sentences import sentences
from foundation.text.stopwords import is_weak
from memory.search.results.values import NEGATION, values

_MOST, _LONGEST = 12, 240  # sentences of a snippet, characters of one
_SHORT = 10  # characters that say one thing of a topic
SUPPOSED = re.compile(
    r"[?？]\s*$|\b(?:if|would|could|might|maybe|perhaps|should|wish|hope|hoping|suppose|unless)\b|如果|要是|也许|可能|希望|想要|吗",
    re.IGNORECASE,
)
"""A question, a supposition or a wish: it states nothing."""
_CHANGES = re.compile(
    r"\b(?:now|nowadays|no longer|any ?more|instead(?: of)?|from now on|by now|currently|these days"
    r"|(?:has been |have been |was |were |is |are |got |has |have )?"
    r"(?:moved|changed|switched|postponed|rescheduled|renamed|raised|lowered|cut|replaced|pushed|brought forward)"
    r"(?: (?:to|by|with|back to|from))?|stopped|quit|gave up)\b"
    r"|改[成为到在用]|换[成到了]|推迟到|提前到|搬家|搬[到去进]|换(?:新|个|份)*(?:工作|公司)|跳槽|入职|辞职|不再|现在|如今|已经|变成",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:is|are|am|lives?|works?|costs?|starts?|leaves?|opens?|closes?|ends?|begins?|weighs?|prefers?|uses?|takes?"
    r"|arrives?|departs?|runs?|needs?|owns?|drinks?|eats?|goes|go|meets?|pays?|earns?|expires?|supports?|requires?"
    r"|listens?|deploys?|likes?|loves?|hates?|wants?|drives?|stays?|sleeps?|has to)\b|['’](?:s|re|m)\b"
    r"|[是在住叫为用吃喝铺养开]|出发|喜欢|需要|工作|[:：]",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:was|were|went|ran|bought|saw|had|did|met|made|got|came|took|gave|said|told|found|left|spent|read|won|lost"
    r"|yesterday|today|tonight|tomorrow|last|ago|once|just|used to|will|(?!need|feed|speed|breed|embed)\w{2,}ed)\b"
    r"|昨天|今天|明天|刚才|刚刚|上周|上个月|去年|[过了](?!期)",
    re.IGNORECASE,
)
_EVERY = re.compile(r"[a-z]+days", re.IGNORECASE)  # on Mondays: not on those alone
_GIVEN_UP = re.compile(r"\b(?:stopped|quit|gave up)\b", re.IGNORECASE)
_NO_EVENT = re.compile(r"\b(?:based|located|married|called|named|scheduled|planned|supposed|red|bed)\b", re.IGNORECASE)
_SELF = frozenset({"i", "we", "me", "my", "our", "im", "ive"})
_SOMEBODY = frozenset(
    {"he", "she", "it", "they", "you", "his", "her", "its", "their", "your", "this", "that", *"他她它这那你"}
)
_OF_SOMEBODY = frozenset({"my", "our", "the", "a", "an", "new", "old"})
_OPENING = re.compile(r"^(?:[\w’']+ ?){1,4}[,，](?!\d) *")  # “By the way, ”
_CURRENT = frozenset({"current", "latest", "please", "so", "and", "but", "ok", "okay", "well", "actually", "also"})
_ONE_AT_A_TIME = (
    r"name|address|password|passphrase|code|pin|e-?mail|username|colou?r|capital|birthday|job|title|boss|manager|doctor"
    r"|dentist|landlord|teacher|plan|deadline|venue|gate|room|seat|size|price|rent|salary|budget|version|port|host|url"
    r"|database|framework|language|editor|owner|lead|region|branch|status|destination|hotel|airline|bank|insurer"
)
_SLOT = re.compile(
    rf"^(?P<frame>.*?\b(?:favou?rite\b.*?\b(?:is|are)|(?:{_ONE_AT_A_TIME})\b[^.,;]{{0,30}}?\bis"
    r"|lives? in|(?:works? (?:at|for|as))|(?:is|are|am) (?:called|named|based in|located in|married to)"
    r"|prefers?|deploys? to)) (?P<value>\S.{0,40}?)[.!]*$",
    re.IGNORECASE,
)
_HAN_SLOT = re.compile(
    r"^(?P<frame>.{0,16}?(?:住在|搬到|名字[叫是]|叫做?|密码[是为]|地址[是为]|[\w的]{1,10}[是用](?:的是)?|用的是|换成|改成|改用))"
    r"(?P<value>.{1,12}?)[。！了]*$"
    r"|^(?P<frame2>.{1,4}在)(?P<value2>.{2,8}(?:工作|上班))[。！]*$"
)
_HAN_CLAUSE = (
    r"(?:^|[，。！；：,.!;:])\s*(?:我们?家?|咱们?)?(?:已经?|刚刚?|终于|最近|上个?月|上周|今年|去年|前几天|又)*"
)
_LEFT = {
    "home": re.compile(
        rf"\b(?:i|we)(?:['’]ve| have)? (?:just |recently )?moved\b|{_HAN_CLAUSE}(?:搬家|搬[到去进回])", re.IGNORECASE
    ),
    "work": re.compile(
        r"\b(?:i|we)(?:['’]ve| have)? (?:just |recently )?(?:changed|switched|quit|got a new|left my) (?:my )?jobs?\b"
        rf"|{_HAN_CLAUSE}(?:换了?(?:新|个|份)*(?:工作|公司)|跳槽|辞职|入职)",
        re.IGNORECASE,
    ),
}
"""Signs that the speaker left a home or a job, which a person has one of at a time."""
_HELD = {
    "home": re.compile(r"^(?:i|we) (?:now )?live\b|^我们?(?:现在|目前)?住|^我们?家(?:现在)?在", re.IGNORECASE),
    "work": re.compile(
        r"^(?:i|we) (?:now )?work\b"
        r"|^我们?(?:现在|目前)?在[^，。]{2,20}?(?:上班|工作|任职|就职|实习|当|做(?![饭菜梦题]))",
        re.IGNORECASE,
    ),
}
_HAN_REPLACED = re.compile(
    r"^(?:我们?的?|把)?(?P<topic>[^，。了]{2,8}?)(?:现在|已经)?(?:改[成为用到]|换[成到]|现在是)(?=.)"
    r"|(?:^|我)换(?:了|新|个|份|辆|台|部)*(?P<thing>[^，。了]{1,4})(?=[了，。])"
)
_HAN_VERBS = re.compile(r"用的是|换成|改成|改用|搬到|住在|[是叫用]|的")
_INSTEAD = re.compile(
    r"\b(?:from|replaced) (?P<old>[\w.+#-]+) (?:to|with|by) (?P<new>[\w.+#-]+)"
    r"|(?P<new2>[\w.+#-]+) (?:instead of|rather than) (?P<old2>[\w.+#-]+)",
    re.IGNORECASE,
)


class Statement(Struct, frozen=True):
    """A sentence that asserts a fact. Terms are the analyser's.

    `frame` are the content terms without values, negations and signs of change; `slot` is the text before a
    single-valued place, and its value; `instead` is the replaced value, and its replacement.
    """

    subject: str
    frame: frozenset[str]
    values: frozenset[tuple[str, str]]
    all_terms: frozenset[str]
    denies: bool
    changes: bool
    slot: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    instead: tuple[frozenset[str], frozenset[str]] | None = None
    text: str = ""

    def leaves(self, old: "Statement") -> bool:
        """Whether the speaker left the home, the job or the thing that the older sentence tells of."""
        if any(_LEFT[name].search(self.text) and _HELD[name].search(old.text) for name in _LEFT):
            return True
        if not (match := _HAN_REPLACED.search(self.text)) or _HAPPENED.search(old.text):
            return False
        thing, topic = match["thing"], match["topic"]
        if thing:
            return re.match(rf"我们?的?{re.escape(thing)}[是叫用在]", old.text) is not None
        rest = old.text.removeprefix("我").removeprefix("的")
        return len(rest) <= len(topic) + _SHORT and (rest.startswith(topic) or rest.rstrip("。.！!").endswith(topic))


def statements(text: str) -> Iterator[Statement]:
    """The first of a text's sentences that are statements."""
    for sentence in islice(sentences(text), _MOST):
        bare = sentence.text.strip(" -*#>\t")
        if len(bare) <= _LONGEST and bare and not SUPPOSED.search(bare) and (found := _statement(bare)):
            yield found


def _statement(sentence: str) -> Statement | None:
    changes = _CHANGES.search(sentence) is not None
    happened = _HAPPENED.search(_NO_EVENT.sub("", sentence)) is not None
    is_state = _STATE.search(sentence) is not None and not happened
    if not (changes or is_state):
        return None
    verb = min(match.start() for match in (_STATE.search(sentence), _CHANGES.search(sentence)) if match)
    extracted = [value for value in values(sentence) if not _EVERY.fullmatch(sentence[value.start : value.end])]
    verb = verb if sentence.isascii() else -1  # in Chinese the time precedes the verb
    predicate_values = [value for value in extracted if value.start > verb]
    of_subject = {f"{value.kind} {value.value}" for value in extracted if value.start <= verb and value.kind != "name"}
    plain = NEGATION.sub(
        " ", _CHANGES.sub(" ", _blanked(sentence, [(value.start, value.end) for value in predicate_values]))
    )
    return Statement(
        subject=_subject(_CHANGES.sub(" ", sentence)),
        frame=frozenset(term for term in term_list(plain) if not is_weak(term)) | of_subject,
        values=frozenset((value.kind, value.value) for value in predicate_values),
        all_terms=frozenset(term_list(sentence)),
        denies=NEGATION.search(sentence) is not None or _GIVEN_UP.search(sentence) is not None,
        changes=changes,
        slot=_slot(sentence),
        instead=_instead(sentence) if changes else None,
        text=sentence,
    )


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _subject(sentence: str) -> str:
    """The subject: `self`, or the first word that names something; "" for a pronoun."""
    for word in plain_words(_OPENING.sub("", sentence.casefold())):
        if word in _SOMEBODY:
            return ""
        if word in _SELF - {"my", "our"} or word == "我":
            return "self"
        if word not in _OF_SOMEBODY and word not in _CURRENT:
            return word
    return ""


def _slot(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    bare = " ".join(_CHANGES.sub(" ", sentence).split()).replace(" .", ".")
    if match := _SLOT.match(bare):
        return tuple(term_list(match["frame"])), tuple(term_list(match["value"]))
    if match := _HAN_SLOT.match(sentence.replace("现在", "").replace("如今", "")):
        frame, value = match["frame"] or match["frame2"], match["value"] or match["value2"]
        return tuple(_HAN_VERBS.sub("", frame)), tuple(term_list(value))
    return None


def _instead(sentence: str) -> tuple[frozenset[str], frozenset[str]] | None:
    match = _INSTEAD.search(sentence)
    if match is None:
        return None
    old, new = match["old"] or match["old2"], match["new"] or match["new2"]
    return frozenset(term_list(old)), frozenset(term_list(new))
