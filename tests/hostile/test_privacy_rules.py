"""Secrets in every form that we know, in every surrounding, and what must not be taken for one.

A seeded sample runs each time, all of it in the soak; each test prints how many attempts it made.
"""

import random
import sysconfig
from itertools import islice
from pathlib import Path

import pytest

from foundation.privacy import ClearingStream, TextSource, clear, examine
from tests.hostile.secret_forms import (
    ATTACHED,
    CLOSED_SPELLINGS,
    NAMED,
    NOT_SEEN,
    PEM_FORMS,
    SURROUNDINGS,
    WRAPPINGS,
    chance,
    kinds,
    pem,
    streamed_texts,
)

pytestmark = pytest.mark.timeout(120)  # by the wall clock: a busy machine takes ten times as long

SMALL = 150
WHOLE = pytest.param(None, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])
MUST_BE_ALONE = 40  # kinds, at most, that are not known directly after a letter


def sample(all_of_it: list, most: int | None, rng: random.Random) -> list:
    return all_of_it if most is None else rng.sample(all_of_it, min(most, len(all_of_it)))


def kept(text: str, secret: str) -> list[str]:
    """The ways of clearing that keep the secret, or its end."""
    stream = ClearingStream(TextSource.OTHER)
    ways = {
        "whole": clear(text),
        "others' text": clear(text, TextSource.OTHER),
        "streamed": "".join(map(stream.feed, text)) + stream.close(),
    }
    return [way for way, cleared in ways.items() if secret in cleared or secret[-12:] in cleared]


@pytest.mark.parametrize("most", [SMALL, WHOLE])
def test_every_kind_is_known_in_every_surrounding(most: int | None) -> None:
    rng = random.Random(7)
    cases = [
        (kind, around, secret)
        for _ in range(1 if most else 5)
        for kind, secret in kinds(rng).items()
        for around in SURROUNDINGS
    ]
    chosen = sample(cases, most, rng)
    leaks = [
        (kind, around, ways)
        for kind, around, secret in chosen
        if (ways := kept(SURROUNDINGS[around].format(secret), secret))
    ]
    print(f"{len(chosen)} secrets in a surrounding, {len(leaks)} kept")
    assert leaks == []


def test_most_kinds_are_known_directly_after_a_letter() -> None:
    known = kinds(random.Random(7))
    missed = [kind for kind, secret in known.items() if kept(ATTACHED.format(secret), secret)]
    print(f"{len(known)} kinds after a letter, {len(missed)} kept: {missed}")
    assert len(missed) <= MUST_BE_ALONE


@pytest.mark.parametrize("most", [SMALL, WHOLE])
def test_every_way_to_name_a_secret_is_known(most: int | None) -> None:
    rng = random.Random(8)
    cases = [(way, chance(rng, 12), chance(rng, 24)) for _ in range(1 if most else 24) for way in NAMED]
    chosen = sample(cases, most, rng)
    leaks = [
        (way, password, key)
        for way, password, key in chosen
        if kept(way.replace("{P}", password).replace("{K}", key), password if "{P}" in way else key)
    ]
    print(f"{len(chosen)} named secrets, {len(leaks)} kept")
    assert leaks == []


@pytest.mark.parametrize("most", [SMALL, WHOLE])
def test_a_wrapped_token_is_known_in_the_wrappings_that_we_say(most: int | None) -> None:
    rng = random.Random(9)
    known = ("github-pat", "gitlab-pat", "npm-access-token", "xai", "figma", "nvidia", "anthropic")
    cases = [(wrapping, kind) for wrapping in WRAPPINGS if wrapping not in NOT_SEEN for kind in known]
    secrets = kinds(rng)
    leaks = [case for case in sample(cases, most, rng) if _survives(*case, secrets)]
    print(f"{len(cases)} wrapped tokens, {len(leaks)} kept; not seen: {sorted(NOT_SEEN)}")
    assert leaks == []


def _survives(wrapping: str, kind: str, secrets: dict[str, str]) -> bool:
    text = WRAPPINGS[wrapping](secrets[kind])
    cleared = clear(text)
    return cleared == text or secrets[kind] in cleared


@pytest.mark.parametrize("times", [1, pytest.param(6, marks=pytest.mark.soak)])
@pytest.mark.parametrize("form", PEM_FORMS)
def test_a_private_key_is_known_in_every_form(form: str, times: int) -> None:
    rng = random.Random(10)
    for _ in range(times):
        key = pem(rng)
        body = [line for line in key.splitlines()[1:-1] if "cut" not in form]
        cleared = clear(f"before {PEM_FORMS[form](key)} after")
        assert len(cleared) < 90 and cleared.startswith("before ")
        assert not any(line[:16] in cleared for line in body)


@pytest.mark.parametrize("spelling", CLOSED_SPELLINGS)
def test_a_tag_is_known_in_every_spelling_of_a_person(spelling: str) -> None:
    text = f"a {spelling.format('quietword')} b"
    assert clear(text) == "a [private] b"
    stream = ClearingStream()
    assert "".join(map(stream.feed, text)) + stream.close() == "a [private] b"


@pytest.mark.parametrize("many", [300, pytest.param(12_000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
def test_a_stream_is_the_whole_and_twice_is_once(many: int) -> None:
    rng = random.Random(11)
    for text, pieces in islice(streamed_texts(rng), many):
        source = rng.choice(list(TextSource))
        stream = ClearingStream(source)
        whole = clear(text, source)
        assert "".join(map(stream.feed, pieces)) + stream.close() == whole, repr(text)
        assert clear(whole, source) == whole, repr(text)
    print(f"{many} random texts in random pieces")


@pytest.mark.parametrize("most", [40, WHOLE])
def test_the_standard_library_holds_no_secret_and_loses_nothing(most: int | None) -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(
        path for path in root.rglob("*.py") if "site-packages" not in path.parts and "test" not in path.parts
    )
    files = [path for path in files if path.stat().st_size < 60_000 or most is None]
    found = []
    for path in sample(files, most, random.Random(12)):
        findings = examine(path.read_text("utf-8", errors="replace"), TextSource.OTHER)
        if findings.secrets or findings.private or findings.injected:
            found.append((path.name, findings.secrets))
    assert found == []


HOSTILE = [
    *("password=", "a=", "token: ", "<private>", "</private>", "-----BEGIN PRIVATE KEY-----", "sk-", "://u:", "key=x"),
    *(
        "```\n<private>\n",
        "Local<Private>",
        "a<private>b</private>",
        "<private>a<private></private>",
        "mysql -p",
        "mysql ",
        "login ",
        "ghp_",
        "eyJ",
        "密码",
    ),
    *(
        "&lt;private&gt;",
        "<palimpsest-a>",
        "<palimpsest-a></palimpsest-a>",
        "[private]",
        "`",
        "` <private>",
        "%3D",
        "=3D",
    ),
    *(
        "LS0tLS1CRUdJTi",
        "Z2hwX",
        "0123456789abcdef",
        "aaaaaa_",
        "8Q~",
        ".atlasv1.",
        "-us1",
        "Bearer ",
        ": ",
        "| ",
        "[0m",
    ),
    *("<password>", "identified by '", "a:5432:b:c:", "\x1b[0m", "AKIA", "password:\n"),
    *(
        "senha_",
        "<password a",
        'assword("',
        "${PASSWORD:-",
        "Authorization: Bearer ",
        "mot de passe\xa0",
        "ｐａｓｓ",
        "&LT;",
    ),
]


@pytest.mark.parametrize("length", [4_000, pytest.param(50_000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_pattern_takes_time_in_proportion(piece: str, length: int) -> None:
    text = (piece * length)[:length]
    for source in TextSource:
        stream = ClearingStream(source)
        fed = [stream.feed(text[at : at + 17]) for at in range(0, len(text), 17)]
        assert "".join(fed) + stream.close() == clear(text, source)
