"""People and places in Chinese: surnames before a title or after what somebody is to one; places by their names."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from foundation.text.entities.gazetteer import CHINESE_PLACES
from foundation.text.entities.numbers import find_matches

_SURNAMES: Final = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田"
    "姜范石姚谭廖邹熊金陆郝孔崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚"
)
_DOUBLE: Final = ("欧阳", "司马", "诸葛", "上官", "东方", "慕容", "令狐")
_NO_GIVEN: Final = frozenset("的了和跟与在是我你他她它们说这那个位名有没不也都很就去来给把被对从向到问请叫让会要想")
_TITLE = re.compile(r"(?:先生|女士|小姐|老师|教授|医生|大夫|博士|经理|师傅|阿姨|律师)")
_RELATED = re.compile(
    r"(?:朋友|同事|同学|老婆|老公|妻子|丈夫|女儿|儿子|哥哥|姐姐|弟弟|妹妹|室友|邻居|男友|女友|名叫|叫做|我叫|他叫|她叫)"
)
_ENDS = re.compile(
    r"[，。！？、；：,.!?;:\s）」”]|$|[的说是在和跟与来去也都要就对把被给问想很有会让从]|明天|昨天|今天|后天|上周|下周|已经|正在|刚"
)


def _places() -> re.Pattern[str]:
    """One choice a first character, so that few are tried at each."""
    by_first = groupby(sorted(CHINESE_PLACES), key=lambda name: name[0])
    rests = {first: sorted((name[1:] for name in names), key=len, reverse=True) for first, names in by_first}
    return re.compile("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items()))


_PLACE = _places()
_NOT_AFTER: Final = {
    "日本": "今即次当每昨明近生往节假",
    "成都": "完变做形造构组达",
    "京都": "北南东",
    "大理": "重",
    "海口": "出入",
    "开罗": "打",
    "河内": "运江",
    "江西": "长",
    "中国": "其",
}
_NOT_BEFORE: Final = {"大连": "接续锁", "长春": "藤", "大理": "石论由想", "河内": "的"}
"""What looks like a place and stands within other words: the characters that tell."""


def chinese_names(text: str) -> Iterator[tuple[str, str]]:
    for match in find_matches(_PLACE, text):
        if not _is_within(text, match):
            yield "place", match[0]
    for match in find_matches(_TITLE, text):
        if name := _before_title(text[max(0, match.start() - 3) : match.start()]):
            yield "person", name if len(name) > 1 else name + match[0]
    for match in find_matches(_RELATED, text):
        if name := _after_relation(text[match.end() : match.end() + 6]):
            yield "person", name


def _is_within(text: str, match: re.Match[str]) -> bool:
    """Whether it is part of another word."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    ends, begins = _NOT_AFTER.get(match[0], ""), _NOT_BEFORE.get(match[0], "")
    return bool(before and before in ends) or bool(after and after in begins)


def _before_title(before: str) -> str:
    """`我和王小明` → 王小明; the longest that can be a name."""
    for length in (3, 2, 1):
        name = before[-length:]
        if len(name) == length and _is_name(name):
            return name
    return ""


def _after_relation(after: str) -> str:
    """`张伟明天来` → 张伟: the shortest after which a name can end."""
    return next((after[:length] for length in (2, 3) if _is_name(after[:length]) and _ENDS.match(after, length)), "")


def _is_name(name: str) -> bool:
    if not name or _NO_GIVEN.intersection(name[1:]) or not all("\u4e00" <= character <= "\u9fff" for character in name):
        return False
    return name[0] in _SURNAMES or (name.startswith(_DOUBLE) and len(name) > 2)
