"""SQuAD's format: which passage answers the question?

CMRC 2018 (github.com/ymcui/cmrc2018, squad-style-data/cmrc2018_dev.json, CC BY-SA 4.0) and its kin: `data`, a list of
articles, each with `paragraphs` of a `context` and its `qas`. A paragraph is a conversation of one passage. Questions
marked `is_impossible` have no evidence.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import ADVERSARIAL, Asked, Corpus, NotThis, Store, Turn

CATEGORIES = {"passage": "which passage answers it"}


def is_squad(found: Any) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("data"), list):
        return False
    return all(isinstance(each, dict) and "paragraphs" in each for each in found["data"])


def squad(found: dict[str, Any], path: Path) -> Corpus:
    """All passages in one store."""
    turns: list[Turn] = []
    questions: list[Asked] = []
    try:
        for paragraph in (each for article in found["data"] for each in article["paragraphs"]):
            name = str(paragraph.get("id", len(turns)))
            turns.append(Turn(id=name, conversation=name, text=paragraph["context"]))
            questions.extend(_questions(paragraph, name))
    except (KeyError, TypeError) as error:
        raise NotThis(
            f"{path} looks like SQuAD's format, but passage {len(turns)} cannot be read: {error!r}."
        ) from error
    name = "CMRC" if "cmrc" in path.name.casefold() else path.stem
    return Corpus(
        name=name,
        stores=(Store(name=name, turns=tuple(turns), questions=tuple(questions)),),
        categories=CATEGORIES,
    )


def _questions(paragraph: dict[str, Any], name: str) -> Iterator[Asked]:
    for each in paragraph["qas"]:
        answers = tuple(dict.fromkeys(answer["text"] for answer in each.get("answers") or []))
        evidence = () if each.get("is_impossible") else (name,)
        category = "passage" if evidence else ADVERSARIAL
        yield Asked(text=each["question"], category=category, evidence=evidence, answers=answers if evidence else ())
