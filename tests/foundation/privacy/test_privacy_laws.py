"""Laws of the choke point: where chunks end changes nothing, and a second pass changes nothing."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundation.privacy import ClearingStream, TextSource, clear, examine
from tests.examples import examples

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

PIECES = [
    "<private>",
    "</private>",
    "<PRIVATE >",
    "< / private>",
    "<private",
    ">",
    "<private/foo.h>",
    "<privateer>",
    "＜private＞",
    "`",
    "``",
    "```",
    "\n```\n",
    "\n```py\n",
    "\n~~~\n",
    "~~~",
    "~~",
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "a",
    "word",
    "don`t",
    "<palimpsest-recalled>",
    "</palimpsest-recalled>",
    '<palimpsest-recalled ref="e_1">',
    "<palimpsest-",
    "<palimpsest-recalled-bcdfghjk>",
    "</palimpsest-recalled-bcdfghjk>",
    "<palimpsest-x>",
    "</palimpsest-x>",
    "<",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----BEGIN",
    "-----",
    "--",
    "MIIEpAIBAAKCAQEA7bq1Vd9zQ2kX0nT8sLwY",
    "Proc-Type: 4,ENCRYPTED\n",
    "AKIA" + "Q3EGRLIH4XUZ5TPN",
    "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5",
    "sk-" + "proj-",
    "x://u:",
    "pa55w0rd@",
    "api_key",
    "token",
    "secret",
    "=",
    ": ",
    '"',
    "Bearer ",
    "q8Zr2LkV9xTn4WbY7mPd",
    "0.4-",
    "/",
    "_",
    "[",
    "]",
    "[private]",
    "[injected]",
    "Local<Private>",
    "/*< private >*/",
    "&lt;private&gt;",
    "&lt;/private&gt;",
    "＜ｐｒｉｖａｔｅ＞",
    "<\xa0private\u200b>",
    "&l",
    "t;",
    "\\u003cprivate\\u003e",
    "[info] ",
    "<br>",
    "[secret: jwt]",
    "密码",
    "你好",
    "é",
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".",
    "123456789:AA" + "F" * 33,
    "123456789",
    ":A",
    "password",
    "Tr0ub4" + "dor&3x!",
    "密码：",
    "--token ",
    " is ",
    "| ",
    "-u ann:",
    "Cookie: ",
    "pat",
    "*",
    "\\",
    "(",
    "'",
    "Private-Lines: 2\n",
    "Private-MAC: 9f86d081",
    "\r\n",
    "\ud800",
    "\xa0",
    "\u200b",
    "＝",
    "ｐａｓｓｗｏｒｄ",
    "mot de passe",
    "senha_db=",
    "Authorization: ",
    'assword("',
    "${PASSWORD:-",
    '<password a="b">',
    "&LT;private&GT;",
    "\x1b[32m",
    "\x1b[",
    "0m",
    "密码是",
    "支付密码",
    "改成了",
    "三八二一",
    "836271",
    "６６ 88",
    "年",
    "信用卡号",
    "4111 1111 1111 1111",
    "身份证",
    "110101199003078515",
]

JWT_BEFORE_A_TELEGRAM_TOKEN = (
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + "123456789:AA" + "F" * 33
)

# Whole shapes, so that a cut or a neighbour falls into the middle of one
SHAPES = [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1Vd9zQ2kX0nT8sLwY\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY----- MIIEpAIBAAKCAQEA7bq1Vd9z",
    "`<private>`",
    "`<private>``",
    "``<private>`",
    "`<private> x",
    "```\n<private>\n```\n",
    "```\n<private>\n",
    "```\n<private>x</private>\n```\n",
    "Local<Private> x </private>",
    "<private>x <private>y</private>",
    "<private>x</private> <private>",
    "\x1b[1mpassword:\x1b[0m \x1b[32mXk92plQ77zzQ\x1b[0m",
    "pw=Xk92p\x1b[0mlQ77\x1b[zzQ81",
    "<private>x<private>y</private>z</private> x<private>",
    "<private>x<private>y</private> z x<private>y",
    "api key = q8Zr2LkV9xTn4WbY7mPd",
    "client secret : Bearer q8Zr2LkV9xTn4WbY7mPd",
    'token="q8Zr2LkV9xTn4WbY7mPd"]: Zr2LkV9xTn4WbY7mPdq8',
    "token=q8Zr2LkV9xTn4WbY7mPd]: Zr2LkV9xTn4WbY7mPdq8",
    "<palimpsest-recalled>\n<private>\n</palimpsest-recalled>",
    "<palimpsest-recalled-bcdfghjk>\n<private>\n</palimpsest-recalled-bcdfghjk>",
    "<palimpsest-x>\n<private>x</palimpsest-x></private>",
    "postgres://u:pa55w0rd1@db",
    "the token is k3JxPq9ZrTnWv5sLmB8d",
    "| API key | `k3JxPq9ZrTnWv5sLmB8d` |",
    "--token k3JxPq9ZrTnWv5sLmB8d",
    "curl -u admin:Xk92plQ77zzQ",
    "密码是Xk92plQ77zzQa81",
    "密码是4821!Xk92plQ7",
    "密码是4821 2024年",
    "卡号密码是4111 1111 1111 1111X",
    'password: "Tr0ub4dor&3x!*`<private>`',
    "password: Tr0ub4dor&3x*`<private>`",
    "Cookie: a=k3JxPq9ZrTnWv5sLmB8d; b=q8Zr2LkV9xTn4WbY7mPd",
    "_" + "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5" + "_",
    "PuTTY-User-Key-File-3: x\nPrivate-Lines: 2\n" + "aB3dE5gH7jK9mN1p" * 4 + "\naB3d=\nPrivate-MAC: 9f86d081\n",
    "xox" + "b-1234567890-abcdefghij1",
    'assword("0m<private>/*< private >*/',
    "token=q8Zr2LkV9xTn4WbY7mPd/* <private>",
    JWT_BEFORE_A_TELEGRAM_TOKEN,
    "AIza" + "SyD3kQ9mZx7Lr2VtW8nB4pYc6Hj1Gf0UeX-" + "123456789:AA" + "F" * 33,
    "AIza" + "SyD3kQ9mZx7Lr2VtW8nB4pYc6Hj1Gf0UeX-" + "dapi" + "9f86d081" * 4,
]

texts = st.one_of(
    st.lists(st.sampled_from(SHAPES + PIECES[:20]), min_size=1, max_size=5).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=10).map("".join),
)


sources = st.sampled_from(TextSource)
nonces = st.sampled_from([frozenset[str](), frozenset({"bcdfghjk"})])


@st.composite
def split_texts(draw: st.DrawFn) -> tuple[str, TextSource, frozenset[str], list[str]]:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return text, draw(sources), draw(nonces), [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@settings(max_examples=examples(600), deadline=None)
@given(split_texts())
def test_a_stream_gives_what_the_whole_gives_wherever_it_is_split(
    case: tuple[str, TextSource, frozenset[str], list[str]],
) -> None:
    text, source, known, chunks = case
    stream = ClearingStream(source, known)
    assert "".join([*map(stream.feed, chunks), stream.close()]) == clear(text, source, known)


@settings(max_examples=examples(300), deadline=None)
@given(texts, sources)
def test_a_stream_of_single_characters_gives_what_the_whole_gives(text: str, source: TextSource) -> None:
    stream = ClearingStream(source)
    assert "".join([*map(stream.feed, text), stream.close()]) == clear(text, source)


@settings(max_examples=examples(600), deadline=None)
@given(texts, sources, nonces)
@example(JWT_BEFORE_A_TELEGRAM_TOKEN, TextSource.PERSON, frozenset())
def test_clearing_twice_is_clearing_once(text: str, source: TextSource, known: frozenset[str]) -> None:
    once = clear(text, source, known)
    assert clear(once, source, known) == once


@settings(max_examples=examples(300), deadline=None)
@given(texts, sources)
def test_what_was_found_is_gone_and_its_place_is_told_truly(text: str, source: TextSource) -> None:
    findings = examine(text, source)
    for secret in findings.secrets:
        assert 0 <= secret.start < secret.end <= len(text)
    assert 0 <= findings.unclosed + findings.injected <= len(text)
    ends = [secret.end for secret in findings.secrets]
    assert all(a <= b.start for a, b in zip(ends, findings.secrets[1:], strict=False))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("before", ["", "` ", "```\n", "don`t "])
@pytest.mark.parametrize("source", TextSource)
def test_each_shape_comes_out_the_same_however_it_is_cut_in_two(shape: str, before: str, source: TextSource) -> None:
    text = before + shape + " and on"
    whole = clear(text, source)
    assert clear(whole, source) == whole
    for at in range(len(text) + 1):
        stream = ClearingStream(source)
        assert stream.feed(text[:at]) + stream.feed(text[at:]) + stream.close() == whole
    stream = ClearingStream(source)
    assert "".join([*map(stream.feed, text), stream.close()]) == whole
