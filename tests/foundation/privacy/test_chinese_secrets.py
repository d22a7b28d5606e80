"""Secrets said in Chinese sentences: passwords of digits, codes, cards and identity numbers; and what is none."""

from random import Random

import pytest

from foundation.privacy import ClearingStream, clear, cleared_fields, examine
from foundation.privacy.chinese_secrets import is_card, is_identity_card
from tests.examples import SOAK

CARD = "6222021234567890128"
IDENTITY = "110101199003078515"

SECRETS = [
    ("微信支付密码：836271", "836271"),
    ("银行卡号6222021234567890123,密码是998877", "998877"),
    ("银行卡号6222021234567890123,密码是998877", "6222021234567890123"),
    ("身份证号110101199003078515", IDENTITY),
    ("保险箱密码是三八二一", "三八二一"),
    ("验证码 482913，五分钟内有效", "482913"),
    ("【银行】您的验证码为482913，请勿泄露", "482913"),
    ("【银行】验证码：４８２９１３", "４８２９１３"),
    ("密碼是 998877。", "998877"),
    ("我的支付密碼改成了 6688 99", "6688 99"),
    ("口令是4821", "4821"),
    ("取款密码我设的是 0417。", "0417"),
    ("门禁密码现在是“3821”", "3821"),
    ("手机解锁密码就是零四一七", "零四一七"),
    ("密码：幺三八〇", "幺三八〇"),
    ("PIN码是4821", "4821"),
    ("支付密码836271别告诉别人", "836271"),
    ("动态码是 77123456", "77123456"),
    ("密码是壹贰叁肆", "壹贰叁肆"),
    (f"我的卡号是 {CARD}", CARD),
    ("信用卡号：4111 1111 1111 1111，有效期", "4111 1111 1111 1111"),
    ("信用卡號 4111-1111-1111-1111", "4111-1111-1111-1111"),
    ("储蓄卡尾号不对，卡号应该是6222 0212 3456 7890 128。", "6222 0212 3456 7890 128"),
    (f"他说{IDENTITY}是他的号码", IDENTITY),
    ("身份證號碼：11010119900307002X。", "11010119900307002X"),
    ("身份证号是11010119900307002x", "11010119900307002x"),
    ("身份证１１０１０１１９９００３０７８５１５", "１１０１０１１９９００３０７８５１５"),
    ('{"note": "密码是998877"}', "998877"),
    ('{"密码": "998877"}', "998877"),
    ("**密码**：836271", "836271"),
    ("| 密码 | 836271 |", "836271"),
    ("您的验证码：【482913】", "482913"),
    ("密码由4821改成了5678", "5678"),
    ("我的密码昨天已经换成 0417 了", "0417"),
    ("密碼係998877", "998877"),
]
NONE = [
    "密码要定期更换，长度为6到16位。",
    "密码是12位的数字和字母。",
    "密码是6位数",
    "密码有1000种组合",
    "这个密码是2024年改的",
    "密码是三十天一换",
    "验证码60秒后过期",
    "验证码发送到了13800138000",
    "验证码是5分钟有效",
    "密码错误1234次",
    "遗传密码编码的氨基酸数量是2000",
    "密码学1976年的论文",
    "密码本是1234页",
    "密码箱1500元",
    "他的密码是一二三四个字符",
    "卡号是1234567890123456",  # its check digit is wrong
    "订单号110101199003078516",  # its check digit is wrong
    "订单号 202311281234567890",
    "1234567890123456789",
    "电话是13800138000，会议在2024年11月28日",
    "卡号是多少？",
    "银行卡号的长度是16到19位",
    "身份证号有18位",
    "密码三个字的拼音",
    "密码一二三",
    "口令一出，1000人出发",
    "密码是4821abc",
    "密码改了三次，花了1200元",
    "（密码）见1984号文件的第2章",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_in_a_chinese_sentence_is_taken_out(text: str, secret: str) -> None:
    cleared = clear(text)
    assert secret not in cleared, cleared
    assert clear(cleared) == cleared
    assert [text[found.start : found.end] for found in examine(text).secrets].count(secret) == 1


@pytest.mark.parametrize("text", NONE)
def test_other_numbers_stay(text: str) -> None:
    assert clear(text) == text


@pytest.mark.parametrize("text", [*(text for text, _ in SECRETS), *NONE, "，".join(text for text, _ in SECRETS)])
def test_a_stream_gives_the_same_however_it_is_cut(text: str) -> None:
    whole = clear(f"{text} 好")
    for at in range(len(text) + 2):
        stream = ClearingStream()
        assert stream.feed(f"{text} 好"[:at]) + stream.feed(f"{text} 好"[at:]) + stream.close() == whole
    stream = ClearingStream()
    assert "".join([*map(stream.feed, f"{text} 好"), stream.close()]) == whole


def test_a_field_that_is_named_a_password_in_chinese_is_cleared() -> None:
    assert "998877" not in str(cleared_fields({"密码": "998877", "备注": {"支付密码": 998877}}))


def test_check_digits() -> None:
    assert is_card(CARD) and is_card("4111111111111111") and not is_card("6222021234567890123")
    assert is_identity_card(IDENTITY) and is_identity_card("11010119900307002X")
    assert not is_identity_card("110101199003078516") and not is_identity_card("110101199013078515")


_NAMES = ("密码", "支付密码", "取款密码", "门禁密碼", "验证码", "校验码", "驗證碼", "口令", "动态码")
_SIGNS = (
    "：",
    ":",
    "是",
    "为",
    "為",
    " ",
    "",
    "就是",
    "改成了",
    "设为 ",
    "我记得是",
    "现在是 ",
    "是：",
    "＝",
    "是“",
    "换成",
)
_DIGITS = ("0123456789", "０１２３４５６７８９", "零一二三四五六七八九", "〇幺两三四五六七八九", "零壹贰叁肆伍陆柒捌玖")
_ENDS = ("", "。", "，别忘了", " ok", "\n", "”", "吧", "！")


def test_generated_sentences() -> None:
    random = Random(11)
    for _ in range(2000 if SOAK else 200):
        digits, sign = random.choice(_DIGITS), random.choice(_SIGNS)
        secret = "".join(random.choices(digits, k=random.randint(4, 8)))
        text = f"记一下，{random.choice(_NAMES)}{sign}{secret}{random.choice(_ENDS)}"
        assert secret not in clear(text), text


@pytest.mark.parametrize("length", [15, 16, 17, 18, 19])
def test_cards_and_identities_of_any_number(length: int) -> None:
    random = Random(length)
    for _ in range(200 if SOAK else 20):
        body = "".join(random.choices("0123456789", k=length - 1))
        card = next(body + digit for digit in "0123456789" if is_card(body + digit))
        assert card not in clear(f"她的银行卡卡号是{card}，户名李雷")
        born = f"{random.randint(1940, 2015)}{random.randint(1, 12):02}{random.randint(1, 28):02}"
        start = f"{random.choice((11, 31, 44, 51, 65))}{random.randint(0, 9999):04}{born}{random.randint(0, 999):03}"
        identity = next(start + end for end in "0123456789X" if is_identity_card(start + end))
        assert identity not in clear(f"身份证是{identity}。")
