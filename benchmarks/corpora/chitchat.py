"""Months of a real person's chats with strangers, and questions that they might ask of them later.

The chats are the BYU PCC lab's chit-chat dataset (MIT; Myers, Etchart and Fulda 2020), dataset.json of the package
chitchat-dataset: an object of chats, each `messages`, a list of turns that are lists of `{text, timestamp, sender}`.
The questions are this project's own (chitchat_questions.json), written from the chats alone. Sailor's were looked at
while the ranking was weighed. Kyle's were held back until it was done, and no signal may be made for them: what is
found of his is what one may expect of talk that nobody has seen.

A person's chats in which two spoke are one store, a chat a conversation; a message is a turn, in bursts as people type.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import ADVERSARIAL, Asked, Corpus, NotThis, Store, Turn

CATEGORIES = {
    "mine": "what the person said",
    "theirs": "what the other one said",
    "several": "what stands in several places",
    "when": "a date or time",
    ADVERSARIAL: "what nobody said",
}
QUESTIONS = Path(__file__).with_name("chitchat_questions.json")

_SHORT = 8  # characters of a chat's id that tell it from the others


def is_chitchat(found: Any) -> bool:
    if not isinstance(found, dict) or not found:
        return False
    first = next(iter(found.values()))
    return isinstance(first, dict) and isinstance(first.get("messages"), list)


def chitchat(chats: dict[str, Any], path: Path, questions: Path = QUESTIONS) -> Corpus:
    """A store a person. Raises NotThis where the file has not the chats that the questions are of."""
    people = json.loads(questions.read_text("utf-8"))["people"]
    try:
        stores = tuple(_store(chats, each) for each in people)
    except (KeyError, TypeError) as error:
        raise NotThis(f"{path} looks like the chit-chat dataset, but a chat cannot be read: {error!r}.") from error
    for store in stores:
        known = {turn.id for turn in store.turns}
        if not known.issuperset(each for asked in store.questions for each in asked.evidence):
            raise NotThis(f"{path} lacks the chats that {questions.name} asks about.")
    return Corpus(name="chit-chat", stores=stores, categories=CATEGORIES)


def _store(chats: dict[str, Any], asked: dict[str, Any]) -> Store:
    person, turns = asked["person"], list[Turn]()
    for name, chat in chats.items():
        said = [message for burst in chat["messages"] for message in burst]
        speakers = {message["sender"] for message in said}
        if person in speakers and len(speakers) > 1:
            turns.extend(_turns(name[:_SHORT], said, {person: asked["name"]}))
    return Store(
        name=asked["name"],
        turns=tuple(sorted(turns, key=lambda turn: turn.time)),
        questions=tuple(
            Asked(text=each["question"], category=each["category"], evidence=tuple(each["evidence"]))
            for each in asked["questions"]
        ),
    )


def _turns(chat: str, said: list[dict[str, Any]], names: dict[str, str]) -> list[Turn]:
    return [
        Turn(
            id=f"{chat}:{number}",
            conversation=chat,
            text=message["text"],
            speaker=names.get(message["sender"], ""),
            time=message["timestamp"],
        )
        for number, message in enumerate(said)
        if message["text"].strip()
    ]
