"""Opening a workspace that is not there, cannot be written to, lost its database, or was left by a crash."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.conftest import Run
from tests.paths import ROOT
from tests.read_only_folder import sealed

READING = [
    ("stats",),
    ("search", "x"),
    ("recall", "x"),
    ("check",),
    ("export",),
    ("conversations", "list"),
    ("conversations", "rename", "x", "y"),
    ("memory", "list"),
    ("memory", "edit"),
    ("context", "x"),
    ("archive", "--list"),
    ("config", "set", "context.reserve", "700"),
]


READ_ALONE = (
    (("search", "heron"), "reeds"),
    (("recall", "owl barn"), "sleeps"),
    (("memory", "list"), "boiler"),
    (("stats",), "entries"),
    (("export", "--to", "jsonl"), "heron"),
    (("context", "Where is the heron?"), "heron"),
    (("conversations", "list"), "talk"),
    (("config", "show"), "model"),
    (("check",), ""),
)


@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words))
def test_what_only_reads_makes_no_workspace(bare: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    for more in ((), ("--workspace", str(tmp_path / "here"))):
        said = bare(*words, *more, "--json")
        assert said.status == 1, said.err
        assert said.json["error"]["code"] == "no_workspace"
        assert "palimpsest init" in said.json["error"]["hint"]
    assert not list((tmp_path / "here").iterdir())
    assert not (tmp_path / "home" / "palimpsest").exists()


def test_a_setting_of_the_screen_is_yours_where_there_is_no_workspace(bare: Run, tmp_path: Path) -> None:
    said = bare("config", "set", "screen.vim_keys", "true")
    assert said.status == 0, said.err
    (file,) = tmp_path.rglob("config.yaml")
    assert "vim_keys: true" in file.read_text(encoding="utf-8") and str(file) in said.err
    assert not (tmp_path / "home" / "palimpsest").exists()
    missing = bare("config", "set", "screen.vim_keys", "true", "--workspace", str(tmp_path / "here"), "--json")
    assert missing.json["error"]["code"] == "no_workspace", "a workspace that is named is meant"
    other = bare("config", "set", "context.reserve", "700", "--json")
    assert "--user sets it for all workspaces" in other.json["error"]["hint"]


def test_the_workspace_in_the_home_is_read_where_there_is_none_here(bare: Run) -> None:
    assert bare("remember", "The boiler is serviced in May.").status == 0
    assert "boiler" in bare("search", "boiler").out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in another way")
def test_a_workspace_that_cannot_be_written_to_is_read(
    run: Run, bare: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "talk.jsonl").write_text('{"id": "t1", "text": "The heron stands in the reeds."}\n')
    (tmp_path / "owl.txt").write_text("The owl sleeps in the barn.")
    run("import", str(root / "talk.jsonl"))
    run("archive", str(tmp_path / "owl.txt"))
    run("remember", "The boiler is serviced in May.")
    monkeypatch.setenv("PALIMPSEST_CONFIG_DIR", str(tmp_path / "none"))
    for words, _ in READ_ALONE:
        run(
            *words
        )  # what is imported now can be imported: the one that nothing may be written by may read nothing else
    run("-p", "hello", "--json")
    with sealed(root) as folder:
        monkeypatch.setenv("PALIMPSEST_CONFIG_DIR", str(folder.parent / "none"))
        for words, found in READ_ALONE:
            said = bare("--workspace", str(folder), *words)
            assert (said.status, found in said.out) == (0, True), (words, said.err)
        for words in (
            ("-p", "hello"),
            ("import", str(folder / "talk.jsonl")),
            ("conversations", "rename", "talk", "y"),
            ("remember", "x"),
        ):
            said = bare("--workspace", str(folder), *words, "--json")
            assert said.status == 1
            assert said.json["error"]["code"] in {"read_only", "os"}, said.out
            assert any(why in said.out for why in ("cannot be written to", "Permission denied", "not made here"))


def test_a_lost_database_is_told_loudly_as_long_as_its_packs_are_unknown(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "owl.txt").write_text("The owl sleeps in the barn.")
    run("archive", str(tmp_path / "owl.txt"))
    assert run("search", "owl").err.count("does not contain them:") == 0
    for path in (root / ".palimpsest").glob("cold.db*"):
        if path.is_file():
            path.unlink()
    for words in (("search", "owl"), ("-p", "hello"), ("search", "owl")):
        said = run(*words)
        assert "1 pack of archived pages is" in said.err
    checked = run("check", "--json")
    assert checked.status == 1
    (problem,) = checked.json["problems"]
    assert "27 characters of text that are not in the index" in problem["message"]
    assert "Nothing is missing" not in problem["message"]


CRASH = """
import os, sys, time
from pathlib import Path
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.records import EntryDraft, EntryKind
from memory.cold.sql import fetch
from memory.memory import Memory
from models.messages import Role
cold = Memory.open(Workspace(Path(sys.argv[1]))).cold
conversation = cold.new_conversation(Cleared("Birds"))
answer = cold.begin_answer(EntryDraft(conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE,
                                 role=Role.ASSISTANT, text=Cleared("")))
answer.write(Cleared("The heron stands"))
while not cold.read(lambda db: fetch(db, "SELECT 1 FROM chunks")):
    time.sleep(0.01)
os._exit(9)
"""


def test_after_a_crash_every_reader_has_what_was_shown(run: Run, root: Path) -> None:
    subprocess.run([sys.executable, "-c", CRASH, str(root)], cwd=ROOT, check=False)
    for words in (("export",), ("conversations", "show", "Birds")):
        said = run(*words)
        assert "The heron stands" in said.out
        assert "*(cut off here)*" in said.out
    (line,) = run("export", "--to", "jsonl").out.splitlines()
    assert json.loads(line)["palimpsest"]["meta"] == {"cut_off": True}
    assert run("search", "heron", "--json").json["hits"][0]["snippet"] == "The heron stands"
