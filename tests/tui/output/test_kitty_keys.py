"""Keys of other layouts reach their shortcut, and no sequence of keys ends the input."""

import re
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

from tests.examples import examples
from tui.output.paste_guard import BEGIN, END, MAX_SEQUENCE, PasteSafeParser

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


def typed(*pieces: str) -> list[tuple[str, str | None]]:
    """The keys of the pieces, each read by itself and followed by a pause, with what they insert."""
    parser, found = PasteSafeParser(), list[events.Key]()
    later = time.monotonic() + 60
    for piece in filter(None, pieces):
        found += [each for each in parser.feed(piece) if isinstance(each, events.Key)]
        with patch("textual._parser.get_time", lambda: later), patch("tui.output.line_burst.monotonic", lambda: later):
            found += [each for each in parser.tick() if isinstance(each, events.Key)]
    return [(key.key, key.character) for key in found]


@pytest.mark.parametrize(
    ("sequence", "key"),
    [
        ("\x1b[1089::99;5u", "ctrl+c"),
        ("\x1b[1089;5u", "ctrl+c"),  # Cyrillic, without the alternate
        ("\x1b[1089;69u", "ctrl+c"),  # with Caps Lock
        ("\x1b[1096;6u", "ctrl+shift+i"),
        ("\x1b[968;5u", "ctrl+c"),  # Greek
        ("\x1b[1489;5u", "ctrl+c"),  # Hebrew
        ("\x1b[106::99;5u", "ctrl+j"),  # Dvorak: a Latin letter is itself
        ("\x1b[99;5:1u", "ctrl+c"),
        ("\x1b[99;5:2u", "ctrl+c"),
        ("\x1b[1;5:1A", "ctrl+up"),
        ("\x1b[1089::99;3u", "alt+c"),
        ("\x1b[57414;;u", "enter"),
    ],
)
def test_a_key_of_any_layout_is_its_shortcut(sequence: str, key: str) -> None:
    assert [name for name, _inserted in typed(sequence)] == [key]


@pytest.mark.parametrize(
    ("sequence", "character"),
    [
        ("\x1b[97:65;2u", "A"),
        ("\x1b[97:65;2;65u", "A"),
        ("\x1b[1089;;1089u", "с"),
        ("\x1b[1089:1057;2;1057u", "С"),
        ("\x1b[97:65;66u", "A"),  # with Caps Lock
        ("\x1b[97;1:1u", "a"),
    ],
)
def test_a_letter_with_alternates_is_inserted(sequence: str, character: str) -> None:
    assert [inserted for _key, inserted in typed(sequence)] == [character]


def test_text_of_an_input_method_may_be_long() -> None:
    text = "我的座位号是多少这个问题"
    assert "".join(key[1] or "" for key in typed(f"\x1b[0;;{':'.join(str(ord(one)) for one in text)}u")) == text


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[99;5:3u",  # a release
        "\x1b[9999999;5u",
        "\x1b[55357u",  # a surrogate
        "\x1b[97;;55357u",
        "\x1b[:::;;;u",
        "\x1b[<1;2;3u",
        f"\x1b[{'1;' * 60}u",
        "\x1b[?62;22c",
        "\x1b[>0;276;0c",
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]4;1;rgb:ffff/ffff/ffff\x07",
        "\x1bP>|kitty(0.35)\x1b\\",
        "\x1bP1+r524742=38\x1b\\",
        "\x1b_Gi=31;OK\x1b\\",
    ],
)
def test_what_is_no_key_types_nothing(sequence: str) -> None:
    for pieces in ((f"{sequence}z",), (sequence, "z")):
        assert typed(*pieces) == [("z", "z")]


PARAMETERS = st.text(st.sampled_from("0123456789:;<=>?"), max_size=40) | st.lists(
    st.integers(0, 2_000_000).map(str) | st.just(""), max_size=6
).map(lambda numbers: ";".join(numbers).replace(";;", ":"))
SEQUENCES = st.builds(
    lambda parameters, between, final: f"\x1b[{parameters}{between}{final}",
    PARAMETERS,
    st.text(st.sampled_from(" !#$%'*+"), max_size=2),
    st.sampled_from([chr(code) for code in range(0x40, 0x7F)]),
).filter(lambda sequence: sequence not in (BEGIN, END))


@given(st.lists(SEQUENCES, min_size=1, max_size=4))
@settings(max_examples=examples(400))
def test_a_key_arrives_after_any_control_sequences(sequences: list[str]) -> None:
    assert typed(*sequences, "\x03")[-1][0] == "ctrl+c"
    if not re.search(r"\x1b\[(?:M|\[)\Z", sequences[-1]):  # these take what follows them at once
        assert typed("".join(sequences) + "\x03")[-1][0] == "ctrl+c"


@given(st.text(st.sampled_from("\x1b[]OPM_\\0123456789:;<?$~uABCR\x07ab\r\x03"), max_size=40))
@settings(max_examples=examples(400))
def test_no_input_ends_the_reading_of_keys(data: str) -> None:
    if BEGIN not in data:
        assert typed(data, "\x07", "z")[-1] == ("z", "z")


def test_a_long_sequence_is_bounded() -> None:
    assert typed(f"\x1b[{'1' * MAX_SEQUENCE * 2}u", "z")[-1] == ("z", "z")


@pytest.mark.screen
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_the_chat_reads_keys_after_alternates(tmp_path: Path) -> None:
    terminal = Terminal("--workspace", str(tmp_path / "ws"))
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")
    terminal.type("DRAFT\x1b[97:65;2u\x1b[1089::1:2;5u")
    terminal.type("more")
    terminal.until(lambda text: "DRAFTAmore" in text)
    terminal.type("\x1b[1089::99;5u")
    terminal.until(lambda text: "DRAFTAmore" not in text)
    terminal.close()
