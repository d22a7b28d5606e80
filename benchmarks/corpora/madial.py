"""MADial-Bench: which memories of this person does the talk so far call for?

github.com/hejunqing/MADial-Bench, data/ch/MADial-Bench-zh-dialogue.json with MADial-Bench-zh-memory.json beside it (the
English ones likewise): JSON lines both. A dialogue has `dialogue` (lines such as `<Bart>:"…"`), `test-turn` (the lines
before the first are what was said so far), `relevant-id` and `user-id`; a line of the memories is an id and its
`{time, scene, emotion, event, user-id}`. What was said so far is the question. A store a person, as the paper's own
figures have it.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import Asked, Corpus, NotThis, Store, Turn

CATEGORIES = {"memory": "memories that the talk so far calls for"}

_MARKS = re.compile(r"^\s*(<[BE]OD>|<[^>]{1,40}>\s*:)\s*")


def is_madial(found: list[Any]) -> bool:
    """Whether the lines are its dialogues."""
    return all(isinstance(each, dict) and {"dialogue", "test-turn", "relevant-id"} <= each.keys() for each in found)


def memories_beside(path: Path) -> Path:
    """The file of memories that belongs to a file of dialogues."""
    return path.with_name(path.name.replace("dialogue", "memory"))


def madial(dialogues: list[dict[str, Any]], path: Path) -> Corpus:
    """A store a person. Raises NotThis where the memories are not beside the dialogues."""
    beside = memories_beside(path)
    if beside == path or not beside.exists():
        raise NotThis(f"{path} has dialogues, but no memories stand beside it.", f"Put {beside.name} into its folder.")
    try:
        memories = list(_memories(beside))
        users = dict.fromkeys(user for user, _ in memories)
        stores = tuple(
            Store(
                name=user,
                turns=tuple(turn for whose, turn in memories if whose == user),
                questions=tuple(_asked(each) for each in dialogues if str(each["user-id"]) == user),
            )
            for user in users
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotThis(f"{beside} is not in MADial-Bench's format: {error!r}.") from error
    return Corpus(name="MADial", stores=stores, categories=CATEGORIES)


def _memories(path: Path) -> Iterator[tuple[str, Turn]]:
    for line in path.read_text("utf-8").splitlines():
        for name, memory in json.loads(line or "{}").items():
            yield (
                str(memory["user-id"]),
                Turn(
                    id=str(name), conversation=str(name), text=memory["event"], time=f"{memory['time']}T00:00:00+00:00"
                ),
            )


def _asked(dialogue: dict[str, Any]) -> Asked:
    said = [_MARKS.sub("", line).strip().strip('"') for line in dialogue["dialogue"][: dialogue["test-turn"][0]]]
    evidence = tuple(str(each) for each in dialogue["relevant-id"])
    return Asked(text="\n".join(filter(None, said)), category="memory", evidence=evidence)
