"""Stores with values far larger than any text of ours, by a stranger or an older version: sizes are looked at first."""

import json
import sys
from pathlib import Path

import apsw
import pytest

from tests.hostile.measured import initialised, palimpsest
from tests.loopback import Loopback, chat

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="memory is measured with wait4"),
]
MOST_MB = 120
LARGE = 96 * 2**20


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A workspace with one conversation from 2020: a question and an answer."""
    folder, file = tmp_path / "room", tmp_path / "birds.jsonl"
    lines = [
        {"id": "asked", "role": "user", "text": "Where is the heron?", "time": "2020-01-02T03:04:05Z"},
        {"id": "said", "role": "assistant", "text": "By the water.", "time": "2020-01-02T03:04:09Z"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    initialised(folder)
    assert palimpsest(folder, "import", str(file)).status == 0
    return folder


def changed(room: Path, sql: str, *values: object) -> None:
    db = apsw.Connection(str(room / ".palimpsest" / "cold.db"))
    for name in ("clear", "analyse"):  # what triggers of ours may name
        db.create_scalar_function(name, lambda *_: None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(sql, values)
    db.close()


def test_tool_arguments_of_96_mb_are_not_read_when_their_conversation_goes_on(room: Path) -> None:
    """As 0.3.0 stored them."""
    call = '{"tool_calls":[{"id":"c","name":"search_memory","arguments":"' + "x" * LARGE + '"}]}'
    changed(room, "UPDATE entries SET meta = ? WHERE role = 'assistant'", call.encode())
    del call
    with Loopback() as server:
        server.answers_all(lambda _: chat("I see."))
        model = f"openai:m@{server.address}/v1"
        goes_on = palimpsest(room, "--model", model, "-r", "birds", "-p", "and then?")
        assert "By the water." in server.posts[-1].body.decode()
    assert (goes_on.status, goes_on.out.strip()) == (0, "I see."), goes_on.err
    shown = palimpsest(room, "conversations", "show", "birds")
    assert "By the water." in shown.out
    found = palimpsest(room, "search", "water", "--json")
    assert "By the water." in found.out
    for ended in (goes_on, shown, found):
        assert ended.peak_mb < MOST_MB, ended


def test_a_zeroblob_in_the_place_of_a_text_is_not_archived(room: Path) -> None:
    changed(room, "UPDATE entries SET body = zeroblob(?), packed = 0, chars = ? WHERE role = 'assistant'", LARGE, LARGE)
    for words in (["--dry-run"], []):
        ended = palimpsest(room, "archive", "--growing", "--older-than", "30d", *words)
        assert ended.status == 1, ended
        assert "is larger than archive.max_file_mb: not archived." in ended.err
        assert "said" in ended.err
        assert ended.peak_mb < MOST_MB, ended
    kept = apsw.Connection(str(room / ".palimpsest" / "cold.db"), flags=apsw.SQLITE_OPEN_READONLY)
    assert kept.execute("SELECT octet_length(body) FROM entries WHERE role = 'assistant'").fetchone() == (LARGE,)
    assert kept.execute("SELECT body IS NULL FROM entries WHERE role = 'user'").fetchone() == (1,)  # the other left
    kept.close()


def test_a_body_that_its_characters_cannot_take_is_not_read(room: Path) -> None:
    changed(room, "UPDATE entries SET body = zeroblob(?), packed = 0 WHERE role = 'assistant'", LARGE)
    shown = palimpsest(room, "conversations", "show", "birds")
    assert "damaged" in shown.out + shown.err
    assert "heron" in shown.out
    assert shown.peak_mb < MOST_MB, shown
