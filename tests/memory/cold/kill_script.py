"""Run as a process of its own: a warm interpreter that forks a writer for each line it reads, to be killed at will.

A writer prints `user ID` once an entry is committed, and `answer ID` once an answer is. Its parent prints
`started PID`, and `ended STATUS` when the writer is gone. With `early` as its second word it prints some milliseconds
before it commits: the fault that the test must see.
"""

import os
import sys
import time
from pathlib import Path

from foundation.privacy import Cleared
from memory.cold import answers
from memory.records import new_id
from tests.memory.cold.drafts import answered, open_store, said

REPLY = "The answer to {id}, word by word. "


def say(line: str) -> None:
    """In one system call, so that a kill cannot cut it."""
    os.write(1, f"{line}\n".encode())


def reply(entry_id: str) -> str:
    """What is answered to that entry: known from its id, so that a reader can tell what should stand there."""
    return REPLY.format(id=entry_id) * 8


def session(path: Path, *, early: bool) -> None:
    """A conversation without end."""
    answers.BATCH_SECONDS = 0.0005  # so that kills land among the chunks too
    cold = open_store(path)
    cold.recover()
    conversation = cold.latest() or cold.new_conversation()
    leaf = conversation.leaf
    while True:
        id_ = new_id("e")
        if early:
            say(f"user {id_}")
            time.sleep(0.02)
        entry = cold.append(said(conversation.seq, "question", leaf, id=id_))
        if not early:
            say(f"user {id_}")
        text = reply(entry.id)
        answer = cold.begin_answer(answered(conversation.seq, "", entry.seq, meta={"to": entry.id}))
        for start in range(0, len(text), 40):
            answer.write(Cleared(text[start : start + 40]))
            time.sleep(0.0002)
        leaf = answer.finish(Cleared(text), meta={"to": entry.id}).seq
        say(f"answer {entry.id}")


def main() -> None:
    path = Path(sys.argv[1])
    import filelock  # noqa: F401 — loaded once, for all writers
    import zstandard  # noqa: F401

    for _ in sys.stdin:
        writer = os.fork()
        if writer == 0:
            session(path, early="early" in sys.argv)
        say(f"started {writer}")
        _, status = os.waitpid(writer, 0)
        say(f"ended {status}")


if __name__ == "__main__":
    main()
