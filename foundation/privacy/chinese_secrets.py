"""Secrets said in Chinese sentences: passwords and codes of digits, bank cards, identity numbers.

A password of digits is known by its name alone, also in full-width digits and in characters (密码是三八二一). A card's
number has a check digit (Luhn, ISO/IEC 7812-1), an identity card's a date of birth and a check digit (GB 11643-1999).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from foundation.lazy_pattern import lazy_pattern
from foundation.privacy.named_secrets import SecretCandidate

_DIGIT: Final = "[0-9０-９]"
_NUMERALS: Final = "零〇○一二两兩三四五六七八九幺壹贰貳叁參肆伍陆陸柒捌玖"
_FILLING: Final = (
    "(?:[我你您他她的就还還已被设設定改换換置了都用]|应该|應該|可能|好像|一直|暂时|暫時|已经|已經|现在|現在|目前|更新|重置"
    "|记得|記得|大概|统一|默认|初始|一般|当时|之前|以前)"
)
_SPACE: Final = "[ \\t\\u3000]{0,3}"
_QUOTE: Final = "[“”\"'「」『』（()）【】*`]{0,3}"
_SIGN: Final = rf"{_QUOTE}{_SPACE}(?:{_FILLING}{{0,5}}(?:[:：=＝|是为為係]|成了?|到))?[:：]?{_SPACE}{_QUOTE}"
_CHANGE: Final = rf"[^\n。；！？]{{0,16}}?(?:[改换換](?:成了?|[为為到])|→){_SPACE}{_QUOTE}"
_NAME: Final = lazy_pattern("[码碼令卡号號户戶]|PIN")
_PASSWORD: Final = lazy_pattern(
    rf"(?:密[码碼]|口令|(?:[验驗][证證]|校[验驗]|[动動][态態]|PIN ?|pin ?)[码碼]|PIN(?= ?[是为為：]))"
    rf"(?:{_SIGN}|{_CHANGE})(?=[0-9０-９{_NUMERALS}])"
)
_CARD: Final = lazy_pattern(
    rf"(?:(?P<bank>(?:[银銀]行|信用|[储儲]蓄|借[记記]|工[资資])卡(?:卡?[号號][码碼]?)?{_SIGN})"
    rf"|(?:卡|[账帳帐賬][号號户戶])[^\n。！？；.!?;0-9０-９]{{0,14}}?)(?={_DIGIT})"
)
_IDENTITY: Final = lazy_pattern(rf"(?<![0-9０-９A-Za-z_.])(?={_DIGIT}{{17}}[0-9０-９Xx]|{_DIGIT}{{1,18}}\Z)")
_RUN: Final = lazy_pattern(rf"{_DIGIT}(?:[ -]?{_DIGIT}){{0,39}}+[ -]?|[{_NUMERALS}]{{1,40}}+")
_UNIT: Final = (
    "(?! ?(?:[年月位个個次天秒元块塊人条條种種页頁字多余万萬亿億千百十%％]|分[钟鐘]|小[时時])"
    "|[.．][0-9０-９]|[0-9０-９A-Za-z_])"
)
_PASSWORD_VALUE: Final = lazy_pattern(
    rf"(?:{_DIGIT}(?:[ -]?{_DIGIT}){{3,11}}{_UNIT}|[{_NUMERALS}]{{4,12}}(?![{_NUMERALS}]){_UNIT})"
)
_CARD_VALUE: Final = lazy_pattern(rf"{_DIGIT}(?:[ -]?{_DIGIT}){{12,18}}(?![ -]?[0-9０-９A-Za-z_])")
_BANK_VALUE: Final = lazy_pattern(rf"{_DIGIT}(?:[ -]?{_DIGIT}){{14,18}}(?![ -]?[0-9０-９A-Za-z_])")
"""After a bank card's name: its check digit may be mistyped."""
_IDENTITY_VALUE: Final = lazy_pattern(rf"{_DIGIT}{{17}}[0-9０-９Xx](?![0-9０-９A-Za-z_])")
_Lead = tuple[int, str, re.Pattern[str], Callable[[str], bool]]  # where a value begins, its rule, form and check
_LONGEST_LEAD: Final = 64
_AFTER: Final = 2  # characters after a number that tell what it counts


def chinese_candidates(text: str, at: int, *, final: bool) -> Iterator[SecretCandidate]:
    """The numbers that begin at `at` or after it and may be secrets of a Chinese sentence, in order."""
    since = max(0, at - _LONGEST_LEAD)
    leads: list[_Lead] = [
        (lead.end(), "identity-card", _IDENTITY_VALUE, is_identity_card) for lead in _IDENTITY.finditer(text, at)
    ]
    if _NAME.search(text, since):
        for lead in _CARD.finditer(text, since):
            known = bool if lead["bank"] else is_card
            leads.append((lead.end(), "bank-card", _BANK_VALUE if lead["bank"] else _CARD_VALUE, known))
        leads += [(lead.end(), "password", _PASSWORD_VALUE, bool) for lead in _PASSWORD.finditer(text, since)]
    found: dict[int, SecretCandidate] = {}
    for start, rule, pattern, is_one in leads:
        if start < at or (run := _RUN.match(text, start)) is None:
            continue
        if run.end() + _AFTER > len(text) and not final:
            new = SecretCandidate(start, len(text), "", settled=False)
        elif (value := pattern.match(text, start)) and is_one(value[0]):
            new = SecretCandidate(start, value.end(), rule, settled=True)
        else:
            continue
        found[start] = max(found.get(start, new), new, key=lambda each: (not each.settled, each.end))
    yield from (found[start] for start in sorted(found))


def is_card(number: str) -> bool:
    """Whether the digits end with the check digit of a card (Luhn)."""
    digits = [int(digit) for digit in reversed(_plain(number))]
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0


def is_identity_card(number: str) -> bool:
    """Whether it has a date of birth and the check digit of a Chinese identity number (ISO 7064, MOD 11-2)."""
    plain = _plain(number).upper()
    try:
        born = date(int(plain[6:10]), int(plain[10:12]), int(plain[12:14]))
    except ValueError:
        return False
    weighed = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(plain[:17]))
    return 1900 <= born.year < 2100 and "10X98765432"[weighed % 11] == plain[17]


def _plain(number: str) -> str:
    return unicodedata.normalize("NFKC", number).replace(" ", "").replace("-", "")
