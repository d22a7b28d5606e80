"""Chinese questions: which of their characters say what is asked about.

    “我妹在哪个医院工作？”  →  医院 院工 工作, and 妹 我妹 for the character that is in none of these pairs

The words that only ask (什么时候, 叫什么, 多少) divide the text: no pair of characters crosses them.
"""

import re

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.folding import HAN, fold
from foundation.text.stopwords import is_weak

_ASKING = re.compile(
    r"[做干]什么的?|什么(?:时候|时间|时|地方|样)?|啥|怎么样?|怎样|如何|为什么|为何|哪[个些里儿种位天年家座一]{0,2}|谁"
    r"|几[点个次号岁年月天]?|多少|多[久长远高重大]|是否|有没有|能不能|可不可以|请问|现在|目前|如今|告诉|知道|记得|查一下|帮我|[吗呢]"
)
_NAME_ASKED = re.compile(r"(?:^|(?<=[^\w]))(?:你?(?:还?记得|知道))?(?:我的名字|我(?:叫|是|姓)(?:什么|啥|谁)(?:名字)?)")
_ATTRIBUTE = (
    "名字|名称|名|号码|号|尾号|密码|地址|电话|时间|日期|价格|费用|生日|地点|原因|内容|结果|邮箱|型号|年龄|职业|口令"
)
_NO_THING = r"，。！；：,.!;:\n是了着过很太都也不没"
_NOUN_PHRASE = re.compile(
    rf"(?![请把给])[^{_NO_THING}想要请能会]{{1,20}}(?:的[^{_NO_THING}\s的]{{1,6}}|(?:{_ATTRIBUTE}))", re.IGNORECASE
)
_HAN_RUN = re.compile(f"[{HAN}]+")
_PHONE = re.compile(r"(?<![\d.])(1\d\d)[ -]?(\d{4})[ -]?(\d{4})(?![\d.])")
_AMOUNT = re.compile(r"(?P<han>[一二两三四五六七八九十百千万零]{2,9})|(?<![\d.])(?P<digits>[1-9]\d{1,7})(?![\d.])")
_DIGITS = "零一二三四五六七八九"
_SCALES = {"十": 10, "百": 100, "千": 1000}


class ChineseTerms(Struct, frozen=True):
    """`asking` are the pairs with a character of a word that only asks; `further` the terms that no pair covers."""

    asking: frozenset[str]
    further: tuple[str, ...]


def chinese_terms(text: str) -> ChineseTerms:
    """Reads the Chinese of a question."""
    asking, further = set[str](), dict[str, None]()
    for run in _HAN_RUN.findall(fold(text)):
        start, content = 0, set[str]()
        for end, after in [*(match.span() for match in _ASKING.finditer(run)), (len(run), len(run))]:
            part = run[start:end]
            pairs = [part[at : at + 2] for at in range(len(part) - 1)]
            content.update(pairs)
            covered = {at + n for at, pair in enumerate(pairs) if not is_weak(pair) for n in (0, 1)}
            for at in (at for at in range(len(part)) if at not in covered and not is_weak(part[at])):
                further[part[at]] = None
                if at and part[at - 1] == "我":
                    further[part[at - 1 : at + 1]] = None
            start = after
        asking.update({run[at : at + 2] for at in range(len(run) - 1)} - content)
    return ChineseTerms(frozenset(asking), tuple(further))


def plain_question(text: str) -> str:
    """The question in the words of its answer where it asks for the speaker's own name: 我是谁 → 我叫."""
    return _NAME_ASKED.sub("我叫", text)


def is_noun_phrase(text: str) -> bool:
    """Whether the text is a short phrase for a thing, which asks for it: 新银行卡的尾号."""
    text = text.strip().rstrip("?？。")
    return _HAN_RUN.search(text) is not None and _NOUN_PHRASE.fullmatch(text) is not None


def number_forms(text: str) -> dict[str, tuple[str, ...]]:
    """Other spellings of the numbers of a text, by term: 8000 → 八千, 三千五 → 3500, 138 1234 5678 → 13812345678."""
    forms: dict[str, tuple[str, ...]] = {}
    for match in _PHONE.finditer(text):
        whole, groups = "".join(match.groups()), match.groups()
        forms |= dict.fromkeys(groups, (whole,)) if whole not in match[0] else {whole: groups[1:]}
    for match in _AMOUNT.finditer(text):
        value = _value(match["han"]) if match["han"] else int(match["digits"])
        other = str(value) if match["han"] else _in_characters(value)
        forms |= {term: tuple(term_list(other)) for term in term_list(match[0]) if value >= 10 and term not in forms}
    return forms


def _value(han: str) -> int:
    """三千五百 → 3500, 四千二 → 4200; 0 for digits that are not a number."""
    high, is_large, low = han.removeprefix("万").replace("两", "二").rpartition("万")
    total, number, scale = _value(high) * 10_000 if high else 0, 0, 10_000 if is_large else 10
    for character in low:
        if character in _SCALES:
            scale = _SCALES[character]
            total, number = total + max(number, 1) * scale, 0
        elif number:
            return 0
        else:
            number = _DIGITS.index(character)
            scale = 10 if character == "零" else scale
    return total + number * scale // 10


def _in_characters(number: int) -> str:
    """3500 → 三千五百, 4200 → 四千二百."""
    if number >= 10_000:
        return f"{_in_characters(number // 10_000)}万{_in_characters(number % 10_000)}"
    text, gap = "", False
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        text += ("零" if gap and text and digit else "") + (_DIGITS[digit] + name if digit else "")
        gap = not digit
    return text.removeprefix("一") if text.startswith("一十") else text
