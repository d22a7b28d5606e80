"""Dates in Chinese words: 去年三月, 两周前, 上周末, 今年夏天, 国庆. The text comes in simplified characters."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from foundation.text.dates.calendar import (
    FEASTS,
    SEASONS,
    Days,
    make_day,
    months,
    number_of,
    shift_days,
    shift_months,
    week,
    weekend,
)
from foundation.text.dates.english import BLURRED, Build
from foundation.text.dates.partial import PartialDate

_N = r"[〇零一二三四五六七八九十廿卅两\d]"
_YEAR_WORDS = {"大前年": -3, "前年": -2, "去年": -1, "上一年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_WRITTEN_YEAR = (
    r"(?:(?P<year>\d{4}|[一二][〇零一二三四五六七八九]{3})\s{0,2}年|(?P<shift>" + "|".join(_YEAR_WORDS) + "))"
)
_YEAR = rf"(?:{_WRITTEN_YEAR}的?\s{{0,2}})"
_DAY_WORDS = {
    "大前天": -3,
    "前天": -2,
    "前晚": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "昨夜": -1,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "今晨": 0,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "后天": 2,
    "大后天": 3,
}
_FEAST = (
    r"(?P<feast>"
    + "|".join(sorted((f for f in FEASTS if not f.isascii()), key=len, reverse=True))
    + r")(?:节|假期|长假|黄金周|期间)*"
)
_WHICH = r"(?P<which>上上个?|上一?个?|本|这一?个?|下下个?|下一?个?)"
_WEEK = r"(?:周|星期|礼拜)"
_WEEKDAY = "(?P<weekday>[一二三四五六日天])"
_UNIT = r"(?P<unit>天|日|周|个?星期|个?礼拜|个?月|年|个?小时|分钟)"
_MANY = rf"(?:(?P<some>几|好几|数)|(?P<number>\d{{1,3}}|{_N}{{1,3}}|半))\s{{0,2}}个?"
_HOLDS = {"天": 0, "日": 0, "周": 3, "星期": 3, "礼拜": 3, "月": 15, "年": 120}
_FEW = 3


def _year(match: re.Match[str], today: date) -> int:
    groups = match.groupdict()
    if groups.get("year"):
        return number_of(groups["year"])
    return today.year + _YEAR_WORDS[groups["shift"]] if groups.get("shift") else 0


def _in_year(
    match: re.Match[str], today: date, of: Callable[[int], Days | None], soft: int, *, needs: bool
) -> PartialDate:
    year = _year(match, today)
    return PartialDate(of(year), soft=soft) if year else PartialDate(None, of, soft, needs)


def _month_day(match: re.Match[str], today: date) -> PartialDate | None:
    month_name, number = match["month"], number_of(match["day"]) if match["day"] else 0
    month = 1 if month_name == "元" else number_of(month_name)
    if not 1 <= month <= 12:
        return None
    if match["day"]:
        return _in_year(match, today, lambda year: make_day(year, month, number), 0, needs=False)
    return _in_year(match, today, lambda year: months(year, month), 0, needs=False)


def _days_of_month(match: re.Match[str], today: date) -> PartialDate | None:
    """十月一日到七日"""
    month, *numbers = (number_of(match[name]) for name in ("month", "day", "last"))

    def of(year: int) -> Days | None:
        first, last = (make_day(year, month, number) for number in numbers)
        return (first[0], last[1]) if first and last and first[0] < last[1] else None

    return _in_year(match, today, of, 0, needs=False)


def _whole_year(match: re.Match[str], today: date) -> PartialDate:
    return PartialDate(months(_year(match, today), 1, 12))


def _part_of_year(match: re.Match[str], today: date) -> PartialDate:
    first, count = {
        "上半年": (1, 6),
        "下半年": (7, 6),
        "年初": (1, 2),
        "年中": (6, 2),
        "年底": (11, 2),
        "年末": (11, 2),
    }[match["part"]]
    soft = 0 if "半" in match["part"] else BLURRED
    return _in_year(match, today, lambda year: months(year, first, count), soft, needs=False)


def _part_of_written_year(match: re.Match[str], today: date) -> PartialDate:
    first = {"初": 1, "中": 6, "底": 11, "末": 11}[match["part"]]
    return PartialDate(months(_year(match, today), first, 2), soft=BLURRED)


def _season(match: re.Match[str], today: date) -> PartialDate:
    first = SEASONS[match["season"]]
    return _in_year(match, today, lambda year: months(year, first, 3), BLURRED, needs=True)


def _quarter(match: re.Match[str], today: date) -> PartialDate | None:
    quarter = number_of(match["quarter"])
    if not 1 <= quarter <= 4:
        return None
    return _in_year(match, today, lambda year: months(year, 3 * quarter - 2, 3), 0, needs=False)


def _feast(match: re.Match[str], today: date) -> PartialDate:
    return _in_year(match, today, FEASTS[match["feast"]], 2, needs=False)


def _near(match: re.Match[str], today: date) -> PartialDate | None:
    first = shift_days(today, _DAY_WORDS[match[0]])
    return PartialDate((first, first + timedelta(days=1))) if first and first < date.max else None


def _shift(word: str) -> int:
    return {"上": -1, "下": 1}.get(word[0], 0) * (2 if word[:2] in ("上上", "下下") else 1)


def _which_unit(match: re.Match[str], today: date) -> PartialDate | None:
    shift, unit = _shift(match["which"]), match["unit"]
    if unit == "周末":
        saturday = weekend(today)
        ended = saturday is not None and saturday[1] <= today
        return PartialDate(weekend(today, shift + (ended if shift < 0 else 0)), soft=1)
    if unit == "月":
        return PartialDate(months(today.year, today.month + shift))
    if unit == "季度":
        return PartialDate(months(today.year, 3 * ((today.month - 1) // 3) + 1 + 3 * shift, 3))
    return PartialDate(week(today, shift), soft=1)


def _weekday(match: re.Match[str], today: date) -> PartialDate | None:
    """`上周三` is the Wednesday of the week before; `周三` alone the latest."""
    on = "一二三四五六".find(match["weekday"])
    on = on if on >= 0 else 6
    if match["which"]:
        monday = week(today, _shift(match["which"]))
        first = shift_days(monday[0], on) if monday else None
    else:
        first = shift_days(today, -((today.weekday() - on) % 7))
    return PartialDate((first, first + timedelta(days=1))) if first and first < date.max else None


def _distance(match: re.Match[str], today: date) -> tuple[date | None, int]:
    """How far away, backwards, and how soft."""
    unit = match["unit"].removeprefix("个")
    if match["number"] == "半":
        halves = {"年": (-6 * 30, 30), "月": (-15, 5), "天": (0, 0), "日": (0, 0)}
        days, soft = halves.get(unit, (0, 0))
        return shift_days(today, days), soft
    number = match["number"] or ""
    is_rough = bool(match["some"]) or (len(number) == 2 and not number_of(number))  # 几, 两三
    many = _FEW if match["some"] else number_of(number) or number_of(number[-1])
    soft = 2 if is_rough else 1
    held = max(_HOLDS.get(unit, 0), 2 if is_rough and unit in ("天", "日") else 0)
    if unit in ("年", "月"):
        return shift_months(today, -many * (12 if unit == "年" else 1)), soft * held
    return shift_days(today, -many * {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7}.get(unit, 0)), soft * held


def _ago(match: re.Match[str], today: date) -> PartialDate | None:
    first, soft = _distance(match, today)
    after = shift_days(first, 1) if first else None
    return PartialDate((first, after), soft=soft) if first and after else None


def _last_few(match: re.Match[str], today: date) -> PartialDate | None:
    first, _ = _distance(match, today)
    after = shift_days(today, 1)
    return PartialDate((first, after)) if first and after else None


def _decade(match: re.Match[str], _: date) -> PartialDate | None:
    tens = number_of(match["tens"] + ("" if match["tens"].isdecimal() else "十" if len(match["tens"]) == 1 else ""))
    if tens % 10 or not 10 <= tens <= 90:
        return None
    return PartialDate(months(tens + (1900 if tens >= 30 else 2000), 1, 120))


RULES: tuple[tuple[re.Pattern[str], Build], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (
            rf"{_YEAR}?(?P<month>\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月(?P<day>\d{{1,2}}|{_N}{{1,3}})[日号]?(?:到|至|[-–~～])"
            rf"(?P<last>\d{{1,2}}|{_N}{{1,3}})[日号]",
            _days_of_month,
        ),
        (
            rf"{_YEAR}?(?P<month>\d{{1,2}}|[一二三四五六七八九十]{{1,2}}|(?<![公美日欧单纪])元)\s{{0,2}}月份?"
            rf"(?:的?\s{{0,2}}(?P<day>\d{{1,2}}|{_N}{{1,3}})\s{{0,2}}[日号])?",
            _month_day,
        ),
        (rf"{_YEAR}(?P<part>[初中底末])", _part_of_written_year),
        (rf"{_YEAR}?(?P<part>上半年|下半年|年初|年中|年底|年末)", _part_of_year),
        (rf"{_YEAR}?第?(?P<quarter>[一二三四1-4])季度", _quarter),
        (rf"{_YEAR}?(?P<season>[春夏秋冬])[天季]", _season),
        (rf"{_YEAR}?{_FEAST}", _feast),
        (r"(?P<tens>[3-9]0|[三四五六七八九])十?年代", _decade),
        (rf"{_MANY}{_UNIT}之?(?:以?前)", _ago),
        (rf"(?:最近|过去|近|这|前)的?{_MANY}{_UNIT}", _last_few),
        (rf"(?<!每)(?P<which>上上个?|上个?|本|这个?|下个?)?{_WEEK}{_WEEKDAY}", _weekday),
        (rf"{_WHICH}(?P<unit>周末|周(?!年)|星期|礼拜|月|季度)", _which_unit),
        ("|".join(sorted(_DAY_WORDS, key=len, reverse=True)), _near),
        (_WRITTEN_YEAR, _whole_year),
    )
)
