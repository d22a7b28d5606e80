"""Prefixes of passwords in command lines, in markup, in SQL and in other languages."""

from collections.abc import Iterator

from msgspec import Struct

from foundation.lazy_pattern import lazy_pattern


class ValuePrefix(Struct, frozen=True):
    """The text before a value. `name` is the text before the sign; `kind` is the kind of secret where it is known.

    `strict`: the value must look much like chance. `alone`: nothing follows it on its line.
    """

    start: int
    name: str
    kind: str = ""
    strict: bool = False
    alone: bool = False


_ELEMENT = lazy_pattern(
    r"<(?:[a-z]{1,12}:)?(?P<name>[A-Za-z_.-]{0,24}(?:[pP]ass(?:word|wd|phrase)?|PASSWORD|[pP]wd|[sS]ecret|[tT]oken|[kK]ey))"
    r"(?:\s{1,4}[^<>\n]{0,80})?(?<!/)>\s{0,8}"
)
_ADDED = lazy_pattern(
    r"(?:key|name|Key|Name)=\"(?P<name>[\w.:-]{0,40}(?:[pP]assword|[pP]wd|[sS]ecret|[tT]oken|[kK]ey))\"\s{1,4}[vV]alue=\""
)
_BY = (
    r"(?i:\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?)"
    r"(?:(?i:(?:by|as)\s{1,3}(?:password\s{1,3})?)'|(?i:by\s{1,3}(?:password\s{1,3})?)\")(?=[^'\"\s])"
)
_SENT = r"[\"'\\]{0,3}[ \t]{0,2}[:=][ \t]{0,2}[\"'\\]{0,3}(?i:bearer|basic|token)[ \t]{1,2}"  # after `Authorization`
_COMMANDS = (  # a word, and what goes from it to a password
    ("mysql", lazy_pattern(r"mysql[a-z-]{0,8}\b[^\n]{0,90}?[ \t]-p['\"]?(?=\S)")),
    ("mariadb", lazy_pattern(r"mariadb[a-z-]{0,8}\b[^\n]{0,90}?[ \t]-p['\"]?(?=\S)")),
    ("sshpass", lazy_pattern(r"sshpass[ \t]-p[ \t]{0,2}['\"]?(?=\S)")),
    ("redis-cli", lazy_pattern(r"redis-cli\b[^\n]{0,60}?[ \t]-a[ \t]{1,2}['\"]?(?=\S)")),
    ("login", lazy_pattern(r"login\b[^\n]{0,60}?[ \t]-p[ \t=]{1,2}['\"]?(?=\S)")),
    ("login", lazy_pattern(r"login[ \t]{1,4}\S{1,60}\s{1,8}password[ \t]{1,4}['\"]?(?=\S)")),
    ("dentified", lazy_pattern("dentified" + _BY)),
    ("DENTIFIED", lazy_pattern("DENTIFIED" + _BY)),
    ("assword(", lazy_pattern(r"assword\([\"'](?=[^'\"\s])")),
    ("assword '", lazy_pattern(r"assword '(?=[^'\s])")),
    ("SecureString", lazy_pattern(r"SecureString(?:[ \t]{1,4}-[A-Za-z]{5,12}){0,3}[ \t]{1,4}['\"](?=[^'\"\s$])")),
    ("ASSWORD '", lazy_pattern(r"ASSWORD '(?=[^'\s])")),
)
_HEADERS = tuple((word, lazy_pattern(word + _SENT)) for word in ("uthorization", "UTHORIZATION"))
_BCRYPT = ("$2", lazy_pattern(r"\$2[abxy]\$[0-9]{2}\$[./]{0,4}(?=[A-Za-z0-9])"))
_PGPASS = lazy_pattern(
    r"(?<![^\s\"'])[A-Za-z0-9.*-]{1,60}:(?:[56]\d{3}|\*):[A-Za-z0-9_.*-]{1,40}:[A-Za-z0-9_.*@-]{1,40}:(?=\S)"
)
_PORTS = (":5", ":6", ":*")

_LOWER = (
    *(
        "passwort",
        "kennwort",
        "mot de passe",
        "mot_de_passe",
        "mot-de-passe",
        "motdepasse",
        "contraseña",
        "contrasena",
        "clave",
        "senha",
        "palavra-passe",
    ),
    *("parola", "parola d'ordine", "wachtwoord", "hasło", "haslo", "lösenord", "пароль"),
)
_AS_THEY_ARE = (
    *("motDePasse", "MOT DE PASSE", "MOT_DE_PASSE", "MOTDEPASSE", "CONTRASEÑA", "CONTRASENA", "WACHTWOORD"),
    *("mdp", "MDP", "PASSWORT", "KENNWORT", "CLAVE", "SENHA", "パスワード", "暗証番号", "비밀번호", "암호", "패스워드"),
    *["密码", "密碼", "口令", "密钥", "私钥", "秘钥", "密匙", "令牌"],
)
_PASS_WORDS = frozenset((*_LOWER, *(word.capitalize() for word in _LOWER), *_AS_THEY_ARE))
_PARTS = (*((word[1:], 1) for word in _LOWER), *((word, 0) for word in _AS_THEY_ARE))
"""What is looked for, and how many letters before it the word begins."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_AFTER_PASS_WORD = lazy_pattern(
    r"(?:[_-](?!(?i:pub|prim|id))[A-Za-z0-9_-]{1,20}(?=[\"']?[ \t]{0,2}[:=：＝]))?"  # `senha_db=`
    r"[*_\"'”»)\]]{0,3}(?:[ \t\u3000]{0,2}(?:[:=：＝]|为|是|は|：|는|은)[ \t\u3000]{0,2}[:：]?[ \t]{0,2}"
    r"|[ \t]{1,2}(?:segreta|chave|de acceso|de acesso)?[ \t:]{0,2}"
    r"(?:ist|lautet|lautete|est|es|è|é|jest|to|это|is|was|=|—|–|-|era|foi|är)[ \t]{0,2}[:：]?[ \t]{1,2}"
    r"|(?P<bare>[ \t\u3000]{1,3}))[\"'«„“”「`*_]{0,3}"
)


def element_leads(text: str, since: int) -> Iterator[ValuePrefix]:
    """`<password>…`, `key="Password" value="…`."""
    if "<" in text and ">" in text:
        for match in _ELEMENT.finditer(text, since):
            yield ValuePrefix(match.end(), match["name"])
    if 'alue="' in text:
        for match in _ADDED.finditer(text, since):
            yield ValuePrefix(match.end(), match["name"])


def command_leads(text: str, since: int) -> Iterator[ValuePrefix]:
    """`mysql -p…`, `docker login -p …`, netrc, `.pgpass`, `identified by '…`, bcrypt's `$2b$12$…`,
    `Authorization: Bearer …`."""
    for kind, patterns in (("password", _COMMANDS), ("credential", (*_HEADERS, _BCRYPT))):
        for word, pattern in patterns:
            position = text.find(word, since)
            while position >= 0:
                if match := pattern.match(text, position):
                    yield ValuePrefix(match.end(), "", kind=kind)
                position = text.find(word, position + 1)
    for match in _PGPASS.finditer(text, since) if any(port in text for port in _PORTS) else ():
        yield ValuePrefix(match.end(), "", kind="password", alone=True)


def pass_word_leads(text: str, since: int) -> Iterator[ValuePrefix]:
    """`Passwort: …`, `le mot de passe est …`, `пароль …`, `密码为…`."""
    for part, before in _PARTS:
        position = text.find(part, since)
        while position >= 0:
            start, end = position - before, position + len(part)
            if start >= since and _is_pass_word(text, start, end) and (lead := _AFTER_PASS_WORD.match(text, end)):
                yield ValuePrefix(lead.end(), "", kind="password", strict=lead["bare"] is not None)
            position = text.find(part, end)


def _is_pass_word(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    alone = start == 0 or not text[start - 1].isalpha() or word[0] not in _LETTERS
    return word in _PASS_WORDS and (alone or word in {"passwort", "kennwort"})
