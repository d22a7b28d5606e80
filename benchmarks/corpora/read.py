"""A corpus by its path, whatever its format."""

import json
from pathlib import Path
from typing import Any

from benchmarks.corpora.chitchat import chitchat, is_chitchat
from benchmarks.corpora.corpus import Corpus, NotThis
from benchmarks.corpora.faq import faq, pages
from benchmarks.corpora.madial import is_madial, madial
from benchmarks.corpora.squad import is_squad, squad
from benchmarks.corpora.talk import is_locomo, is_realtalk, is_talks, locomo, realtalk, talks

FORMATS = (
    "LoCoMo's (locomo10.json), REALTALK's (a chat's JSON, or the folder of them), SQuAD's (cmrc2018_dev.json), "
    "MADial-Bench's (…-dialogue.json with …-memory.json beside it), the chit-chat dataset's (dataset.json), "
    "or pages of a FAQ (POD, reStructuredText, text)"
)


def read_corpus(path: Path) -> Corpus:
    """The corpus at a path. Raises NotThis, with a sentence, where it is in none of the formats."""
    if not path.exists():
        raise NotThis(f"{path} does not exist.")
    try:
        corpus = _of_folder(path) if path.is_dir() else _of_file(path)
    except (OSError, UnicodeDecodeError) as error:
        raise NotThis(f"{path} cannot be read: {error}.") from error
    if corpus is None:
        raise NotThis(f"{path} is in none of the formats that are known.", f"They are {FORMATS}.")
    if not any(store.questions for store in corpus.stores):
        raise NotThis(f"{path} holds no question.", f"The formats are {FORMATS}.")
    return corpus


def _of_file(path: Path) -> Corpus | None:
    if path.suffix not in {".json", ".jsonl"}:
        return faq(path) if pages(path) else None
    found = _values(path)
    if len(found) == 1:
        if is_locomo(found[0]):
            return locomo(found[0], path)
        if is_realtalk(found[0]):
            return realtalk({path: found[0]})
        if is_talks(found[0]):
            return talks(found[0])
        if is_squad(found[0]):
            return squad(found[0], path)
        if is_chitchat(found[0]):
            return chitchat(found[0], path)
    return madial(found, path) if found and is_madial(found) else None


def _of_folder(path: Path) -> Corpus | None:
    files = sorted(path.glob("*.json"))
    if not files:
        return faq(path)
    found = {each: _values(each) for each in files}
    chats = {each: values[0] for each, values in found.items() if len(values) == 1 and is_realtalk(values[0])}
    if chats:
        return realtalk(chats)
    named = [(each, values) for each, values in found.items() if values and is_madial(values)]
    whole = [(each, values) for each, values in named if each.stem.endswith("dialogue")] or named
    return madial(whole[0][1], whole[0][0]) if whole else None


def _values(path: Path) -> list[Any]:
    """The file's one JSON value, or that of each of its lines. Raises NotThis."""
    text = path.read_text("utf-8-sig")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError as error:
        first = error
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError:
        raise NotThis(f"{path} is no JSON: {first}.") from first
