"""What must never reach the disk, and what must."""

import base64
import random
import uuid

import pytest

from foundation.privacy import ClearingStream, as_given, clear, examine, without_tags

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

WORD = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5kL7nP9qR2tU4wX6zA8"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "aws-access-key": "AKIA" + "Q3EGRLIH4XUZ5TPN",
    "github-pat": "ghp_" + WORD[:36],
    "github-token": "gho_" + WORD[:36],
    "github-fine-grained-pat": "github" + "_pat_" + WORD[:22] + "_" + WORD + "aB3dE",
    "gitlab-token": "glpat" + "-" + WORD[:20],
    "slack-token": "xox" + "b-123456789012-1234567890123-" + WORD[:24],
    "slack-webhook": "hooks.slack.com/" + "services/T0001AB2C/B0002CD3E/" + WORD[:24],
    "stripe-key": "sk" + "_live_" + WORD[:24],
    "anthropic-key": "sk-ant" + "-api03-" + WORD * 2,
    "openai-key": "sk-" + "proj-" + WORD + "_" + WORD,
    "openrouter-key": "sk-or" + "-v1-" + HEX,
    "huggingface-token": "hf" + "_" + WORD[:34],
    "groq-key": "gsk" + "_" + WORD[:52],
    "google-api-key": "AIza" + "Sy" + WORD[:33],
    "google-oauth-secret": "GOCSPX" + "-" + WORD[:28],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + WORD[:43],
    "npm-token": "npm" + "_" + WORD[:36],
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + WORD * 2,
    "sendgrid-key": "SG" + "." + WORD[:22] + "." + WORD[:43],
    "telegram-bot-token": "123456789" + ":AA" + WORD[:33],
    "discord-token": "MTI" + WORD[:21] + "." + "GaB3dE" + "." + WORD[:38],
    "grafana-token": "gl" + "sa_" + WORD[:32] + "_" + HEX[:8],
    "atlassian-token": "ATA" + "TT3xFfGF0" + WORD * 3 + "=A1B2C3D4",
    "figma-token": "fi" + "gd_" + WORD[:40],
    "docker-token": "dckr" + "_pat_" + WORD[:27],
    "planetscale-token": "pscale" + "_tkn_" + WORD[:43],
    "pulumi-token": "pul" + "-" + HEX[:40],
    "sentry-token": "sntr" + "ys_" + WORD + WORD,
    "heroku-key": "HR" + "KU-" + WORD[:36],
    "fly-token": "fo" + "1_" + WORD[:43],
    "airtable-token": "pat" + WORD[:14] + "." + HEX,
    "digitalocean-token": "dop" + "_v1_" + HEX,
    "shopify-token": "shp" + "at_" + HEX[:32],
    "age-secret-key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"[:58],
}
NAMED = [
    'api_key = "{}"',
    "API_KEY={}",
    'export OPENAI_API_KEY="{}"',
    '"client_secret": "{}",',
    "auth-token: {}",
    "Authorization: Bearer {}",
    "const apiKey = '{}';",
    'os.environ["SECRET_KEY"] = "{}"',
    "aws_secret_access_key = {}",
]
FRIENDS = {
    "greeting": "hello world",
    "git SHA": "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b fixes it",
    "sha256": f"sha256:{HEX}",
    "uuid": f"id {uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)} was deleted",
    "image": "![x](data:image/png;base64," + base64.b64encode(random.Random(4).randbytes(3000)).decode() + ")",
    "Chinese": "今天我们讨论了密钥管理：令牌的有效期是三十天，密码要定期更换。",
    "talk of keys": "The secret to a good soup is time. Your token of thanks, the key: patience. password: required",
    "token counts": "max_tokens: 4096, token_count = 1234567890, tokens=12,345,678",
    "code": "api_key = os.environ.get('OPENAI_API_KEY')\ntoken = self.tokenizer.encode_plus(text)",
    "placeholder": 'api_key = "your-api-key-here-12345"',
    "words with hyphens": "risk-averse, task-oriented, sk-learn and desk-bound",
    "url": "https://example.com/a/b?key=value&page=2 and postgres://localhost:5432/db",
    "time": "12:30:45 secret: 2026-03-14T09:26:53Z",
    "isbn": "ISBN 978-3-16-148410-0, phone +49 30 123456789",
    "PEM in prose": "A key file begins with -----BEGIN PRIVATE KEY----- and is base64 after that.",
    "public key": "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "a digest after two letters": f"AB{HEX[:32]} and key-{HEX[:32]}",
    "what tells about tokens": "token_count: gpt4o-mini-128k and tokens: q8Zr2LkV9xTn4WbY",
    "ids": "session_key: conv_01HXK3M9QZ7V5T2R8W4Y6B1C0D",
    "a secret's name": "client_secret_name=prod-v2-secret3",
    "where a secret lies": "Secret: Box17/Shelf3B-left9",
    "a folder": "PWD=/home/ann/project2024/x9y8z7",
    "a user's number": "docker run -u 10001:10001 image",
    "a call": "password=get_password9(user1)",
    "words after is": "the token is refreshed and the password is required2",
    "ssh public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@here",
}


@pytest.mark.parametrize(("rule", "secret"), SECRETS.items())
@pytest.mark.parametrize(
    "around", ["{}", "my key is {}, ok?", "x={}\n", '"{}"', "密钥是{}。", "`{}`", "```\n{}\n```", "({})"]
)
def test_a_secret_is_taken_out_wherever_it_stands(rule: str, secret: str, around: str) -> None:
    text = around.format(secret)
    findings = examine(text)
    assert findings.cleared == around.format(f"[secret: {rule}]")
    assert [(found.rule, text[found.start : found.end]) for found in findings.secrets] == [(rule, secret)]


@pytest.mark.parametrize("way", NAMED)
def test_what_is_named_a_secret_and_looks_like_one_is_taken_out(way: str) -> None:
    assert clear(way.format("q8Zr2LkV9xTn4WbY7mPd")) == way.format("[secret: generic-api-key]")


LIKELY = "k3JxPq9ZrTnWv5sLmB8d"
CHOSEN = "Xk92pl" + "Q77zzQ"
PHRASE = "Tr0ub4" + "dor&3x!"


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ("password: {}", PHRASE),
        ('"password": "{}"', "G7#kd!" + "92mQzz"),
        ("DB_PASSWORD='{}'", "p4Kz$9" + "vLmQ2wXr"),
        ('secret_key: "{}"', "k3JxPq9Zr$" + "TnWv5s!Lm"),
        ("--password={}", CHOSEN),
        (r"{{\"password\": \"{}\"}}", LIKELY),
        ("--token {}", LIKELY),
        ("the token is {}", LIKELY),
        ("My password is: {}.", PHRASE.rstrip("!")),
        ("**Password:** {}", CHOSEN),
        ("| API key | {} |", LIKELY),
        ("| API key     |    `{}` |", LIKELY),
        ("curl -u admin:{} https://x", CHOSEN),
        ("密码：{}", CHOSEN + "a81"),
        ("密码是{}。", CHOSEN + "a81"),
        ("api密钥: {}", LIKELY),
        ("Cookie: theme=dark; sessionid={}; a=b", LIKELY),
        ("postgres" + "://bob:{}@db", "abc1"),
    ],
)
def test_what_people_call_a_secret_is_taken_out_in_their_many_ways(way: str, value: str) -> None:
    cleared = clear(way.format(value))
    assert value not in cleared
    assert cleared in {way.format(f"[secret: {rule}]") for rule in ("generic-api-key", "url-password")}


@pytest.mark.parametrize("around", ["_{}_", "my_{}_x", "**{}**", "__{}__"])
@pytest.mark.parametrize("rule", ["github-pat", "aws-access-key", "stripe-key"])
def test_underscores_beside_a_token_do_not_hide_it(around: str, rule: str) -> None:
    assert clear(around.format(SECRETS[rule])) == around.format(f"[secret: {rule}]")


@pytest.mark.parametrize("text", FRIENDS.values(), ids=FRIENDS.keys())
def test_what_only_looks_a_little_like_one_stays(text: str) -> None:
    assert clear(text) == text


def test_a_password_in_an_address_goes_and_the_address_stays() -> None:
    assert clear("postgres://ann:" + "tr0ubad0r@db.local/x") == "postgres://ann:[secret: url-password]@db.local/x"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_block_of_a_private_key_is_taken_out_whole(kind: str) -> None:
    body = "\n".join(WORD[:48] for _ in range(8))
    block = f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"
    assert clear(f"before\n{block}\nafter") == "before\n[secret: private-key]\nafter"
    assert clear(f"```\n{block}\n```") == "```\n[secret: private-key]\n```"
    assert clear(block.replace("\n", "\\n")) == "[secret: private-key]"


def test_a_putty_key_is_taken_out() -> None:
    body = f"{WORD}aB3dE5gH7jK9\n{WORD[:20]}"
    key = f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n{body}\nPrivate-MAC: {HEX}\n"
    assert clear(key) == "PuTTY-User-Key-File-3: ssh-rsa\n[secret: private-key]\n"


def test_a_private_key_that_is_cut_off_is_taken_out_as_far_as_it_goes() -> None:
    assert WORD[:30] not in clear("-----BEGIN RSA PRIVATE KEY-----\n" + (WORD[:48] + "\n") * 5)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>never closed", "a [private]"),
        ("a <PRIVATE>b</Private> c", "a [private] c"),
        ('a <private reason="x">b</private > c', "a [private] c"),
        ("a < private >b</ private> c", "a [private] c"),
        ("a ＜private＞b＜/private＞ c", "a [private] c"),
        ("a <private\n>b</private> c", "a [private] c"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("line\n<private>\nmany\n\nlines\n</private>\nend", "line\n[private]\nend"),
    ],
)
def test_what_is_marked_private_is_taken_out(text: str, kept: str) -> None:
    assert clear(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "write `<private>` around it, then `</private>`",
        "``<private>`x`</private>`` is how",
        "```\ncode\n```\nand `<private>` after it",
        "使用`<private>`标签",
        "#include <private/key.h>",
        "List<privateer> </private> < privat",
    ],
)
def test_talk_about_the_tag_stays(text: str) -> None:
    assert clear(text) == text
    assert without_tags(text) == text


@pytest.mark.parametrize("mark", ["```", "~~~"])
def test_a_closed_pair_in_a_fence_counts_for_logs_are_pasted_there(mark: str) -> None:
    log = f"{mark}log\nstart\n<private>\nleak\n</private>\nend\n{mark}\nand on"
    assert clear(log) == f"{mark}log\nstart\n[private]\nend\n{mark}\nand on"
    assert clear(f"{mark}\na `<private>leak</private>` b\n{mark}\nc") == f"{mark}\na `[private]` b\n{mark}\nc"


@pytest.mark.parametrize(
    "text",
    [
        "an unclosed ` and <private>leak</private>",
        "a `span that ends\nnot here <private>leak</private>` x",
        "```\nnever closed\n<private>leak</private>",
        "don`t say <private>leak</private> it`s mine",
        "<private>a `</private>` leak</private>",
        "<private>leak <palimpsest-x></private",
        "``` <private>leak</private>",
        "\\`<private>leak</private>`",
        "<palimpsest-recalled>\n<private>a\n</palimpsest-recalled> leak</private>",
        "-----BEGIN PRIVATE KEY-----<private>leak",
    ],
)
def test_in_doubt_it_is_private(text: str) -> None:
    assert "leak" not in clear(text)


def test_what_we_injected_is_never_stored_as_if_it_had_been_said() -> None:
    text = 'Q\n\n<palimpsest-recalled ref="e_1" source="x">\nold words\n</palimpsest-recalled>\n\nA'
    assert clear(text) == "Q\n\n[injected]\n\nA"
    assert clear("<palimpsest-recalled> is how it begins") == "<palimpsest-recalled> is how it begins"


def test_the_model_sees_private_words_and_no_tags() -> None:
    assert without_tags("a <private>b <private>c</private></private> `<private>` d") == "a b c `<private>` d"


def test_findings_count_private_spans_and_tell_where_each_secret_stood() -> None:
    secret = SECRETS["github-pat"]
    text = f"<private>x</private> {secret} <private>y</private> {secret}"
    findings = examine(text)
    assert findings.private == 2
    assert [text[found.start : found.end] for found in findings.secrets] == [secret, secret]


def test_a_file_that_a_person_named_is_theirs_to_the_byte() -> None:
    text = f"<private>{SECRETS['jwt']}</private>\r\n"
    assert as_given(text) == text


def test_a_stream_holds_back_no_more_than_the_last_letters_of_words() -> None:
    stream = ClearingStream()
    fed = given = ""
    for word in ["It ", "was ", "a ", "dark", " and", ": stor", "my,", " “night”", "\n| a cell", " is", " done "]:
        fed += word
        given += stream.feed(word)
        assert fed.startswith(given) and len(fed) - len(given) <= 2
    assert given + stream.close() == fed


@pytest.mark.parametrize(
    ("before", "held"),
    [
        ("the token: ", "q8Zr2"),
        ("call g", ""),
        ("call ", "gh"),
        ("see <", ""),
        ("see ", "<priv"),
        ("at https", "://ann:x"),
        ("call ", "12345678:A"),
    ],
)
def test_a_stream_holds_back_what_may_be_the_beginning_of_a_secret_and_no_more(before: str, held: str) -> None:
    stream = ClearingStream()
    given = stream.feed(before) + stream.feed(held)
    assert before.startswith(given) and len(before) - len(given) <= 1
    assert given + stream.close() == before + held


def test_a_stream_gives_nothing_of_a_secret_that_comes_letter_by_letter() -> None:
    stream = ClearingStream()
    text = "key " + SECRETS["anthropic-key"] + " and <private>my" + " secret" * 3
    given = [str(stream.feed(letter)) for letter in text]
    assert "sk-" not in "".join(given)
    assert "".join(given) + stream.close() == "key [secret: anthropic-key] and [private]"


def test_a_stream_keeps_what_was_private_out_of_memory_too() -> None:
    stream = ClearingStream()
    for _ in range(1000):
        stream.feed("<private>" if not _ else "x" * 1000)
    assert stream.held < 2000


HOSTILE = {
    "nested tags": "<private>" * 20_000,
    "a long run": "`" * 50_000 + "<private>",
    "openings of ours": "<palimpsest-a>" * 20_000,
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----" * 2_000,
    "addresses": "://" * 50_000,
    "beginnings of tokens": "eyJ" * 50_000,
    "signs": "a=" * 50_000,
    "spans and tags": "`<private>" * 5_000,
    "names": ("key" * 30 + ": ") * 2_000,
    "one word": "k" * 300_000,
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_does_not_take_long(hostile: str) -> None:
    whole = clear(hostile)
    stream = ClearingStream()
    fed = [stream.feed(hostile[at : at + 97]) for at in range(0, len(hostile), 97)]
    assert "".join(fed) + stream.close() == whole
