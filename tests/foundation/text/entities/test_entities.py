"""What a text names, found by rules: in talk as people type it, and nothing where they name nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.entities.rules import KINDS, entities
from foundation.text.tags import entry_tags


def named(kind: str, text: str) -> set[str]:
    return {value for found, value in entities(text) if found == kind}


@pytest.mark.parametrize(
    ("text", "flights"),
    [
        ("I'm on BA249 to Rio, seat 32A", {"BA249"}),
        ("航班 CA1234 改到晚上八点", {"CA1234"}),
        ("my flight is U2 8001, gate 12", {"U28001"}),
        ("flight ca1234 tomorrow", {"CA1234"}),
        ("branch ca1234, commit ba249", set()),
        ("check in at 12, the flight is 300 km", set()),
        ("坐MU 535的航班回来", {"MU535"}),
        ("encode it as H264, with MP3 sound", set()),
        ("PR123 is merged, AI 101 is full", set()),
        ("see RFC2616, CO2 levels, PS5, B12 vitamins", set()),
        ("BA24901 is an order number", set()),
        ("the hash is CA1234ff", set()),
    ],
)
def test_flights(text: str, flights: set[str]) -> None:
    assert named("flight", text) == flights


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("released 2026-03-01.", {"2026-03-01", "2026-03", "2026", "03-01"}),
        ("on 2026/3/1 or so", {"2026-03-01", "2026-03", "2026", "03-01"}),
        ("Let's meet March 5!", {"03-05"}),
        ("since the 5th of March", {"03-05"}),
        ("born 7 May 2023", {"2023-05-07", "2023-05", "2023", "05-07"}),
        ("Sept. 12th, 2024 was a Thursday", {"2024-09-12", "2024-09", "2024", "09-12"}),
        ("in March 2026", {"2026-03", "2026"}),
        ("I lived there in 2019", {"2019"}),
        ("3月5日见", {"03-05"}),
        ("他2026年3月5号出发", {"2026-03-05", "2026-03", "2026", "03-05"}),
        ("2026年的计划", {"2026"}),
        ("you may 5 of them take, 5 may work", set()),
        ("March 10% of them, at 10:30, 3/4 of a cup", set()),
        ("there were 2000 people", set()),
        ("2026-13-45 is none", set()),
        ("call 555-2024-03-0199", set()),
    ],
)
def test_dates_as_far_as_they_are_said(text: str, dates: set[str]) -> None:
    assert named("date", text) == dates


@pytest.mark.parametrize(
    ("text", "sums"),
    [
        ("It cost $120, not $1,200.50.", {"usd120", "usd1200.5"}),
        ("120 USD or 110 euros", {"usd120", "eur110"}),
        ("USD 99 a year", {"usd99"}),
        ("¥300", {"cny300", "jpy300"}),
        ("这个要300元，那个五块", {"cny300"}),
        ("首付5万元", {"cny50000"}),
        ("20块钱", {"cny20"}),
        ("raised $3 million, then $5k", {"usd3000000", "usd5000"}),
        ("HK$50 and US$7", {"hkd50", "usd7"}),
        ("echo $1 and $HOME; 20 块石头", set()),
        ("300 people, 5 million of them", set()),
    ],
)
def test_money(text: str, sums: set[str]) -> None:
    expected = sums | ({"usd1"} if "$1 " in text else set())
    assert named("money", text) == expected


def test_a_number_that_nobody_says_is_none() -> None:
    assert named("money", "$" + "9" * 400) == set()


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Dr. Anna Smith called", {"Anna", "Smith", "Anna Smith"}),
        ("my friend Zelda is here", {"Zelda"}),
        ("her old colleague Priyanka Rao quit", {"Priyanka", "Rao", "Priyanka Rao"}),
        ("Hey Mel! How are you?", {"Mel"}),
        ("Thanks, Caroline, that helps", {"Caroline"}),
        ("I saw Thomas in London", {"Thomas"}),
        ("Mr Okonkwo's boiler", {"Okonkwo"}),
        ("我朋友张伟明天来", {"张伟"}),
        ("我和王小明老师谈过", {"王小明"}),
        ("问李医生", {"李医生"}),
        ("Hi there! Hey Guys, thanks God", set()),
        ("We use Docker and Postgres on Monday", set()),
        ("Will it work? Mark it, Bill them, I hope in May", set()),
        ("Machine Learning at Google Cloud", set()),
        ("这个方法和高老庄的故事", set()),
        ("她女儿说她会来", set()),
    ],
)
def test_people(text: str, people: set[str]) -> None:
    assert named("person", text) == people


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("flying to London from New York City", {"London", "New York City"}),
        ("we moved to Umbria last year", {"Umbria"}),
        ("she lives in Reading", {"Reading"}),
        ("a trip to Lake Como in May", {"Lake Como"}),
        ("我下周去北京和深圳", {"北京", "深圳"}),
        ("Reading is fun, Jordan said; nice, Virginia!", set()),
        ("I moved to Google in March, and in Python it works", set()),
        ("went to Anna's", set()),
        ("今日本店休息，完成都市规划，大连接数", set()),
    ],
)
def test_places(text: str, places: set[str]) -> None:
    assert named("place", text) == places


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("edit src/http_client.py now", {"http_client.py", "src/http_client.py"}),
        (r"in C:\Users\me\notes.txt.", {"notes.txt", "me/notes.txt", "Users/me/notes.txt"}),
        ("see README.md, backup.tar.gz", {"README.md", "backup.tar.gz"}),
        ("打开config.yaml看看", {"config.yaml"}),
        ("it is in /etc/nginx/conf.d", {"conf.d", "nginx/conf.d", "etc/nginx/conf.d"}),
        ("Node.js and Vue.js, e.g. and/or, 1.5, U.S.C", set()),
        ("https://example.com/a/b.py", set()),
        ("memory.cold.sql is a module", set()),
        ("/help or 24/7", set()),
    ],
)
def test_files(text: str, files: set[str]) -> None:
    assert named("file", text) == files


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("see https://docs.python.org/3/ for it", {"docs.python.org", "docs.python.org/3"}),
        ("（www.example.com）", {"example.com"}),
        ("http://me:secret@host.org/x?y=1.", {"host.org", "host.org/x?y=1"}),
        ("std::map, a://", set()),
    ],
)
def test_addresses(text: str, addresses: set[str]) -> None:
    assert named("url", text) == addresses


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("upgrade to v1.2.3", {"1.2.3", "1.2"}),
        ("0.9.1rc2 is broken", {"0.9.1rc2", "0.9.1", "0.9"}),
        ("Python 3.12 is out", {"3.12", "python 3.12"}),
        ("版本 2.1", {"2.1"}),
        ("192.168.1.1 and 3.14, chapter 1.2", set()),
        ("2026.03.01", set()),
    ],
)
def test_versions(text: str, versions: set[str]) -> None:
    assert named("version", text) == versions


def test_marks_are_kinds_and_values_folded() -> None:
    assert entry_tags("¥300 for Dr. Anna Smith", "Ｍel") == {
        "=money",
        "=money:cny300",
        "=money:jpy300",
        "=person",
        "=person:anna",
        "=person:smith",
        "=person:anna_smith",
        "=person:mel",
    }


def test_who_says_it_is_a_person_of_it_but_names_nobody() -> None:
    assert entry_tags("Good morning.", "Caroline") == {"=person:caroline"}
    assert not entry_tags("Good morning.", "assistant")


def test_meta_gives_type_concepts_and_files() -> None:
    meta = {"type": "Decision", "concepts": ["how it works", "gotcha"], "files": ["./a/b/c/src/http.py"]}
    assert entry_tags("", "", meta) == {
        "=type:decision",
        "=concept:how_it_works",
        "=concept:gotcha",
        "=file",
        "=file:http.py",
        "=file:src/http.py",
        "=file:c/src/http.py",
        "=file:b/c/src/http.py",
    }


@given(
    st.dictionaries(
        st.sampled_from(["type", "concepts", "files"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda each: st.lists(each, max_size=5) | st.dictionaries(st.text(), each, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_no_meta_breaks_it(meta: dict[str, object]) -> None:
    for mark in entry_tags("", "", meta):
        assert mark.startswith("=")
        assert not set(mark) & set("\n\0 ")


_TALK = st.text() | st.lists(
    st.sampled_from(
        [
            "$",
            "¥",
            "3",
            "12",
            "2026",
            "-",
            "/",
            ".",
            ",",
            " ",
            "\n",
            "年",
            "月",
            "日",
            "March",
            "may",
            "Dr.",
            "Anna",
            "BA",
            "v1",
            ".py",
            "src/",
            "https://",
            "www.",
            "my friend ",
            "moved to ",
            "王",
            "先生",
            "朋友",
            "北京",
            "元",
            "\ud800",
        ]
    ),
    max_size=40,
).map("".join)


@given(_TALK)
def test_no_text_breaks_it(text: str) -> None:
    for kind, value in entities(text):
        assert kind in KINDS
        assert value
    for mark in entry_tags(text, text[:20]):
        assert mark.startswith("=")
        assert len(mark) <= 80
        assert not set(mark) & set("\n\0\t")
        mark.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1.",
        "1,",
        "1-",
        "$",
        "$1",
        "a.",
        ".py",
        "a.py",
        "/",
        "/a",
        "a/",
        "A",
        "Aa",
        "Aa ",
        "Dr. ",
        "Anna ",
        "my ",
        "https://",
        "www.",
        "://",
        "王",
        "先生",
        "王先生",
        "朋友",
        "2026年",
        "3月",
        "March ",
        "March 5",
        "v1.2",
        "in Ab ",
        "(",
        "\\",
        "BA249 ",
        "-",
        " ",
        "\n",
        "，",
        "5 ",
        "0.0.0",
        "@",
        "moved to ",
        "a.tar.gz",
    ],
)
def test_hostile_text_takes_time_by_its_length(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(entry_tags(text)) < 3000  # and the test's own limit of time is what a runaway meets
