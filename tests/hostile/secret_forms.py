"""Generators of secrets, of what may stand around them, and of what may be done to them."""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from re import _constants as op
from re import _parser as parser

from foundation.privacy.secret_rules import gitleaks_rules

WORDS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def chance(rng: random.Random, length: int, letters: str = WORDS) -> str:
    """Random letters, a digit and a letter among them."""
    while True:
        made = "".join(rng.choices(letters, k=length))
        if any(map(str.isdigit, made)) and any(map(str.isalpha, made)) and len(set(made)) > min(8, length // 2):
            return made


def of_pattern(rng: random.Random, pattern: str) -> str:
    """A text that the pattern matches."""
    return "".join(_made(rng, kind, value) for kind, value in parser.parse(pattern))


def _made(rng: random.Random, kind: object, value: object) -> str:
    match kind:
        case op.LITERAL:
            return chr(value)
        case op.IN:
            return _of_class(rng, value)
        case op.SUBPATTERN:
            return "".join(_made(rng, *item) for item in value[3])
        case op.BRANCH:
            return "".join(_made(rng, *item) for item in rng.choice(value[1]))
        case op.MAX_REPEAT | op.MIN_REPEAT:
            least, most, items = value
            times = rng.randint(least, min(most, least + 5))
            return "".join(_made(rng, *item) for _ in range(times) for item in items)
        case op.AT:  # a boundary
            return ""
        case op.ANY:
            return rng.choice(WORDS)
    raise AssertionError(kind)


def _of_class(rng: random.Random, items: list) -> str:
    letters = ""
    for kind, value in items:
        match kind:
            case op.LITERAL:
                letters += chr(value)
            case op.RANGE:
                letters += "".join(map(chr, range(value[0], value[1] + 1)))
            case op.CATEGORY:
                letters += string.digits if value is op.CATEGORY_DIGIT else WORDS + "_"
    return rng.choice([letter for letter in letters if letter.isalnum()] or list(letters))


def kinds(rng: random.Random) -> dict[str, str]:
    """A secret of each kind: gitleaks' token rules, and the kinds that are not on its list."""
    made = {rule.id: of_pattern(rng, rule.pattern) for rule in gitleaks_rules().tokens}
    made.pop("aws-amazon-bedrock-api-key-short-lived")  # no more than a beginning
    return made | {name: make(rng) for name, make in BY_HAND.items()}


BY_HAND: dict[str, Callable[[random.Random], str]] = {
    "slack-c": lambda rng: f"xoxc-{chance(rng, 12, string.digits + 'a')}-{chance(rng, 12)}-{chance(rng, 64, HEX)}",
    "slack-d": lambda rng: f"xoxd-{chance(rng, 60)}%2B{chance(rng, 40)}%3D",
    "elevenlabs": lambda rng: "sk_" + chance(rng, 48, HEX),
    "nvidia": lambda rng: "nvapi-" + chance(rng, 64, WORDS + "_-"),
    "tavily": lambda rng: "tvly-" + chance(rng, 32),
    "tavily-dev": lambda rng: "tvly-dev-" + chance(rng, 32),
    "langsmith": lambda rng: f"lsv2_pt_{chance(rng, 32, HEX)}_{chance(rng, 10, HEX)}",
    "bedrock": lambda rng: "bedrock-api-key-" + base64.b64encode(rng.randbytes(90)).decode(),
    "supabase": lambda rng: "sbp_" + chance(rng, 40, HEX),
    "netlify": lambda rng: "nfp_" + chance(rng, 40),
    "twilio": lambda rng: "SK" + chance(rng, 32, HEX),
    "mailchimp": lambda rng: chance(rng, 32, HEX) + "-us21",
    "new-relic": lambda rng: "NRAK-" + chance(rng, 27, string.ascii_uppercase + string.digits),
    "new-relic-insert": lambda rng: "NRII-" + chance(rng, 32),
    "typeform": lambda rng: f"tfp_{chance(rng, 44)}_{chance(rng, 14)}",
    "sourcegraph": lambda rng: f"sgp_{chance(rng, 16, HEX)}_{chance(rng, 40, HEX)}",
    "vault": lambda rng: "hvs." + chance(rng, 95, WORDS + "_-"),
    "azure-ad": lambda rng: f"{chance(rng, 3)}8Q~{chance(rng, 33)}",
    "terraform": lambda rng: f"{chance(rng, 14)}.atlasv1.{chance(rng, 64)}",
    "maxmind": lambda rng: f"{chance(rng, 6)}_{chance(rng, 29)}_mmk",
    "github-long": lambda rng: "ghs_" + chance(rng, 80),
    "gitlab-long": lambda rng: "glpat-" + chance(rng, 50) + ".01.0a1b2c3d4",
    "telegram": lambda rng: f"{rng.randrange(10**9, 10**10)}:AA{chance(rng, 33, WORDS + '_-')}",
    "discord": lambda rng: f"MTI{chance(rng, 21)}.{chance(rng, 6)}.{chance(rng, 38)}",
    "anthropic": lambda rng: "sk-ant-api03-" + chance(rng, 95),
    "openai": lambda rng: "sk-proj-" + chance(rng, 120),
    "openrouter": lambda rng: "sk-or-v1-" + chance(rng, 64, HEX),
    "xai": lambda rng: "xai-" + chance(rng, 80),
    "groq": lambda rng: "gsk_" + chance(rng, 52),
    "replicate": lambda rng: "r8_" + chance(rng, 37),
    "tailscale": lambda rng: f"tskey-auth-{chance(rng, 17)}-{chance(rng, 32)}",
    "figma": lambda rng: "figd_" + chance(rng, 40),
    "docker": lambda rng: "dckr_pat_" + chance(rng, 27),
    "sonar": lambda rng: "squ_" + chance(rng, 40, HEX),
    "jwt-plain": lambda rng: f"eyJ{chance(rng, 30)}.eyJ{chance(rng, 60)}.{chance(rng, 43)}",
    "google-oauth": lambda rng: "GOCSPX-" + chance(rng, 28),
    "stripe-webhook": lambda rng: "whsec_" + chance(rng, 32),
    "pinecone": lambda rng: "pcsk_" + chance(rng, 70),
    "hubspot": lambda rng: f"pat-na1-{chance(rng, 8, HEX)}-{chance(rng, 4, HEX)}-4abc-8def-{chance(rng, 12, HEX)}",
}

SURROUNDINGS = {
    "alone": "{}",
    "a sentence": "my key is {}, ok?",
    "Chinese": "密钥是{}。",
    "code span": "`{}`",
    "quoted": '{{"note": "{}"}}',
    "after a line break in JSON": '"keys:\\n{}"',
    "after a tab in JSON": '"a\\t{}\\t"',
    "after \\r\\n in JSON": '"a\\r\\n{}\\r\\n"',
    "after \\u0022": "\\u0022{}\\u0022",
    "after %3D": "https://x/y?a%26token%3D{}%26b",
    "after %22": "%22{}%22",
    "after %20": "a%20{}%20b",
    "coloured": "\x1b[1;32m{}\x1b[0m",
    "coloured, in caret form": "^[[32m{}^[[0m",
    "coloured, written": "\\x1b[38;5;10m{}\\033[0m",
    "after a bare colour": "[0m{} [0m",
    "after markup": "a<br>{}<br/>b &quot;c&quot;",
}
ATTACHED = "x{}"  # after a letter: those whose keyword says enough

NAMED = [
    "DB_PASS={P}",
    "SMTP_PASS={P}",
    "pass: {P}",
    "<password>{P}</password>",
    "Password:\n{P}\n",
    "pw: {P}",
    "passcode: {P}",
    "CREATE USER a IDENTIFIED BY '{P}'",
    "alter user x with password '{P}'",
    "mysql -u root -p{P} db",
    "mysqldump -uroot -p'{P}' db",
    "docker login -u ann -p {P} reg",
    "sshpass -p {P} ssh a@b",
    "machine h login ann password {P}",
    "machine h\n  login ann\n  password {P}",
    "db.example.com:5432:app:ann:{P}",
    "Bearer {K}",
    "https://x/y?key={K}",
    "https://x/y?a=1&key={K}",
    "私钥：{K}",
    "密码为{P}",
    "密码 {P}",
    "口令：{P}",
    "Passwort: {P}",
    "Das Passwort ist {P}",
    "Kennwort={P}",
    "mot de passe : {P}",
    "le mot de passe est {P}",
    "contraseña: {P}",
    "la contraseña es {P}",
    "clave: {P}",
    "la password: {P}",
    "parola d'ordine: {P}",
    "senha: {P}",
    "a senha é {P}",
    "palavra-passe: {P}",
    "wachtwoord: {P}",
    "het wachtwoord is {P}",
    "hasło: {P}",
    "hasło to {P}",
    "пароль: {P}",
    "пароль {P}",
    "パスワード：{P}",
    "パスワードは{P}です",
    "비밀번호: {P}",
    "비밀번호는 {P}",
    "암호: {P}",
    "postgres://u:Xk9@{P}@db",
    "postgres://u:Xk9#{P}@db",
    "postgres://u:Xk9/{P}@db",
    "redis-cli -h h -a {P} ping",
    "password%3D{P}%26x",
    "\\u0022password\\u0022: \\u0022{P}\\u0022",
    "&quot;password&quot;: &quot;{P}&quot;",
    '<add key="Password" value="{P}"/>',
    'api_key = "{K}"',
    "API_KEY={K}",
    'export OPENAI_API_KEY="{K}"',
    '"client_secret": "{K}",',
    "auth-token: {K}",
    "Authorization: Bearer {K}",
    "const apiKey = '{K}';",
    "| API key | {K} |",
    "the token is {K}",
    "--token {K}",
    "curl -u admin:{P} https://x",
    "Cookie: sessionid={K}; a=b",
    "AccountKey={K}==;",
]
"""Ways to name a secret: {P} a password, {K} a key."""


def _wrapped(width: int, joint: str) -> Callable[[str], str]:
    return lambda token: joint.join(token[at : at + width] for at in range(0, len(token), width))


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda token: base64.b64encode(token.encode()).decode(),
    "base64 for addresses": lambda token: base64.urlsafe_b64encode(token.encode()).decode(),
    "base64 in a secret of Kubernetes": lambda token: f"data:\n  value: {base64.b64encode(token.encode()).decode()}\n",
    "base64 in JSON": lambda token: json.dumps({"data": base64.b64encode(token.encode()).decode()}),
    "base64 of Basic": lambda token: "Authorization: Basic " + base64.b64encode(f"ann:{token}".encode()).decode(),
    "an address' user": lambda token: f"https://{token}:x-oauth-basic@example.com/r.git",
    "an address' password": lambda token: f"https://oauth2:{token}@example.com/r.git",
    "a header": lambda token: f"PRIVATE-TOKEN: {token}",
    "a line of env": lambda token: f"export TOKEN='{token}'",
    "Markdown's bold": lambda token: f"**{token}**",
    "Markdown's italics": lambda token: f"_{token}_",
    "a link": lambda token: f"[{token}](https://x)",
    "a quotation": lambda token: f"> {token}\n> and on",
    "a diff": lambda token: f"-old\n+{token}\n",
    "an element": lambda token: f"<code>{token}</code>",
    "JSON in JSON": lambda token: json.dumps(json.dumps({"a": f"b\n{token}\n"})),
    "quoted-printable": lambda token: f"token=3D{token}",
    "double encoding": lambda token: f"a%253D{token}%2526",
    "brackets": lambda token: f"[{token}]({token})",
    "a comment": lambda token: f"/*{token}*/ #{token}",
    "broken at 20": _wrapped(20, "\n"),
    "broken at 32": _wrapped(32, "\n"),
    "continued with a backslash": _wrapped(20, "\\\n"),
    "quoted-printable, broken": _wrapped(20, "=\n"),
    "in strings that are added": _wrapped(16, '" + "'),
    "spaced": _wrapped(4, " "),
    "hexadecimal": lambda token: token.encode().hex(),
    "base64 twice": lambda token: base64.b64encode(base64.b64encode(token.encode())).decode(),
    "base64 within": lambda token: base64.b64encode(f"x {token} y".encode()).decode(),
    "backwards": lambda token: token[::-1],
    "zero-width within": lambda token: token[:10] + "\u200b" + token[10:],
    "letters escaped": lambda token: "".join(f"\\u{ord(letter):04x}" for letter in token),
    "letters in percent": lambda token: "".join(f"%{ord(letter):02X}" for letter in token),
    "HTML numbers": lambda token: "".join(f"&#{ord(letter)};" for letter in token),
    "fullwidth": lambda token: "".join(chr(ord(letter) + 0xFEE0) for letter in token),
}
NOT_SEEN = frozenset(
    [
        *("spaced", "hexadecimal", "base64 twice", "base64 within", "backwards", "letters escaped"),
        *("letters in percent", "HTML numbers", "fullwidth"),
    ]
)
"""Wrappings in which a token is not known. See docs/reference/privacy.md. More ways to break one: broken_forms."""


def pem(rng: random.Random) -> str:
    body = base64.b64encode(rng.randbytes(600)).decode()
    lines = "\n".join(re.findall(".{1,64}", body))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"


PEM_FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "CRLF": lambda key: key.replace("\n", "\r\n"),
    "JSON": lambda key: json.dumps({"k": key}),
    "JSON in JSON": lambda key: json.dumps(json.dumps({"k": key})),
    "quoted": lambda key: "> " + key.replace("\n", "\n> "),
    "indented": lambda key: "    " + key.replace("\n", "\n    "),
    "a log": lambda key: "[info] " + key.replace("\n", "\n[info] "),
    "a dated log": lambda key: "2026-11-22 10:00:01 " + key.replace("\n", "\n2026-11-22 10:00:01 "),
    "code spans": lambda key: "`" + key.replace("\n", "`\n`") + "`",
    "breaks": lambda key: key.replace("\n", "<br>"),
    "breaks and lines": lambda key: key.replace("\n", "<br/>\n"),
    "paragraphs": lambda key: "<p>" + key.replace("\n", "</p>\n<p>") + "</p>",
    "one line": lambda key: key.replace("\n", " "),
    "no line ends": lambda key: key.replace("\n", ""),
    "added strings": lambda key: '"' + key.replace("\n", '\\n" +\n"') + '"',
    "C strings": lambda key: '"' + key.replace("\n", '\\n"\n"') + '"',
    "a diff": lambda key: "+" + key.replace("\n", "\n+"),
    "a table": lambda key: "| " + key.replace("\n", " |\n| ") + " |",
    "a fence": lambda key: f"```\n{key}\n```",
    "cut off": lambda key: key[: len(key) // 2],
    "encrypted": lambda key: key.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,AB12\n\n", 1),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "a kubeconfig": lambda key: f"    client-key-data: {base64.b64encode(key.encode()).decode()}\n",
    "percent signs": lambda key: key.replace("\n", "%0A").replace(" ", "%20"),
}

CLOSED_SPELLINGS = [
    f"{less}{before}{name}{after}{more}{{}}{less}/{name}{more}"
    for less, more in (("<", ">"), ("＜", "＞"), ("〈", "〉"), ("&lt;", "&gt;"), ("\\u003c", "\\u003e"), ("%3C", "%3E"))
    for name in ("private", "PRIVATE", "ｐｒｉｖａｔｅ")
    for before, after in (("", ""), (" ", ""), ("\xa0", "\xa0"))
]


def streamed_texts(rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Random texts of hostile pieces, with the pieces in which they come."""
    pieces = [
        *(
            "<private>",
            "</private>",
            "Local<Private>",
            "`",
            "```\n",
            "\n",
            " ",
            "=",
            ": ",
            '"',
            "password",
            "<br>",
            "&lt;private&gt;",
        ),
        *(
            "\\n",
            "%3D",
            "\x1b[0m",
            "[private]",
            "<palimpsest-a>",
            "</palimpsest-a>",
            "Bearer ",
            "密码",
            "login ann password ",
        ),
        *(
            "mysql -p",
            "x://u:",
            "@db",
            "datadog: ",
            "-us21",
            "_mmk",
            "8Q~",
            ".atlasv1.",
            "Z2hwX2FCM2RFNWdIN2pLOW1OMXBRM3NUNXZXN3laOWJD",
        ),
    ]
    all_kinds = list(kinds(rng).values())
    while True:
        text = "".join(
            rng.choice(pieces) if rng.random() < 0.7 else rng.choice([rng.choice(all_kinds), chance(rng, 20), pem(rng)])
            for _ in range(rng.randint(1, 14))
        )
        cuts = sorted(rng.randint(0, len(text)) for _ in range(rng.randint(0, 12)))
        yield text, [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
