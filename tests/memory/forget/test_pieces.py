"""The pieces by which a copy of a text is known: none is lost, and a text without spaces takes no longer."""

import time
import unicodedata
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foundation.text.folding import fold
from memory.forget.pieces import (
    MOST_PIECES,
    PART,
    SHORTEST_LINE,
    images_in,
    phrase_pattern,
    pieces_of,
    short_pieces_of,
    written_as,
)
from memory.forget.spellings import Spellings
from memory.forgotten.fingerprints import Fingerprints

IMAGE = "pasted/clipboard-0123456789ab.png"


@given(st.text(st.sampled_from("ab \u3000\u00a0茶"), min_size=SHORTEST_LINE, max_size=400))
def test_the_parts_of_a_line_are_all_of_its_letters(line: str) -> None:
    parts = pieces_of(line)
    whole = "".join(line.split())
    assert all(len(part) <= PART * 3 // 2 for part in parts)
    assert all("".join(part.split()) in whole for part in parts)
    if len(line.strip()) > SHORTEST_LINE + PART * 2 and len(set(parts)) == len(parts):
        found = sum(len("".join(part.split())) for part in dict.fromkeys(parts))
        assert found <= len(whole)


def test_a_line_is_cut_between_words_and_nothing_is_left_out() -> None:
    line = " ".join(f"word-{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(60))
    parts = pieces_of(line)
    assert " ".join(parts) == line
    assert max(map(len, parts)) <= PART * 3 // 2


def test_a_long_text_without_spaces_is_taken_apart_in_proportion_to_its_length() -> None:
    letters = Random(7).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=2**20)
    text = "".join(letters)
    began = time.process_time()
    pieces = pieces_of(text)
    assert time.process_time() - began < 5, "by the square of its length it took minutes"
    assert len(pieces) == MOST_PIECES
    assert all(piece in text for piece in pieces)


def test_an_image_of_the_clipboard_is_a_name_of_ours_and_no_piece() -> None:
    text = f"look at {IMAGE} and tell me what the harbour looks like today"
    assert images_in(text) == [IMAGE]
    assert not any("clipboard" in piece for piece in pieces_of(text))
    assert images_in("no image here") == []


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("zoëlümp", unicodedata.normalize("NFD", "Zoëlümp")),
        (unicodedata.normalize("NFD", "Zoëlümp"), "ZOËLÜMP"),
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("final", "ﬁnal"),
        ("周杰伦", "周杰倫"),
        ("李曉梅", "李晓梅"),
        ("頭髮", "头发"),
        ("１３８１", "1381"),
        ("ann", "Ａｎｎ"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("red door", "Red\n  DOOR"),
        ("a.b*", "A.B*"),
        ("周杰伦", "周杰倫"),
        ("周杰倫", "周杰伦"),
        ("4821", "４８２１"),
        ("４８２１", "4821"),
        ("cafe", "Café"),
        ("café", "CAFE"),
        ("cafe", unicodedata.normalize("NFD", "ｃａｆé")),
        ("한글", unicodedata.normalize("NFD", "한글")),
        ("ガス", "ｶﾞｽ"),
        ("ｶﾞｽ", unicodedata.normalize("NFD", "ガス")),
        ("كتاب", "كِتَاب"),
        ("istanbul", "İSTANBUL"),
        ("softly", "ſoftly"),
    ],
)
def test_a_phrase_is_found_however_its_letters_are_written(phrase: str, text: str) -> None:
    assert phrase_pattern(phrase).findall(f"… {text} …") == [text]


@pytest.mark.parametrize(("phrase", "text"), [("a.b", "axb"), ("cafe", "cave"), ("ss", "s s"), ("周杰伦", "周杰偷")])
def test_another_phrase_is_not_found(phrase: str, text: str) -> None:
    assert phrase_pattern(phrase).findall(text) == []


@given(st.data())
def test_what_search_folds_to_the_same_is_found(data: st.DataObject) -> None:
    letters = st.sampled_from("abcehinostu12周伦体乐ガ한éßαω")
    phrase = data.draw(st.text(letters, min_size=2, max_size=6))
    forms = [[letter, letter.upper(), *written_as().get(fold(letter), "")] for letter in phrase]
    text = "".join(data.draw(st.sampled_from(form)) for form in forms)
    text = unicodedata.normalize(data.draw(st.sampled_from(("NFC", "NFD"))), text)
    assume(fold(text) == fold(phrase))  # letters side by side may compose
    assume("sss" not in fold(phrase))  # ß is looked for in place of the first two
    assert phrase_pattern(phrase).findall(text) == [text]
    spellings = Spellings(phrase)
    assert spellings.note(f"… {text}.") and text in spellings.all


@given(st.text(st.sampled_from("aAáſsßＳ4４伦倫 \u0301"), max_size=12), st.sampled_from(("as", "ss4", "4伦", "a s")))
def test_what_is_found_folds_to_the_phrase(text: str, phrase: str) -> None:
    for hit in phrase_pattern(phrase).findall(text):
        assert fold(hit).split() == phrase.split()


@pytest.mark.parametrize(
    "line", ["PIN 4821", "zqanna", "蓝鲸在港口", "李小梅", "red door", "a1b2", "port 8080", "zqkey 77", "x y z w"]
)
def test_a_short_line_that_few_say_is_looked_for(line: str) -> None:
    assert line in short_pieces_of(f"- {line}\n")[0]


@pytest.mark.parametrize(
    "line", ["yes", "thank you", "好的", "谢谢", "stop", "done", "x", "12", "2024", "10:30", "go on", "是的没有了", "…"]
)
def test_a_short_line_that_many_say_is_counted(line: str) -> None:
    assert short_pieces_of(line) == ([], 1)


def test_codes_within_a_line_are_looked_for_and_years_are_not() -> None:
    assert short_pieces_of("My door has the code 4821 since 2024, and b7k9 before.")[0] == ["4821", "b7k9"]


@pytest.mark.parametrize(
    ("data", "is_there"),
    [
        ("48210", False),
        ("a4821", False),
        ("n4821", False),
        ("4821", True),
        ("PIN4821号", False),
        ("号4821号", True),
        ("x\\n4821", True),
        ("\\u53f74821.", True),
        ("a_4821-b", True),
    ],
)
def test_a_short_piece_counts_as_a_whole_word(data: str, is_there: bool) -> None:
    assert Fingerprints.of([b"4821"], b"secret", whole=True).holds(data.encode()) == is_there
