"""Nothing foreign can command the terminal."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.terminal_text import FORBIDDEN, VisiblePieces, visible, visible_code, visible_code_line

ATTACKS = {
    "clipboard (OSC 52)": "\x1b]52;c;cm0gLXJm\x07",
    "link (OSC 8)": "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\",
    "title": "\x1b]0;root@bank\x07",
    "erase": "\x1b[2J\x1b[H",
    "reset": "\x1bc",
    "one-byte CSI": "\x9b31m",
    "one-byte OSC": "\x9d0;x\x9c",
    "backspace over": "safe\x08\x08\x08\x08evil",
    "carriage return over": "safe\revil",
    "turned round": "user\u202etxt.exe",
    "isolates": "a\u2066b\u2069c",
    "marks": "a\u200eb\u200fc\u061cd",
    "zero width": "pass\u200bword \u2060x\ufeff",
    "blank letter": "a\u3164b\u115f",
    "tags": "hi\U000e0068\U000e0069",
    "hidden bytes": "x\ufe01\ufe02\ufe03",
    "line separator": "a\u2028b\u2029c",
    "Khmer vowels without a shape": "a\u17b4b\u17b5",
    "musical and shorthand controls": "a\U0001d173b\U0001bca0c",
    "Mongolian selectors elsewhere": "rm\u180b -r\u180f",
    "lone surrogate": "a\ud83db",
    "joiner in Latin": "pay\u200dpal \u200cx",
}
PLAIN = [
    "plain words, ünïcödé, 你好世界, שלום, مرحبا",
    "tabs\tand\nlines\n",
    "👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👍🏽 ☺️",
    "می‌خواهم",  # Persian needs its non-joiner
    "क्‍ष ক্‌ক",  # Indic scripts need both
    "ᠭ᠋ ᠠ᠌",  # Mongolian needs its selectors
    "soft\u00adhyphens, 10\u00a0000\u202f€,\u3000全角, ⠀⠁⠃",
    "葛󠄀",  # a Han character with the selector of its form
    "[bold]not markup[/bold] [@click=x]",
]
_FORBIDDEN = re.compile(f"[{FORBIDDEN}]")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_what_could_command_or_deceive_becomes_visible(attack: str) -> None:
    shown = visible(attack)
    assert shown != attack
    assert not _FORBIDDEN.search(shown)
    assert all(unicodedata.category(letter) not in ("Cc", "Cs") for letter in shown if letter not in "\n\t")


@pytest.mark.parametrize("text", PLAIN)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) is text or visible(text) == text


def test_the_glyphs_tell_what_was_there() -> None:
    assert visible("\x1b[2J\x07\x7f\x9b1m\u202e") == "␛[2J␇␡␛[1m⟨U+202E⟩"


@pytest.mark.parametrize(
    "hidden",
    list("\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u180b\u180f\u2003\u202f\u205f\u2800\u3000\u3164\ufe0f\U0001d17a"),
)
def test_a_command_shows_what_hides_or_separates_its_words(hidden: str) -> None:
    number = f"⟨U+{ord(hidden):04X}⟩"
    assert visible_code(f"rm -rf a{hidden}b\n\tx") == f"rm -rf a{number}b\n\tx"
    assert visible_code_line(f"rm{hidden}  -rf\n x") == f"rm{number} -rf x"


@pytest.mark.parametrize("text", ["ls 'naïve 文件' ☺️ 1️⃣ ❤️‍🔥", "git log --format=%h", "echo می‌خواهم 葛󠄀"])
def test_a_command_in_any_script_stays_as_it_is(text: str) -> None:
    assert visible_code(text) == text


def test_line_ends_of_windows_are_line_ends() -> None:
    assert visible("a\r\nb\rc") == "a\nb␍c"


@given(st.text(st.characters(codec=None)))
def test_no_text_at_all_leaves_a_forbidden_character(text: str) -> None:
    shown = visible(text)
    assert not _FORBIDDEN.search(shown)
    assert visible(shown) == shown


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_printable_text_is_unchanged(text: str) -> None:
    assert visible(text) is text


def test_each_code_point_alone_is_printable_or_shown() -> None:
    for code in range(0x110000):
        shown = visible(chr(code))
        assert not _FORBIDDEN.search(shown), hex(code)


def _in_pieces(*pieces: str) -> str:
    shown = VisiblePieces()
    return "".join([*map(shown.take, pieces), shown.end()])


@pytest.mark.parametrize("text", [*PLAIN, *ATTACKS.values(), "نمی‌خواهم", "👩‍👩‍👧‍👦", "a\r\nb\r", "x\r"])
def test_pieces_of_a_text_show_what_the_whole_shows(text: str) -> None:
    assert _in_pieces(*text) == visible(text)
    for cut in range(len(text) + 1):
        assert _in_pieces(text[:cut], text[cut:]) == visible(text)


@given(st.lists(st.text(st.sampled_from("aن👩❤葛ᠭ\u200c\u200d\ufe0f\ufe01\u180b\U000e0100\r\n\x1b"))))
def test_any_pieces_show_what_the_whole_shows(pieces: list[str]) -> None:
    assert _in_pieces(*pieces) == visible("".join(pieces))
