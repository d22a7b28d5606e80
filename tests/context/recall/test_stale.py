"""What a speaker contradicted later is marked; what the model said is nobody's statement."""

from datetime import UTC, datetime

from context.assembly.view import BranchView
from context.recall.stale import superseded_statements
from foundation.trust import Citation, Trust
from models.messages import RecalledSpan

NOW = datetime(2026, 3, 20, tzinfo=UTC)


def said(text: str, ref: str, day: int, speaker: str) -> RecalledSpan:
    time = datetime(2026, 3, day, tzinfo=UTC)
    return RecalledSpan(text, Citation(kind="entry", ref=ref, speaker=speaker, time=time), Trust.EXACT, time=time)


def superseded(speaker: str) -> dict[str, str]:
    parts = [
        said("The ferry leaves at 9 am.", "e_1", 1, speaker),
        said("The ferry leaves at 10 am now.", "e_2", 2, speaker),
    ]
    return superseded_statements("When does the ferry leave?", NOW, BranchView(), parts)


def test_a_person_contradicts_what_they_said() -> None:
    assert superseded("user") == {"e_1": "2026-03-02"}


def test_what_the_model_said_is_not_superseded() -> None:
    assert superseded("assistant") == {}
