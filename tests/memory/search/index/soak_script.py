"""Run as a process of its own: writes, deletes and searches for some seconds, among others that do the same.

Each entry has a word that nobody else says, and is looked for as soon as it is written. At the end it prints what it
left: its words with their entries, and how long it took from COMMIT to being found. An error ends it.
"""

import json
import random
import sys
import time
from pathlib import Path

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from memory.search import Query
from memory.search.index import index, maintenance
from models.messages import Role

LETTERS = "bcdfghjklmnpqrtvwx"
COMMON = ["tea", "coffee", "harbour", "lighthouse", "garden", "letter", "who", "when"]


class Writer:
    def __init__(self, memory: Memory, number: int) -> None:
        self.memory = memory
        self.number = number
        self.said = 0
        self.talks: dict[int, dict[str, int]] = {}  # by conversation: words and their entries
        self.found_ms: list[float] = []

    def step(self, dice: random.Random) -> None:
        deeds = [self.say, self.say_many, self.answer, self.ask, self.delete, self.update]
        dice.choices(deeds, [70, 6, 8, 10, 3, 3])[0](dice)

    def say(self, dice: random.Random) -> None:
        word, draft = self.draft(dice)
        self.keep(word, self.memory.cold.append(draft))
        began = time.perf_counter()
        self.is_found(word, times=1)
        self.found_ms.append((time.perf_counter() - began) * 1000)

    def say_many(self, dice: random.Random) -> None:
        drafts = [self.draft(dice) for _ in range(dice.randrange(5, 120))]
        for (word, _), entry in zip(drafts, self.memory.cold.append_many(draft for _, draft in drafts), strict=True):
            assert entry is not None
            self.keep(word, entry)
        self.is_found(drafts[-1][0], times=1)

    def answer(self, dice: random.Random) -> None:
        word, draft = self.draft(dice)
        answer = self.memory.cold.begin_answer(draft)
        self.is_found(word, times=0)
        self.keep(word, answer.finish(draft.text))
        self.is_found(word, times=1)

    def ask(self, dice: random.Random) -> None:
        self.memory.search.query(Query(text=" ".join(dice.choices(COMMON, k=3))))

    def delete(self, dice: random.Random) -> None:
        if len(self.talks) > 2:
            talk = dice.choice(list(self.talks))
            words = self.talks.pop(talk)
            self.memory.cold.delete_conversation(talk)
            for word in list(words)[:3]:
                self.is_found(word, times=0)

    def update(self, dice: random.Random) -> None:
        self.memory.search.update()

    def is_found(self, word: str, times: int) -> None:
        found = self.memory.search.query(Query(text=word)).total
        assert found == times, f"{word} was found {found} times, not {times}"

    def keep(self, word: str, entry: Entry) -> None:
        self.talks[entry.conversation_seq][word] = entry.seq

    def draft(self, dice: random.Random) -> tuple[str, EntryDraft]:
        if not self.talks or dice.random() < 0.05:
            self.talks[self.memory.cold.new_conversation().seq] = {}
        self.said += 1
        word = "z" + LETTERS[self.number] + "".join(LETTERS[int(digit)] for digit in str(self.said)) + "z"
        return word, EntryDraft(
            conversation=dice.choice(list(self.talks)),
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            speaker=dice.choice(["Ann", "Bo"]),
            text=as_given(" ".join([word, *dice.choices(COMMON, k=6)])),
        )


def main(root: str, number: str, seconds: str) -> None:
    index.DUE, maintenance.AT_ONCE = 60, 150  # segments come and go all the time
    memory = Memory.open(Workspace(Path(root)), SystemClock())
    writer, dice = Writer(memory, int(number)), random.Random(int(number))
    writer.ask(dice)  # opening the search is not what is timed
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        writer.step(dice)
    assert not memory.search.trouble, memory.search.trouble
    words = {word: entry for talk in writer.talks.values() for word, entry in talk.items()}
    print(json.dumps({"words": words, "said": writer.said, "found_ms": sorted(writer.found_ms)}))
    memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
