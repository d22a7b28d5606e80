"""Talk in sessions, with questions that name the turns which answer them: LoCoMo and REALTALK.

LoCoMo (github.com/snap-research/locomo, data/locomo10.json, CC BY-NC 4.0): a list of samples, each `conversation` with
`session_1`, `session_1_date_time`, … and `qa`; a turn is `{speaker, dia_id, text}`. Category 5 is adversarial: it asks
of one speaker what the other said, and the right answer is that nothing is there.

REALTALK (github.com/danny911kr/REALTALK, a file a chat): `name`, `session_1`, `session_1_date_time`, … and `qa` beside
each other; a turn is `{speaker, dia_id, clean_text, date_time}`.

An `evidence` that names several turns in one string is read as several (`D8:6; D9:17`), a slip of the pen is mended
where it is plain (`D:11:26`), and what names no turn of the conversation is left out: a question without any is not
asked.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpora.corpus import ADVERSARIAL, Asked, Corpus, NotThis, Store, Turn

LOCOMO = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": ADVERSARIAL}
REALTALK = {"1": "multi-hop", "2": "temporal", "3": "commonsense"}

_TURN = re.compile(r"D:?(\d+):(\d+)")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_REALTALK_TIME = "%d.%m.%Y, %H:%M:%S"


def is_locomo(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and all(_has(each, "conversation", "qa") for each in found)


def is_realtalk(found: Any) -> bool:
    return _has(found, "session_1", "qa")


def locomo(found: list[dict[str, Any]], path: Path) -> Corpus:
    """A store a sample."""
    stores = tuple(
        _store(str(sample.get("sample_id", number)), sample["conversation"], sample["qa"], LOCOMO, path)
        for number, sample in enumerate(found, start=1)
    )
    return Corpus(name="LoCoMo", stores=stores, categories=LOCOMO)


def realtalk(chats: dict[Path, dict[str, Any]]) -> Corpus:
    """A store a file."""
    stores = tuple(_store(path.stem, chat, chat["qa"], REALTALK, path) for path, chat in chats.items())
    return Corpus(name="REALTALK", stores=stores, categories=REALTALK)


def is_talks(found: Any) -> bool:
    return _has(found, "conversations") and all(_has(each, "sessions", "questions") for each in found["conversations"])


def talks(found: dict[str, Any]) -> Corpus:
    """Our own Chinese talks (talks_zh.json), all in one store."""
    turns: list[Turn] = []
    questions: list[Asked] = []
    for talk in found["conversations"]:
        for session in talk["sessions"]:
            began = datetime.fromisoformat(session["time"]).replace(tzinfo=UTC)
            turns.extend(
                Turn(
                    id=f"{talk['id']} {turn['id']}",
                    conversation=talk["id"],
                    text=turn["text"],
                    speaker=turn["speaker"],
                    time=(began + timedelta(minutes=number)).isoformat(),
                )
                for number, turn in enumerate(session["turns"])
            )
        questions.extend(
            Asked(
                text=asked["question"],
                category=ADVERSARIAL if asked["category"] == "unanswerable" else asked["category"],
                evidence=tuple(f"{talk['id']} {turn}" for turn in asked["evidence"]),
            )
            for asked in talk["questions"]
        )
    return Corpus(name="talks-zh", stores=(Store(name="talks", turns=tuple(turns), questions=tuple(questions)),))


def _store(
    name: str, sessions: dict[str, Any], qa: list[dict[str, Any]], categories: dict[str, str], path: Path
) -> Store:
    try:
        turns = tuple(_turns(sessions))
        questions = tuple(_questions(qa, {turn.id for turn in turns}, categories))
    except (KeyError, TypeError, ValueError) as error:
        raise NotThis(f"{path} looks like talk in sessions, but {name} cannot be read: {error!r}.") from error
    return Store(name=name, turns=turns, questions=questions)


def _turns(sessions: dict[str, Any]) -> Iterator[Turn]:
    number = 1
    while f"session_{number}" in sessions:
        began = str(sessions.get(f"session_{number}_date_time", ""))
        for turn in sessions[f"session_{number}"]:
            text = turn.get("text") or turn.get("clean_text") or ""
            if text.strip():  # a picture alone says nothing
                yield Turn(
                    id=turn["dia_id"],
                    conversation=f"session {number}",
                    text=text,
                    speaker=turn["speaker"],
                    time=_iso(str(turn.get("date_time") or began)),
                )
        number += 1


def _iso(words: str) -> str:
    for form in (_LOCOMO_TIME, _REALTALK_TIME):
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return ""


def _questions(qa: list[dict[str, Any]], known: set[str], categories: dict[str, str]) -> Iterator[Asked]:
    for each in qa:
        category = categories.get(str(each["category"]), str(each["category"]))
        named = [_TURN.findall(str(one)) for one in each.get("evidence") or []]
        ids = dict.fromkeys(f"D{int(session)}:{int(turn)}" for some in named for session, turn in some)
        evidence = tuple(one for one in ids if one in known)
        if category == ADVERSARIAL:
            yield Asked(text=each["question"], category=category)
        elif evidence:
            yield Asked(text=each["question"], category=category, evidence=evidence)


def _has(found: Any, *keys: str) -> bool:
    return isinstance(found, dict) and all(key in found for key in keys)
