"""Passwords known by the name before them, in the ways that people and programs write it."""

import re

import pytest

from foundation.privacy import ClearingStream, TextSource, clear

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

PASSWORD = "Tr0ub4" + "dor9x"
BEARER = "Qz7ZEB" + "101kk9aa"
BCRYPT = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"[:51]
SPACES = ["\xa0", "\u2009", "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff"]

NAMED = [
    *(
        f"{name}{space}{sign}{{P}} x"
        for name in ("mot de passe", "password", "密码")
        for space in SPACES
        for sign in ":="
    ),
    *(f"{name}{sign}{space}{{P}} x" for name in ("Passwort", "password", "密码") for space in SPACES for sign in ":="),
    *(f"mot de passe{space}:{space}{{P}} x" for space in SPACES),
    "le mot\xa0de\xa0passe\xa0est\xa0{P} depuis",
    *("password＝{P}", "password：{P}", "密码＝{P}", "mot de passe\xa0＝\xa0{P}"),
    *("ｐａｓｓｗｏｒｄ={P}", "ｐａｓｓｗｏｒｄ：{P}", "ＰＡＳＳＷＯＲＤ＝{P}", "Ｐａｓｓｗｏｒｔ: {P}"),
    *("motdepasse={P}", "mot_de_passe={P}", "MOT_DE_PASSE={P}", "mot-de-passe: {P}", "motDePasse: '{P}'"),
    *("senha_db={P}", "DB_SENHA={P}", "SENHA_DB = '{P}'", '"clave_bd": "{P}"', "CONTRASEÑA={P}", "mdp-prod: {P}"),
    *('CREATE USER a IDENTIFIED BY "{P}";', "create user a identified by '{P}'", 'identified by password "{P}"'),
    *('<Password type="x">{P}</Password>', "<password xml:lang='fr'>\n {P}\n</password>"),
    *("Authorization: Bearer {B}", "authorization: bearer {B}\n", "Proxy-Authorization: Basic {B}\r\nHost: a"),
    *('{"Authorization": "Bearer {B}"}', r"{\"Authorization\": \"Bearer {B}\"}", "AUTHORIZATION=Bearer {B}"),
    *("curl -H 'Authorization: Bearer {B}' a.org", 'curl -H "authorization: Bearer {B}" a.org'),
    *('"password":\n  "{P}"', '{"password":\r\n  "{P}",\n "b": 1}', "password:\n  '{P}'\n"),
    *('user.setPassword("{P}");', 'builder.password("{P}").build()', "set_password('{P}')"),
    *(
        "\x1b[1mpassword:\x1b[0m \x1b[32m{P}\x1b[0m",
        "\x1b[32mPasswort: {P}\x1b[0m",
        "\x1b[1;31mpw=\x1b[38:5:2m{P}\x1b[K x",
    ),
    *("\x1b[36mpw\x1b[0m=\x1b[33m{P}\x1b[0m\n", "\x1b[2mAuthorization\x1b[0m: Bearer \x1b[32m{B}\x1b[0m"),
    *('"\x1b[34mpassword\x1b[0m": \x1b[32m"{P}"\x1b[0m,', "\x1b[32m密码：{P}\x1b[0m", "mysql -u a \x1b[1m-p{P}\x1b[0m"),
    *("ConvertTo-SecureString '{P}' -AsPlainText -Force", 'ConvertTo-SecureString -AsPlainText -String "{P}"'),
    *("$2b$12${H}", "ann:$2y$10$./{H}:19000:0"),
    *("${PASSWORD:-{P}}", '"${DB_PASSWORD:-{P}}"', "${PASSWORD:-'{P}'}"),
]

NOT_NAMED = [
    "mot de passe\xa0: demandé à l’accueil",
    "le mot de passe\xa0est\xa0oublié",
    "password：あなたの誕生日",
    "clave_publica=Qz7ZEB101kk9aa",
    "clave_primaria: cliente_id_2024",
    'a species identified by "Smith" in 1901',
    '<Password type="x"/>Qz7ZEB101kk9aa',
    '<Password type="x">required</Password>',
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN1",
    "Authorization: Bearer YOUR_TOKEN_1",
    '"password":\n  "required, eight letters, 1 digit"',
    'form.password("required")',
    "password(1, 2)",
    "${PASSWORD:-changeme1}",
    "slice[token:-1]",
    "ConvertTo-SecureString $pass2 -Key $key",
    'ConvertTo-SecureString "$env:PASS1" -AsPlainText',
    "costs $2 or $25 a month, $2a$10$ in front",
]


def streamed(pieces: list[str], source: TextSource) -> str:
    stream = ClearingStream(source)
    return "".join(map(stream.feed, pieces)) + stream.close()


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("source", TextSource)
def test_a_named_password_is_known_however_its_sign_is_typed(form: str, source: TextSource) -> None:
    text = form.replace("{P}", PASSWORD).replace("{B}", BEARER).replace("{H}", BCRYPT)
    whole = clear(text, source)
    assert whole == re.sub(r"\{[PBH]\}", "[secret: generic-api-key]", form)
    assert clear(whole, source) == whole
    assert streamed(list(text), source) == whole
    assert all(streamed([text[:at], text[at:]], source) == whole for at in range(len(text)))


def test_a_value_with_colours_within_is_taken_out_whole() -> None:
    for value in (f"{BEARER[:9]}\x1b[0m{BEARER[9:]}", "\x1b[1m".join(BEARER)):
        text = f"Authorization: Bearer {value}\x1b[0m x"
        assert clear(text) == "Authorization: Bearer [secret: generic-api-key]\x1b[0m x"
        assert streamed(list(text), TextSource.OTHER) == clear(text, TextSource.OTHER)


def test_colours_alone_make_nothing_a_secret() -> None:
    for text in (
        "\x1b[32mpassword: required\x1b[0m",
        "\x1b[1mtoken\x1b[0m \x1b[32m12 of 2048\x1b[0m",
        "pw=\x1b[0m\x1b[1;32m",
    ):
        assert clear(text) == text


@pytest.mark.parametrize("text", NOT_NAMED)
def test_what_only_reads_like_a_password_stays(text: str) -> None:
    assert clear(text) == text


def test_a_tag_in_capital_entities_hides() -> None:
    for opening, closing in (("&LT;private&GT;", "&LT;/private&GT;"), ("&#X3C;private&#X3E;", "&#X3c;/private&#X3e;")):
        text = f"a {opening}quietword{closing} b"
        for source in TextSource:
            assert clear(text, source) == "a [private] b"
            assert streamed(list(text), source) == "a [private] b"


@pytest.mark.parametrize(
    "text",
    [
        "PASS: addr2line -f option\nPASS: gdb.base/dso2dso.exp: continue to sub2",
        "fetch http://user:pass@host/repo or https://username:password@proxy.example.com",
        "http://Benutzer:Passwort@Server:Port/",
        "    user = bob\n    pass = p4ssw0rd\n",
    ],
)
def test_results_of_tests_and_placeholders_are_no_secrets(text: str) -> None:
    assert clear(text) == text


def test_a_password_beside_them_is_one() -> None:
    assert clear("SMTP_PASS: Xk92plQ77zzQ") == "SMTP_PASS: [secret: generic-api-key]"
    assert clear("http://user:passq7Xz@host") == "http://user:[secret: url-password]@host"
