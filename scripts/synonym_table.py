"""Makes foundation/text/data/synonyms.zst anew, with MiniLM and two lists of words that the project does not keep.

    python -m scripts.synonym_table WORDS WORDNET MINILM

WORDS: English words a line each, the most frequent first (wordfreq's list was used). WORDNET: a folder of WordNet's
data.* files: what it has in small letters is a word, the rest are names. MINILM: a folder of benchmarks.minilm_onnx.
A change of stems asks for a new table.
"""

import argparse
import re
from pathlib import Path

import numpy as np

from foundation.text import synonyms
from foundation.text.analysis import term_list
from foundation.text.stopwords import is_weak
from foundation.text.synonyms import MOST, Synonym, encode_table
from models.embed.open import open_embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

LEAST = 0.5  # cosine: below it words merely go together
VOCABULARY = 12_000
TARGET = Path(synonyms.__file__).parent / "data" / "synonyms.zst"


def common_words(wordnet: Path) -> set[str]:
    """The terms of all words that WordNet has in small letters."""
    found = set[str]()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith("  "):  # the licence
                continue
            fields = line.split("|")[0].split()
            for place in range(int(fields[3], 16)):
                word = re.sub(r"\(.*\)", "", fields[4 + 2 * place])
                if word.isalpha() and word.islower():
                    found.update(term_list(word))
    return found


def vocabulary(listed: list[str], common: set[str]) -> dict[str, str]:
    """Terms, each with the word that stands for it: its most frequent."""
    found: dict[str, str] = {}
    for word in listed:
        if word.isascii() and word.isalpha() and len(word) >= 3:
            some = term_list(word)
            if len(some) == 1 and some[0] in common and not is_weak(some[0]):
                found.setdefault(some[0], word)
        if len(found) == VOCABULARY:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", type=Path)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("minilm", type=Path)
    given = parser.parse_args()
    found = vocabulary(given.words.read_text("utf-8").split(), common_words(given.wordnet))
    embedder = open_embedder(f"onnx:{given.minilm}", settings=EmbedSettings(), models=ModelSettings(), env={})
    assert embedder is not None
    terms, vectors = list(found), embedder.embed(list(found.values()))
    table: dict[str, list[Synonym]] = {}
    for place, term in enumerate(terms):
        near = vectors @ vectors[place]
        near[place] = 0
        best = [other for other in np.argsort(-near)[:MOST].tolist() if near[other] > LEAST]
        table[term] = [Synonym(terms[other], float(((near[other] - LEAST) / (1 - LEAST)) ** 0.5)) for other in best]
    TARGET.write_bytes(encode_table(table))
    print(f"{len(terms)} terms, {sum(map(len, table.values()))} synonyms, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
