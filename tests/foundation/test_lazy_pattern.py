"""Patterns compiled on first use behave as compiled ones."""

import re

import pytest

from foundation.lazy_pattern import lazy_pattern


def test_it_matches_as_the_compiled_pattern_does() -> None:
    lazy = lazy_pattern(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert [match["word"] for match in lazy.finditer("One two")] == ["One", "two"]
    assert lazy.sub("x", "One 2") == "x 2"
    assert (lazy.pattern, lazy.groupindex) == (r"(?P<word>[a-z]+)", {"word": 1})


def test_it_is_compiled_when_it_is_used_and_not_before() -> None:
    lazy = lazy_pattern("(")
    with pytest.raises(re.error):
        lazy.match("a")
