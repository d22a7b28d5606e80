"""Likelihood that a message is served by what memory holds: whether anything is recalled for it.

    p = 1 / (1 + exp(−Σ weight · feature))

The features are those of the search (the likelihood that some hit answers, the best score, the share of the content
terms that one of the first hits holds, and whether it is all of them, whether the message names somebody who is in the
hits) and of the wording: whether it speaks of the person's own affairs, of the past or of definite things, gives an
instruction, carries code, asks for common knowledge, and how many content terms it has. Of a message that carries a
text to work on (`translate: …`, a quotation, code) only the words before it count. Words of courtesy alone (“ok, go
on”) need nothing.

A logistic regression over questions to three kinds of stores (talks of friends, also put in the first person and
without the names; Chinese talks; an encyclopedia) and half of the messages that need no memory in
benchmarks/corpora/memory_free.jsonl. docs/benchmarks.md has the figures.
"""

import math
import re
from collections.abc import Sequence
from itertools import islice

from foundation.text.analysis import plain_words, term_list
from foundation.text.chinese_questions import chinese_terms
from foundation.text.dates.spans import without_dates
from foundation.text.folding import fold, is_unspaced
from foundation.text.sentences import is_question, sentences
from foundation.text.stopwords import is_weak
from memory.repetition import ANNOUNCING
from memory.search import Hit, SearchResults
from memory.search.results.values import values

WEIGHTS = {
    "constant": -13.9,
    "likelihood": 4.3,
    "best": 11.4,
    "named": 7.5,
    "own": 3.8,
    "past": 1.5,
    "instruction": -4.9,
    "general": -0.9,
    "code": -6.6,
    "length": 3.9,
    "definite": 1.8,
    "covered": 4.0,
    "full": 3.0,
    "unspaced": -0.4,
    "dated": 3.0,
}
"""In logits. `likelihood`, `best` and `covered` are from 0 to 1, `length` is the logarithm of 1 + the content terms,
the others are 0 or 1. `dated`, that the hits
are of the dates which the message names, is no part of the fit."""

_OWN = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|mine|we|we['’](?:re|ve|d|ll)|our|ours)\b|我|咱|俺", re.IGNORECASE)
_THEIRS = re.compile(r"\b(?:my|our)\b|我的|我们|我家", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:remember|recall|remind|earlier|previously|last (?:time|week|month|year|night)|yesterday|ago|back then|so far"
    r"|did (?:i|we|you)"
    r"|(?:you|i|we) (?:said|told|mentioned|decided|agreed|talked|spoke|discussed|planned|chose|wrote))\b"
    r"|记得|上次|之前|以前|昨天|上周|上个月|去年|说过|说的|提到|提过|聊过|聊的|定的|决定",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:the|his|her|their|that|those|he|she|they|him|them)\b(?! (?:most|best|same|difference|first|meaning|word))"
    r"|他|她|那[个位只天家次]|哪(?:一?天|家|里|两)",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^\W*(?:(?:please|pls|now|ok(?:ay)?|then|and|so|just|hey|can you|could you|would you|be|in \w+),? )*"
    r"(?:write|draw|translate|explain|make|give|answer|rewrite|rephrase|paraphrase|summari[sz]e|list|put|use|don['’]?t"
    r"|do not|create|generate|convert|fix|shorten|expand|reply|respond|add|remove|sort|count|turn|compose|invent"
    r"|pretend|act|continue|suggest|pick|choose|format|stop|keep|describe|define|compare|correct|proofread|spell|repeat|blunt"
    r"|brief|tell (?:me )?an?|simplify|imagine|think|role-?play|limit|start|end|replace|number)\b"
    r"|^\W*(?:请|麻烦|帮我|帮忙|给我|再|把|(?:只|不要|别)?用(?!了)|别|不要|从现在|接下来|后面)"
    r"|^\W*(?:写|画|翻译|解释|总结|列|改|做成|编|起|讲|说得|回答|换|缩|扩|润色|续写|生成|转|给)",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"^\W*(?:(?:so|and|hey|um+|btw|by the way),? )*"
    r"(?:how (?:do|does|to|can|many|much|far|long|old|big|tall|deep|fast|hot)\b"
    r"|what(?:['’]?s| is| are| does| do) (?:a|an|the)?\b|why (?:do|does|is|are|did)\b|which\b"
    r"|(?:is|are) (?:it|there|a|an|the)\b"
    r"|can (?:a|an|you|dogs|cats|people)\b|who (?:invented|painted|wrote|discovered|built|composed)\b|at what\b"
    r"|where (?:do|does|is|are|did)\b|when did\b|do (?:you|people)\b|difference\b)"
    r"|为什么|怎么|什么是|是什么|区别|有什么|多[远高深长久]|如何|能不能|哪个",
    re.IGNORECASE,
)
_TO_REMEMBER = re.compile(
    r"^\W*(?:(?:please|pls|and|also|ok(?:ay)?|so|then|now|can you|could you|would you),? )*"
    r"(?:remember|remind me|note|keep in mind)(?: that\b|:|,)|^\W*(?:请|麻烦|帮我)*(?:记住|记下|记一下|提醒我)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"```|\n.*[{}();=<>]|[{};]\s*$|\b\w+\([^)]*\)|\b(?:bash|regex|python|javascript|typescript|sql|postgres|git|css|html"
    r"|rust|golang|java|kotlin|docker|numpy|pandas|react|excel|vim|awk|sed|grep|cron|json|yaml|stdin|makefile)\b"
    r"|正则|代码|脚本|函数|报错|数组|列表推导",
    re.IGNORECASE,
)
_DENIES = re.compile(r"n['’]t\b|[不没未别]")
_PAYLOAD = re.compile(r"[:：]\s|[:：](?=[^\d\s/])|\n|[“\"「『](?=.{12})|```")
_ENGLISH_COURTESY = """
hi hello hey yo sup there hiya greetings good morning afternoon evening night day weekend week
christmas easter year new happy merry nice lovely great pleased meet thanks
thank thx ty cheers much appreciate appreciated kind help helped helpful perfect awesome excellent brilliant wonderful
everyone everybody folks guys team buddy friend mate
fantastic amazing cool sweet neat fine ok okay okey k kk alright right correct exactly true yes yeah yep yup ya no
nope nah sure maybe perhaps please got gotcha understood understand see makes sense clear clearer go on continue carry
ahead next more keep going proceed do it that this one both either neither all none first second third last former
latter option need needed want wanted work works worked working well very really so too what was lol haha hehe wow oh
ah hm hmm sorry welcome bye goodbye later soon again test testing awake anyone still how are you doing today wait stop
enough done never mind nevermind forget tired bored busy long sad glad congratulations congrats hug ready begin start
lets whatever fair point interesting indeed absolutely definitely totally agree agreed noted roger solved fixed
worries think sounds looks seems better best thats
"""
_CHINESE_COURTESY = """
你好 您好 早安 早上 上好 好呀 晚上 晚安 中午 下午 午好 哈喽 嗨 谢谢 多谢 感谢 非常 好的 好 收到
对 不是 是的 明白 白了 知道 道了 行 可以 嗯 继续 辛苦 苦了 快乐 周末 末愉 愉快 新年 年快 中秋
秋快 节快 太棒 棒了 太好 好了 正是 没问 问题 不用 用了 再见 拜拜 在吗 都要 第一 一个 第二 二个
个方 那就 就第 方案 一个 下一 清楚 很清 讲得 得很 正是 是我 我要 要的 没事 事了 哈哈 呵呵 嘿嘿 哦
噢 嗯嗯 好吧 好呀 好嘞 好啊 行吧 行了 早 早啊 早呀 拜 回头 头见 晚点 点见 见啦 你真 真棒 很棒
厉害 害了 赞 懂了 我懂 了解 解了 当然 确实 随便 便吧 都行 不客 客气 气了 谢啦 谢了 谢你 谢您 气真
真好 很好 不错 错哦 加油 早点 午安 节日 国庆 端午 春节
元旦 圣诞 诞快 近怎 过得 得怎 怎么 么样 在不 不在 忙吗 吃了 了吗 有人 人吗 测试 试试 试一 一下 喂
等等 等一 稍等 接着 着说 往下 下说 说下 下去 请继 续吧 来吧 开始 始吧 没有 有了 就这 这样 样吧
差不 不多 多了 够了 可以 以了 以的 搞定 定了 功了 决了 知了 收到 原来 来如 如此 有道 道理 同意
意了 需要 不需 要了 算了 前者 后者 两个 个都 第三 三个 选一 选二
"""
_ENGLISH_REMARKS = "hello hi hey thanks thx cheers welcome bye goodbye sorry"
_CHINESE_REMARKS = "你好 您好 谢谢 多谢 感谢 早安 晚安 再见 拜拜"
_ENGLISH_DECIDING = """
yes yeah yep yup no nope nah sure maybe perhaps right correct true exactly first second third last former latter both
either neither all none not never later
"""
_CHINESE_DECIDING = "是的 第一 第二 第三 前者 后者 两个 都要 都行 同意 当然 确实 需要 晚点"
_REMARKS = frozenset(term_list(_ENGLISH_REMARKS, "")) | frozenset(_CHINESE_REMARKS.split())
"""Terms of courtesy that answer nothing."""
_DECIDING = frozenset(term_list(_ENGLISH_DECIDING, "")) | frozenset(_CHINESE_DECIDING.split())
"""Terms of answers to a question."""
_COURTESY = frozenset(term_list(_ENGLISH_COURTESY, "")) | frozenset(_CHINESE_COURTESY.split())
_DAYS = frozenset(term_list("monday tuesday wednesday thursday friday saturday sunday holidays", ""))
"""Courtesy beside words of it: “happy Friday”."""


def message_features(text: str, hits: Sequence[Hit] = ()) -> dict[str, float]:
    """The features of a message's wording, by the names of WEIGHTS; none for words of courtesy alone."""
    chinese = chinese_terms(text)
    content = {term for term in term_list(text) if not is_weak(term)}
    asked = content or {*chinese.further}  # 我住在哪里？ has single characters alone
    if (
        (content or not (is_question(text) and _OWN.search(text)))  # 我住在哪里？ has function words alone
        and content <= _COURTESY | (_DAYS if content & _COURTESY else set())
        and not _THEIRS.search(text)
        and not _PAST.search(text)
    ):
        return {}
    code, is_kept = _CODE.search(text) is not None, _TO_REMEMBER.match(text) is not None and not is_question(text)
    instruction = is_kept or _INSTRUCTION.match(text) is not None
    payload = _PAYLOAD.search(text, 1) if code or instruction else None
    said = text[: payload.start()] if payload else text
    own, past = _OWN.search(said) is not None, _PAST.search(said) is not None and not is_kept
    general, covered = not own and _GENERAL.search(said) is not None, _covered(asked, hits)
    return {
        "constant": 1.0,
        "named": float(_names_somebody(said, hits)),
        "own": float(own),
        "past": float(past),
        "instruction": float(instruction and not past),
        "general": float(general),
        "code": float(code),
        "length": math.log1p(min(len(asked), 12)),
        "definite": float(_DEFINITE.search(said) is not None),
        "covered": covered,
        "full": float(covered == 1 and not (general or instruction or code)),
        "unspaced": float(is_unspaced(text.strip()[:1])),
    }


def asks(text: str) -> bool:
    """Whether a message asks, gives a task or speaks of the past, and does not only tell something."""
    is_asked = any(is_question(sentence.text) for sentence in sentences(text))
    return is_asked or _PAST.search(text) is not None or _INSTRUCTION.match(text) is not None


def says_nothing(text: str, *, by_model: bool) -> bool:
    """Whether a turn of a talk with a model is courtesy, or the model only announces what it does."""
    terms = set(term_list(text))
    content = {term for term in terms if not is_weak(term)}
    return (
        not terms.isdisjoint(_REMARKS | ANNOUNCING if by_model else _REMARKS)
        and content <= (_COURTESY | ANNOUNCING if by_model else _COURTESY)
        and terms.isdisjoint(_DECIDING)
        and not _DENIES.search(text)
    )


def _covered(content: set[str], hits: Sequence[Hit]) -> float:
    """The largest share of the content terms that one of the first hits holds."""
    held = (len(content.intersection((*term_list(hit.snippet), *fold(hit.snippet)))) for hit in islice(hits, 3))
    return max(held, default=0) / max(len(content), 1)


def _names_somebody(text: str, hits: Sequence[Hit]) -> bool:
    """Whether it names a speaker of the hits, or has a name that stands in one of the first."""
    words = {word.casefold() for word in plain_words(text)}
    for first in {hit.speaker.casefold().split()[0] for hit in hits if hit.speaker.strip()}:
        if first in text if is_unspaced(first[0]) else first in words:
            return True
    names = [value.value for value in values(text) if value.kind in {"name", "code"}]
    found = " ".join(hit.snippet.casefold() for hit in hits[:5])
    return any(name.casefold() in found for name in names)


def recall_likelihood(text: str, results: SearchResults) -> float:
    """Likelihood, 0 to 1, that something of the results serves the message. Hits of the dates that it names need not
    hold the words of these dates."""
    features = message_features(without_dates(text) if results.is_dated else text, results.hits)
    if not results.hits or not features:
        return 0.0
    if results.is_dated:
        features |= {"past": 1.0, "instruction": 0.0, "dated": 1.0}
    features |= {"likelihood": results.likelihood, "best": results.hits[0].score}
    logit = sum(WEIGHTS[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


def passage_likelihood(rank: int, share: float, likelihood: float) -> float:
    """Likelihood, 0 to 1, that a passage serves the message: by its place (0 for the best), its score as a share of the
    best one's, and the likelihood that anything answers. A logistic regression over the questions to the same stores:
    of passages with 0.2 to 0.4, 14 to 31 % held evidence, of those with 0.6 to 0.8, 64 to 96 %."""
    logit = 5.74 * share - 0.91 * math.log(rank + 1) + 1.69 * likelihood - 6.77
    return 1 / (1 + math.exp(-logit))
