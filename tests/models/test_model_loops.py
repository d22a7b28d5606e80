"""A model in a loop is stopped; text that repeats for a reason is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from models.chat.text_tools.stream import wants_repetition
from models.repetition import RepetitionGuard, without_loop

CORPUS = Path(__file__).parent / "repetition_corpus"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def stopped_at(text: str, step: int) -> int | None:
    """Characters that were streamed until the model was stopped."""
    guard = RepetitionGuard()
    return next((at + step for at in range(0, len(text), step) if guard.feed(text[at : at + step])), None)


@pytest.mark.parametrize("step", [4, 60])
def test_every_loop_of_the_corpus_is_stopped_and_stored_once(step: int) -> None:
    texts = [row["text"] for row in rows("loops")]
    assert len(texts) == 40
    for text in texts:
        at = stopped_at(text, step)
        assert at is not None, text[:80]
        stored = without_loop(text[:at])
        assert text.startswith(stored) and len(stored) < at / 2
        assert stopped_at(stored, step) is None


@pytest.mark.parametrize("step", [4, 60, 100_000])
def test_no_honest_repetition_of_the_corpus_is_stopped(step: int) -> None:
    texts = rows("honest")
    assert len(texts) == 40
    stopped = [row for row in texts if stopped_at(row["text"], step) and not wants_repetition(row["question"])]
    assert not [row["text"][:60] for row in stopped]


def test_code_and_figures_without_end_are_stopped_too() -> None:
    assert stopped_at("```\n" + "0, " * 4_000, 4) is not None
