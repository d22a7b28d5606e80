"""Fingerprints find exactly the bytes that they are of, wherever these are, and hold none of them."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.forgotten.fingerprints import BLOCK, Fingerprint, Fingerprints
from tests.examples import examples

SECRET = b"k" * 32


def naive(words: list[bytes], data: bytes) -> set[int]:
    return {at for word in words for at in range(len(data)) if len(word) >= 3 and data.startswith(word, at)}


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.binary(max_size=60), max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_the_bytes_that_are_found_are_those_that_are_there(words: list[bytes], between: list[bytes]) -> None:
    data = b"".join(part + (words[n % len(words)] if words else b"") for n, part in enumerate(between))
    found = Fingerprints.of(words, SECRET)
    covered = {at for span in found.spans(data) for at in range(span.start, span.end)}
    expected = {at + n for word in words for at in naive([word], data) for n in range(len(word))}
    assert covered == expected
    assert found.holds(data) == bool(expected)


def test_words_between_two_blocks_are_found() -> None:
    size = BLOCK
    word = b"bluefin-7731"
    data = b"\x00" * (size - 5) + word + b"\x00" * 100
    assert Fingerprints.of([word], SECRET).spans(data) == [(size - 5, size - 5 + len(word))]


def test_a_fingerprint_holds_no_word_and_fits_under_one_secret_alone() -> None:
    word = b"bluefin-7731"
    found = Fingerprints.of([word], SECRET)
    assert b"bluefin" not in msgspec.json.encode(found.prints)
    assert found.prints != Fingerprints.of([word], b"other" * 8).prints
    read = msgspec.json.decode(msgspec.json.encode(found.prints), type=tuple[Fingerprint, ...])
    assert Fingerprints(read, SECRET).holds(b"x" + word)
