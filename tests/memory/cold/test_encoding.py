"""Text to bytes and back."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from memory.cold.encoding import PACK_FROM, pack, plain, to_bytes, unpack
from memory.errors import Damaged

ANY_TEXT = st.text(st.characters(), max_size=200)  # lone surrogates among them


@given(ANY_TEXT, st.integers(1, 50))
def test_any_text_unpacks_to_itself(text: str, times: int) -> None:
    whole = text * times
    body, packed = pack(to_bytes(whole))
    assert unpack(body, packed, len(whole)) == whole
    assert len(body) <= len(to_bytes(whole))


def test_text_that_does_not_shrink_is_left_as_it_is() -> None:
    import os

    raw = os.urandom(PACK_FROM * 2)
    assert pack(raw) == (raw, 0)


@given(ANY_TEXT)
def test_a_name_keeps_all_but_lone_surrogates(text: str) -> None:
    assert plain(text).encode("utf-8").decode("utf-8") == "".join(
        "\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text
    )


def test_a_frame_that_unfolds_to_more_than_its_row_says_is_not_unfolded() -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(512 * 1024 * 1024))
    with pytest.raises(Damaged, match="says it is 536870912 bytes; at most 4000 fit"):
        unpack(bomb, 1, 1000)


def test_a_frame_that_hides_its_size_is_not_unfolded() -> None:
    hiding = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 5000)
    with pytest.raises(Damaged):
        unpack(hiding, 1, 5000)


@pytest.mark.parametrize("body", [b"", b"no frame at all", zstandard.compress(b"x" * 5000)[:-3]])
def test_a_broken_frame_is_damaged(body: bytes) -> None:
    with pytest.raises(Damaged):
        unpack(body, 1, 5000)


def test_bytes_that_are_no_text_are_damaged() -> None:
    with pytest.raises(Damaged):
        unpack(b"\xff\xfe", 0, 2)
