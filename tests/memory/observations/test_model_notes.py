"""The strict reading of a model's notes."""

import json
from datetime import UTC, datetime

import pytest

from memory.observations.model_notes import read_notes
from memory.observations.observation import Importance
from memory.observations.original import Original
from memory.records import EntryKind
from models.messages import Role

TEXT = "We keep SQLite for the queue of jobs, on port 8417."


@pytest.mark.parametrize(
    ("role", "importance"), [(Role.USER, Importance.DECISION), (Role.ASSISTANT, Importance.INFORMATION)]
)
def test_only_the_person_decides(role: Role, importance: Importance) -> None:
    original = Original(
        seq=7,
        ref="e_original",
        conversation=1,
        kind=EntryKind.MESSAGE,
        role=role,
        time=datetime(2026, 3, 14, tzinfo=UTC),
        text=TEXT,
    )
    note = {"entry": 1, "type": "decision", "importance": "decision", "title": TEXT}
    read = read_notes(json.dumps({"observations": [note]}), [original])
    assert read.made[7].importance is importance
