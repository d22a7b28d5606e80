"""Files and rows that hold what no program of ours wrote are passed over or refused, and end no command in a defect."""

import json
import sqlite3
from pathlib import Path

import pytest

from foundation.text.analysis import TOKEN
from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures

pytestmark = pytest.mark.timeout(60)
DEEP = b"[" * 100_000


def change(root: Path, sql: str, value: bytes) -> None:  # noqa: F811
    db = sqlite3.connect(root / ".palimpsest" / "cold.db")
    assert db.execute(sql, (value,)).rowcount > 0
    db.commit()
    db.close()


def test_a_field_that_is_nested_too_deeply_stops_no_command(run: Run, root: Path) -> None:  # noqa: F811
    run("-p", "the lighthouse keeper")
    change(root, "UPDATE entries SET meta = ? WHERE role = 'user'", DEEP)
    for words in (("search", "lighthouse"), ("recall", "lighthouse"), ("export",)):
        assert "defect" not in run(*words).err, words


def test_terms_that_do_not_fit_each_other_are_none(run: Run, root: Path) -> None:  # noqa: F811
    run("-p", "the lighthouse keeper")
    run("-p", "a ferry to the island")
    change(root, "UPDATE terms SET terms = ? WHERE entry = (SELECT min(entry) FROM terms)", b"one\ntwo\0\1")
    found = run("search", "ferry", "--json")
    assert found.status == 0, found.err
    assert found.json["hits"]


def test_a_line_of_the_history_that_is_nested_too_deeply_stops_no_deletion(run: Run, root: Path) -> None:  # noqa: F811
    run("-p", "the lighthouse keeper")
    (root / ".palimpsest" / "prompt-history.jsonl").write_bytes(DEEP + b"\n")
    (conversation,) = run("conversations", "list", "--json").json["conversations"]
    assert run("conversations", "delete", conversation["id"], "--yes").status == 0


def test_a_memory_file_that_is_too_large_is_a_problem_and_is_not_written_to(run: Run, root: Path) -> None:  # noqa: F811
    run("remember", "Tea at four.")
    (root / "memory").mkdir(exist_ok=True)
    (root / "memory" / "big.md").write_bytes(b"a" * 33_000_000)
    assert run("search", "tea").status == 0
    assert "split it" in run("memory", "list").err
    (root / "MEMORY.md").write_bytes(b"- a note\n" * 3_600_000)
    ran = run("remember", "more")
    assert ran.status == 1
    assert "split it" in ran.err
    assert (root / "MEMORY.md").stat().st_size == 32_400_000


def test_a_long_run_of_letters_is_one_token_that_keeps_no_way_back() -> None:
    import tracemalloc

    text = "a" * 1_000_000
    tracemalloc.start()
    (found,) = TOKEN.finditer(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.span() == (0, 1_000_000)
    assert peak < 20_000_000, f"{peak:,} bytes: 230 a letter with ordinary repeats"


def test_a_line_of_json_is_what_the_history_holds(tmp_path: Path) -> None:
    from tui.widgets.prompt.history import PromptHistory

    path = tmp_path / "prompt-history.jsonl"
    path.write_bytes(DEEP + b"\n" + json.dumps("hello").encode() + b"\n")
    history = PromptHistory(path)
    history.load()
    assert history.entries == ("hello",)
