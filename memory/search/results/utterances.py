"""Reads of a message what decides whether it supersedes an earlier one: its topics, values, persons, and its cues.

A cue is a sign of change (a change, an end, something new, a correction), or a sign that nothing changed (an addition,
somebody else's words, a supposition, an instruction, an older past, an event). The expressions are those of English and
Chinese in general, in casual spelling too. Questions are left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from foundation.text.analysis import plain_words, term_list, token_spans
from foundation.text.folding import is_unspaced
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from foundation.text.synonyms import synonyms_of
from memory.search.results.values import NEGATION, values

_NEAR = 0.6  # least similarity of a synonym
_LONGEST = 400  # characters of a message that are read
_CUE_CHARACTERS = (9, 3)  # a longer match, in English and in Chinese, spans other words, which stay topics


class _Cue:
    """Expressions of one meaning, in English (in lower case, one group a line) and in Chinese."""

    def __init__(self, english: str, chinese: str) -> None:
        self._english = re.compile(rf"\b(?:{english.strip().replace(chr(10), '|')})\b")
        self._chinese = re.compile(chinese)

    def pattern(self, *, unspaced: bool) -> re.Pattern[str]:
        return self._chinese if unspaced else self._english


_CHANGED = _Cue(
    r"""(?:re)?(?:mov(?:ed?|es|ing)|chang(?:ed?|es|ing)|switch(?:ed|es|ing)?|swap(?:ped|ping)?|replac(?:ed?|ing)|nam(?:ed|ing)
map(?:ped|ping)|migrat(?:ed?|ing)|upgrad(?:ed?|ing)|updat(?:ed|ing)|bump(?:ed)?|convert(?:ed)?|schedul(?:ed|ing)
postpon(?:ed|ing)|push(?:ed)?|shift(?:ed)?|transfer(?:red)?|locat(?:ed|ing)|rais(?:ed|ing)|lower(?:ed)?|increas(?:ed|es)
duc(?:ed|es)|vert(?:ed)?|wrote|ported|negotiated)|promoted|cut|downgraded|extended|delayed|doubled|halved|dropped to
brought forward|traded|turned|became|gone (?:up|down)|went (?:with|up|down|back|from)|going with|instead|settled on
ended up|decided on|opted for|took over|taking over|joined|joining|got a new""",
    r"改|换|搬|砍|[减加][到成少]|调[到成去整]|转[到成去行]|升[到级为]|降|涨|变[成更了]|挪|迁|推迟|提前|延[期后迟]|重新|成了|替"
    r"|接手|接任|翻倍|跳槽|入职|报到|定为|缩",
)
_ENDED = _Cue(
    r"""(?<!n['’]t )(?<!cant )(?<!wont )(?<!not )(?<!never )(?:no longer|so much for|no more|never again
(?:not |n['’]?t .{0,30})?any ?more|quit(?:ting)?|left|leaving|sold|cancel\w*|g[ai]v(?:e|en|ing) up|stop(?:ped|ping)?
dropp?(?:ed|ing)?|ditched|dumped|broken?(?: up)?|split up|divorced|deleted|removed|uninstalled|unsubscribed|disabled
gone|fell through|over(?=\W*$|[.,!])|ended|died|dead|rip|passed away|closed|expired|called off|off the table|scrapped
binned|axed|killed|done with|(?:good)?bye(?= \w)|(?:finally|got|am|['’]?m|is|are|['’]re) out of|pulled out
backed out|bailed|retired|resigned|deprecated|decommissioned|fired|laid off|handed (?:in|back|over)|let go|got rid of
threw out|shut down|finished|gave (?:away|back)|returned|moved out|ran out|last day|swore off|sick of|outgrew
(?:not|isn['’]?t) happening|ca(?:n['’]?t|nnot) (?:go back|stand)|wo(?:n['’]?t) be)""",
    r"不再|不[^，。不]{1,5}了|没[^，。]{0,4}了|取消|退[租了出掉]|辞|离[职婚开]|卖[了掉]|戒|停[用掉]|停了(?=[，。！]|$)|分手|失效|作废|放弃"
    r"|算了|别再|坏了|丢了|扔|黄了|泡汤|去世|走了|关[了门]|倒闭|送[人走给到]|删|卸载|注销|下[架线]|废弃|淘汰|[过到]期|解散|告吹"
    r"|不了|没[能法]|拆了",
)
_NEW = _Cue(
    r"""now|nowadays|these days|currently|from now on|as of|since|new|start(?:ed|ing|s)?|began|finally|officially
already|first day|lately|recently|by now|at last|back to|going forward|effective|until further notice|update|latest
onwards""",
    r"现在|如今|目前|最近|刚|新|开始|以后|从.{1,6}起|[周月]起|已经|终于|只[剩有]|就[好够行]|今后|往后|眼下|正式|这阵子|暂时",
)
_CORRECTED = _Cue(
    r"""actually|sorry|wait|correction|typo|i meant|meant to|my bad|mistake|wrong|mixed up|turns out|in fact|nvm
never ?mind|scratch that|oops|misread|misremembered|after all|changed? my mind|my mistake|on second thought
forget (?:what|that|it)|not true|i lied|edit|checked again|double checked|looked it up|ignore|disregard|confused""",
    r"其实|更正|[打说记搞写弄看]错|不对|纠正|不是.{1,12}[，,]?[是而]|原来|才对|应该是|抱歉|改主意|口误|手滑|笔误|后来发现|想了想|反悔",
)
_ADDED = _Cue(
    r"also|too|as well|another|plus|besides|both|in addition|on top of",
    r"还[有在开想]|也|另外|又|再[来加]|一起|顺便",
)
_SAID = _Cue(r"says?|said|told|thinks", r"告诉|[说觉][得他她]?")
_HEARD = _Cue(r"heard|according to|apparently|saw|read that|supposedly|rumou?r", r"听说|据说|听.{1,3}说|看到|传言")
_SUPPOSED = _Cue(
    r"""if|would|could|might|maybe|perhaps|wish|hop(?:e|ing)|suppose|unless|thinking (?:about|of)|consider(?:ing)?
wonder(?:ing)?|what about|dunno|not sure""",
    r"如果|要是|也许|可能|希望|要不要|会不会|是不是|考虑|纠结|万一|在想|吗",
)
_OLDER = _Cue(
    r"""used to|when i was|back (?:then|in)|(?:years?|months) ago|as a (?:kid|child|teen\w*|student)|in (?:19|20)\d\d
growing up|at school|in college|once""",
    r"以前|小时候|年前|当年|那时|的时候|曾经",
)
_INSTRUCTS = re.compile(
    r"^\W*(?:(?:please|pls|hey|ok|can you|could you),? )*(?:write|draft|explain|help|remind|translate|make|give|show"
    r"|list|summari[sz]e|find|tell|suggest|create|generate|compare|imagine)\b|^\W*(?:请|帮我|麻烦|写|翻译|给我|提醒)"
)
_EVENT = _Cue(
    r"""today|yesterday|tonight|last (?:night|week|weekend|month|year)|this (?:morning|afternoon|evening|week|weekend)
the other day|ran|went|saw|bought|met|had|did|got|made|paid|visited|watched|finished|attended|won""",
    r"昨[天晚]|今[天早晚]|刚才|上周|上个月|去了|买了|花了|跑了|看了|吃了",
)
_STATES = _Cue(
    r"""is|are|am|i['’]?m|we['’]?re|['’]s|my|our|lives?|works?|costs?|starts?|use|uses|like|prefer|take|drink|eat|have|has
play|drive|stay|go|goes|love|hate|always|every|favou?rite""",
    r"[是在住叫为用养]|我的|我们|喜欢|最爱|每[天周个年]|定[在了的]",
)
_PEOPLE = re.compile(
    r"(?:^|[.,;!?] |\b(?:and|but|so|my|our) )(?:my |our |the |a )?(?:\w+ )?(?P<en>sister|brother|mom|mum|mother|dad"
    r"|father|wife|husband|gf|girlfriend|bf|boyfriend|partner|roommate|flatmate|friend|colleague|coworker"
    r"|neighbou?r|cousin|aunt|uncle|grand(?:ma|pa|mother|father)|son|daughter|kid|niece|nephew|guy|people)"
    r"(?:['’]?s)?\b"
    r"|(?:^|[，。！,.!；\s])(?:我们?|咱们?|公司|听|小)?(?P<zh>[表堂]?[姐妹哥弟]|妈|爸|爷爷|奶奶|老公|老婆|女朋友|男朋友|同事|朋友"
    r"|邻居|室友|同[学桌]|儿子|女儿|外[婆公]|[舅姑叔]|阿姨|小[王李张刘陈赵周吴]|\w{1,3}(?=说[他她]))"
)
_SELF = _Cue(r"i|i['’]?(?:m|ve|ll|d)|my|me|we|our|us", r"我|咱")
_PARTICLE = re.compile(r"[了啦](?=[，。！!,\s]|$)")
_OWNED = re.compile(r"\b(?:my|our|the) (\w+)|(?:我的|我们|我家|我)(\w{2})")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_HAN_PAIR = re.compile(r"(?P<before>[\u4e00-\u9fff])的?(?=(?P<pair>[\u4e00-\u9fff]{2}))")
_NO_MODIFIERS = frozenset("我你他她它们是在有去来要会到用说把每都就也还吃喝做看养住叫给跟")
_CLAUSE = re.compile(r"[,，;；.!！。\n~…]+\s*| - |(?<=[\u4e00-\u9fff]) ")
_VOCATIVE = re.compile(
    r"(?:(?<=, )|\b(?:hey|hi|thanks|thank you|wow|yeah|yes|congrats|definitely|absolutely|appreciate (?:it|you|that))"
    r",? )[A-Z]\w+(?=[!.,;?]| -|$)",
    re.IGNORECASE,
)
_SIGNS = {"changed": _CHANGED, "ended": _ENDED, "new": _NEW, "corrected": _CORRECTED}
_CUES = {
    "added": _ADDED,
    "said": _SAID,
    "heard": _HEARD,
    "supposed": _SUPPOSED,
    "older": _OLDER,
    "event": _EVENT,
    "states": _STATES,
    "self": _SELF,
}
_RELATIONS = {
    "home": _Cue(
        r"liv(?:e|es|ed|ing) (?:in|on|at|with)|mov(?:ed|ing|es) (?:to|into|in|out|back)|rent(?:ing)?|apartment|flat"
        r"|flatshare|my (?:own )?place|lease",
        r"住|搬|租|房东",
    ),
    "work": _Cue(
        r"work(?:s|ed|ing)? (?:at|for|as|in|with)|job|hired|joined|employer|last day at|first day at|quit|resigned"
        r"|laid off|promoted|handed in",
        r"上班|工作|入职|离职|跳槽|辞职|公司|报到|当[老医护程]",
    ),
    "partner": _Cue(
        r"single|dating|seeing (?:someone|somebody)|girlfriend|boyfriend|married|engaged|broke up|divorced|split up",
        r"单身|对象|男朋友|女朋友|结婚|离婚|分手|脱单|相亲",
    ),
    "diet": _Cue(
        r"vegan|vegetarian|veggie|pescatarian|meat|dairy|gluten|keto|carnivore|eating|diet",
        r"吃素|吃肉|素食|忌口|不吃|无肉|荤",
    ),
    "travel": _Cue(
        r"driv(?:e|ing) to|my car|bike to|cycl(?:e|ing)|take the (?:bus|train|tube|subway)|commut(?:e|ing)"
        r"|by (?:bus|train|car)",
        r"开车|地铁|公交|骑车|坐车|打车上",
    ),
    "study": _Cue(
        r"study(?:ing)?|major(?:ing)?|degree|uni|university|college|masters|phd|apprenticeship",
        r"读[书研博大]|专业|大学|考研",
    ),
}
"""What a person has one of at a time: two messages about it share a topic without a word in common."""
_COMMON_HAN = frozenset(
    "零百千万个号周星期月去年时分钟哈次第到还说过给她他呢打着先真一二三四五六七八九十两天日点半上下午早晚中大小人们家里外前后来出进回"
    "好会要想可以做有没用的是在吃喝每都才只最现今明昨行事间改换了"
)
_COMMON = frozenset(
    term_list(
        "day week month year today tomorrow yesterday morning evening night time work home place people feel love like "
        "good bad best great back take put keep start end come use need want little big first last next two three lot "
        "happy hard long always never every actually since really guy new old life try find give call weekend help "
        "support different amazing look together inspire important sound mean appreciate glad remind show motivate "
        "positive definitely bring fun moment hear dream share happen experience word special gonna even part friend "
        "learn wait idea enjoy care real super agree stuff proud better worth reach believe understand total soon "
        "chance grow beautiful small true interest pretty everything everyone face step strong kid recent encourage "
        "hope plan excite wanna haha omg tbh btw thing person sure nice cool fine ok amaze incredible reward memory",
        "",
    )
)
"""Frequent words of talk, the most frequent ones of LoCoMo among them: who shares one need not share a topic."""


class Utterance(Struct, frozen=True):
    """What is compared of a message. `cues` are the names of those it has; terms are the analyser's.

    `signed` are the terms of the clauses with a sign of change, `lead` the first two topics, `modifiers` the content
    word directly before a topic, `related` the synonyms of the topics.
    """

    topics: frozenset[str]
    common: frozenset[str]
    characters: frozenset[str]
    values: frozenset[tuple[str, str]]
    names: frozenset[str]
    people: frozenset[str]
    owned: frozenset[str]
    cues: frozenset[str]
    denies: bool
    unspaced: bool
    lead: frozenset[str]
    modifiers: dict[str, str]
    related: frozenset[str]
    signed: frozenset[str]
    relations: frozenset[str]

    @property
    def signs(self) -> frozenset[str]:
        """The signs of change."""
        return self.cues & {"changed", "ended", "new", "corrected"}


def read_utterance(text: str) -> Utterance:
    """Reads one message."""
    said = (sentence.text for sentence in sentences(text[:_LONGEST]))
    text = _VOCATIVE.sub("", " ".join(sentence for sentence in said if not is_question(sentence)))
    unspaced = any(is_unspaced(letter) for letter in text[:40])
    lower = text.lower() if len(text.lower()) == len(text) else text
    signs = {name: list(cue.pattern(unspaced=unspaced).finditer(lower)) for name, cue in _SIGNS.items()}
    found = list(values(text))
    plain = _plain(text, [(value.start, value.end) for value in found if value.kind != "name"], signs.values())
    terms = [term for term in term_list(plain) if not is_weak(term) and not _COMMON_HAN.issuperset(term)]
    topics = list(dict.fromkeys(term for term in terms if term not in _COMMON))
    names = {part for value in found if value.kind == "name" for part in value.value.split()}
    latin = {match[0] for match in _LATIN.finditer(lower)} if unspaced else set[str]()
    return Utterance(
        topics=frozenset(topics),
        common=frozenset(terms) & _COMMON,
        characters=_characters(plain) if unspaced else frozenset(),
        values=frozenset((value.kind, value.value) for value in found if value.kind != "name"),
        names=frozenset(names | latin),
        people=frozenset((match["en"] or match["zh"]) for match in _PEOPLE.finditer(lower)),
        owned=frozenset((match[1] or match[2]) for match in _OWNED.finditer(lower)),
        cues=frozenset((*(name for name, matches in signs.items() if matches), *_cues(lower, unspaced=unspaced))),
        denies=NEGATION.search(text) is not None,
        unspaced=unspaced,
        lead=frozenset(topics[:2]),
        modifiers=_han_modifiers(plain) if unspaced else _modifiers(plain),
        related=frozenset() if unspaced else _related(topics),
        signed=_signed(text, [match.start() for matches in signs.values() for match in matches], unspaced=unspaced),
        relations=frozenset(name for name, cue in _RELATIONS.items() if cue.pattern(unspaced=unspaced).search(lower)),
    )


def _cues(text: str, *, unspaced: bool) -> Iterator[str]:
    yield from (name for name, cue in _CUES.items() if cue.pattern(unspaced=unspaced).search(text))
    if _INSTRUCTS.search(text):
        yield "instructs"
    if unspaced and _PARTICLE.search(text):
        yield "particle"


def _plain(text: str, spans: list[tuple[int, int]], signs: Iterable[Sequence[re.Match[str]]]) -> str:
    """The text with its values and its signs of change blanked. A sign that spans other words keeps them."""
    for matches in signs:
        spans += [match.span() for match in matches if len(match[0]) <= _CUE_CHARACTERS[0 if match[0].isascii() else 1]]
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _characters(text: str) -> frozenset[str]:
    """The characters of a text without spaces that say something."""
    return frozenset(
        character
        for character in plain_words(text)
        if is_unspaced(character) and not is_weak(character) and character not in _COMMON_HAN
    )


def _modifiers(text: str) -> dict[str, str]:
    """For each topic the content word directly before it (“guest room”)."""
    found: dict[str, str] = {}
    before, end_before = "", -1
    for terms, start, end in token_spans(text):
        term = terms[0] if len(terms) == 1 else ""
        if term and before and start - end_before == 1 and not is_weak(term) and not is_weak(before):
            found[term] = before
        before, end_before = term, end
    return found


def _han_modifiers(text: str) -> dict[str, str]:
    """For each pair of characters the content characters directly before it, or before its 的 (“小儿子”)."""
    found: dict[str, str] = {}
    for match in _HAN_PAIR.finditer(text):
        before = match["before"]
        if not is_weak(before[-1]) and before[-1] not in _NO_MODIFIERS:
            found.setdefault(match["pair"], before)
    return found


def _related(topics: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_synonyms, topics))


@lru_cache(maxsize=1 << 12)
def _synonyms(term: str) -> frozenset[str]:
    return frozenset(synonym.term for synonym in synonyms_of(term) if synonym.share >= _NEAR)


def _signed(text: str, signs: Sequence[int], *, unspaced: bool) -> frozenset[str]:
    """The terms of the clauses in which a sign of change begins."""
    ends = [match.end() for match in _CLAUSE.finditer(text)]
    bounds = zip((0, *ends), (*ends, len(text)), strict=True)
    said = " ".join(text[start:end] for start, end in bounds if any(start <= sign < end for sign in signs))
    return frozenset((*term_list(said), *(plain_words(said) if unspaced else ())))
