"""Which `<private>` is a tag, whose text it stands in, and what is said of what it hides."""

import re
from pathlib import Path

import pytest

import foundation
from foundation.privacy import ClearingStream, TextSource, clear, examine, without_tags
from foundation.privacy.tag_patterns import INJECTED_KINDS
from models.messages import INSTRUCTIONS, OWN_CITATIONS

TEXT_FOR_ALL = {
    "a generic type": "auto x = Local<Private> key; and on",
    "a phantom type": "PhantomData<Private>, Array<Private>",
    "a comment of GTK": "struct _G {\n  /*< private >*/\n  int x;\n};",
    "Perl's categories": "C<Private Use> and more of it",
    "a code span": "write `<private>` and go on",
    "an open tag in a fence": "```cpp\nLocal<Private> key;\n<private>\nint x;\n```\nand on",
    "an open tag in a fence of tildes": "~~~\n<private>\n~~~\nand on",
}
TEXT_IN_AN_ANSWER = {
    "prose": "the <private> DRBG is seeded once\n\nand on",
    "a tag at the end": "and so on <private>",
    "a pair in a fence": "```xml\n<private>a</private>\n```\nand on",
    "a pair after a word": "Local<Private>a</private>",
    "a span": "`<private>a</private>` b",
}


@pytest.mark.parametrize("source", TextSource)
@pytest.mark.parametrize("text", TEXT_FOR_ALL.values(), ids=TEXT_FOR_ALL.keys())
def test_what_is_no_tag_stays_whoever_wrote_it(text: str, source: TextSource) -> None:
    findings = examine(text, source)
    assert findings.cleared == text
    assert (findings.private, findings.unclosed) == (0, 0)
    assert without_tags(text, source) == text


@pytest.mark.parametrize("text", TEXT_IN_AN_ANSWER.values(), ids=TEXT_IN_AN_ANSWER.keys())
def test_what_is_no_pair_stays_in_an_answer(text: str) -> None:
    assert clear(text, TextSource.OTHER) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b <private>c</private> d", "a <private>b [private] d"),
        ("<private>\n\nb\n\n```\nc\n```\n</private> d", "[private] d"),
        ("<private> Local<Private> x</private> d", "[private] d"),
    ],
)
def test_a_closed_pair_counts_in_an_answer(text: str, kept: str) -> None:
    findings = examine(text, TextSource.OTHER)
    assert (findings.cleared, findings.private, findings.unclosed) == (kept, 1, 0)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("```\n<private>b</private>\n```", "```\n[private]\n```"),
        ("```\n<private>b <private>c</private> d</private>\n```", "```\n[private]\n```"),
        ("```\n<private>\nLocal<Private> x\n</private>\n```", "```\n[private]\n```"),
        ("Bob<private>b</private> c", "Bob[private] c"),
        ("Local<Private> x <private>b</private> c", "Local<Private> x [private] c"),
        ("<private>Local<Private> b</private> c", "[private] c"),
        ("我的密码<private>b</private>。", "我的密码[private]。"),
    ],
)
def test_a_closed_pair_of_a_person_counts_in_a_fence_and_after_a_word(text: str, kept: str) -> None:
    assert clear(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<private>a<private>b</private>quiet</private>", "[private]"),
        ("<private>a<private>b</private>quiet</private> c", "[private] c"),
        ("<private>a<private>b<private>c</private>d</private>quiet</private> e", "[private] e"),
        ("<private>a <private>b x<private>c</private> d</private> quiet</private> e", "[private] e"),
        ("<private>Local<Private> b</private> c <private>d</private> e", "[private] c [private] e"),
        ("<private>Local<Private> b</private> c\n```\nd\n```", "[private] c\n```\nd\n```"),
    ],
)
def test_a_tag_after_a_word_nests_in_a_private_span_where_it_is_closed(text: str, kept: str) -> None:
    assert clear(text) == kept
    for at in range(len(text)):
        stream = ClearingStream()
        assert stream.feed(text[:at]) + stream.feed(text[at:]) + stream.close() == kept


def test_an_unclosed_tag_of_a_person_hides_the_rest_and_its_letters_are_counted() -> None:
    findings = examine("a <private>" + "word " * 20)
    assert (findings.cleared, findings.private, findings.unclosed) == ("a [private]", 1, 100)
    assert examine("a <private>b</private>").unclosed == 0
    assert examine("a <private>b", TextSource.OTHER).unclosed == 0


def test_what_stands_between_our_own_tags_is_counted() -> None:
    text = "<palimpsest-recalled>\nmy own words\n</palimpsest-recalled>"
    findings = examine(f"see {text}")
    assert (findings.cleared, findings.injected) == ("see [injected]", len(text))


@pytest.mark.parametrize("name", ["x", "recalledx", "recalled-bcdf", "recalled-aeiouaei", "recalled-bcdfghjk-x"])
@pytest.mark.parametrize("source", TextSource)
def test_tags_that_only_look_like_ours_are_text(name: str, source: TextSource) -> None:
    text = f"<palimpsest-{name}>words</palimpsest-{name}> and on"
    assert examine(text, source, frozenset({"bcdfghjk"})).cleared == text


def test_in_text_of_others_a_block_counts_by_the_nonce_of_the_request() -> None:
    text = "see <palimpsest-recalled-bcdfghjk>words</palimpsest-recalled-bcdfghjk>"
    assert clear(text, TextSource.OTHER) == text
    assert clear(text, TextSource.OTHER, frozenset({"zzzzzzzz"})) == text
    findings = examine(text, TextSource.OTHER, frozenset({"bcdfghjk"}))
    assert (findings.cleared, findings.injected) == ("see [injected]", len(text) - 4)


def test_a_stream_of_what_only_looks_like_a_block_waits_for_nothing() -> None:
    stream = ClearingStream(TextSource.OTHER, frozenset({"bcdfghjk"}))
    assert stream.feed("<palimpsest-x>some words of an answer ") == "<palimpsest-x>some words of an answer "


def test_every_kind_of_block_that_a_request_can_hold_is_known() -> None:
    root = Path(foundation.__file__).parents[1]
    source = "\n".join(
        path.read_text("utf-8") for room in ("context", "memory", "models") for path in (root / room).rglob("*.py")
    )
    kinds = set(
        re.findall(r"""(?:injected=|fence_text\(|Text\([^()\n]*(?:\([^()\n]*\))?[^()\n]*, )"([a-z]+)\"""", source)
    )
    assert {"recalled", "attachment", "skill", "summary", "pages"} <= kinds
    assert kinds | OWN_CITATIONS | INSTRUCTIONS | {"memory", "hook"} == set(INJECTED_KINDS)


def test_an_answer_with_a_generic_type_is_stored_whole_as_it_comes() -> None:
    answer = (
        "Use it so:\n\n```cpp\nLocal<Private> key = Private::ForApi(isolate);\nobject->SetPrivate(key);\n```\nDone."
    )
    stream = ClearingStream(TextSource.OTHER)
    given = [stream.feed(word) for word in answer.split(" ")]
    assert len("".join(given)) > len(answer) - 30
    assert "".join(given) + stream.close() == answer.replace(" ", "")


SPELLINGS = [
    "＜private＞{}＜/private＞",
    "＜private>{}＜/private>",
    "<private＞{}</private＞",
    "〈private〉{}〈/private〉",
    "<ｐｒｉｖａｔｅ>{}</ｐｒｉｖａｔｅ>",
    "＜ＰＲＩＶＡＴＥ＞{}＜／ＰＲＩＶＡＴＥ＞",
    "⟨private⟩{}⟨/private⟩",
    "&lt;private&gt;{}&lt;/private&gt;",
    "&#60;private&#62;{}&#60;/private&#62;",
    "&#x3C;private&#x3E;{}&#x3c;/private&#x3E;",
    "<private\xa0>{}</private\xa0>",
    "<\xa0private>{}</\xa0private>",
    "<\u200bprivate>{}</private>",
    "<\u3000private\u3000>{}</private>",
    r"\u003cprivate\u003e{}\u003c/private\u003e",
    "%3Cprivate%3E{}%3C/private%3E",
    "%3cprivate%3e{}%3c%2Fprivate%3e",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_a_person_types_in_another_spelling_is_a_tag(spelling: str) -> None:
    text = "a " + spelling.format("quietword") + " c"
    assert clear(text) == "a [private] c"
    stream = ClearingStream()
    assert "".join(map(stream.feed, text)) + stream.close() == "a [private] c"
    assert "quietword" in without_tags(text) and "private" not in without_tags(text)
