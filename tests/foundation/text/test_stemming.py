"""English stems are those of the Snowball project, of which the program has its own copy for speed."""

import string

from hypothesis import given
from hypothesis import strategies as st
from snowballstemmer.english_stemmer import EnglishStemmer

from foundation.text.stemming import bare_stem
from foundation.text.word_forms import IRREGULAR, spellings

_ENDINGS = ["", "s", "es", "ed", "ing", "ly", "er", "ies", "ization", "fulness", "ement", "able", "ically", "ogist"]

_EXCEPTIONS = """
    gener commun arsen past univers later emerg organ inter generate communion arsenal paste pasta university latera
    emergent organic internal interval sky news howe atlas cosmos bias andes inning outing canning herring earring
    evening proceed exceed succeed ski idle gentle ugly early only single die lie tie dying hop hope add egg off yes
    youth boyish
""".split()  # noqa: SIM905 — a list of them fills a screen


_DIFFERENT = {"howes", "proceedly", "exceedly", "succeedly"}
"""No words: giving them their published stems would make every store renew its terms."""


def test_every_word_of_the_tables_in_every_form_has_its_published_stem() -> None:
    published = EnglishStemmer()
    words = {*IRREGULAR, *IRREGULAR.values(), *(word for row in spellings() for word in row), *_EXCEPTIONS}
    for word in {f"{word}{ending}" for word in words for ending in _ENDINGS} - _DIFFERENT:
        assert bare_stem(word) == published.stemWord(word)


@given(st.text(string.ascii_lowercase, max_size=12), st.sampled_from(_ENDINGS))
def test_any_letters_have_their_published_stem(start: str, ending: str) -> None:
    word = start + ending
    assert word in _DIFFERENT or bare_stem(word) == EnglishStemmer().stemWord(word)
