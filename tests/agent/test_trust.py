"""A workspace that was made elsewhere: read until it is trusted, and nothing below it changes."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import apsw
import pytest

from context.shelf import WorkspaceShelf
from foundation.clock import SystemClock
from foundation.paths import Workspace, config_dir
from foundation.workspace_trust import TrustStore, trust_store
from memory import archive_conversation, recall_memory
from memory.cold.sql import run as execute
from memory.errors import ReadOnly
from memory.workspace_memory import Memory
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)

READING = [
    ("search", "lighthouse"),
    ("recall", "lighthouse"),
    ("context",),
    ("context", "what of the lighthouse?"),
    ("stats",),
    ("check",),
    ("memory", "list"),
    ("conversations", "list"),
    ("knowledge", "list"),
    ("archive", "--list"),
    ("config", "show"),
    ("doctor",),
]
WRITING = [
    ("-p", "hello"),
    ("remember", "that"),
    ("archive", "--repack"),
    ("check", "--repair"),
    ("import", "notes.jsonl"),
    ("knowledge", "add", "notes.md"),
    ("config", "set", "tools.most_calls", "9"),
    ("conversations", "delete", "CONVERSATION", "--yes"),
    ("conversations", "rename", "CONVERSATION", "another"),
    ("init",),
]


def tree(root: Path) -> str:
    """A hash of every name, mode, time and byte below a folder."""
    whole = hashlib.sha256()
    for path in sorted([root, *root.rglob("*")]):
        found = path.lstat()
        whole.update(f"{path.relative_to(root)} {found.st_mode} {found.st_mtime_ns} {found.st_size}".encode())
        if path.is_file() and not path.is_symlink():
            whole.update(path.read_bytes())
    return whole.hexdigest()


@pytest.fixture
def cloned(run: Run, bare: Run, root: Path, tmp_path: Path) -> Path:
    """A copy of a workspace that was made here, at another path."""
    assert run("-p", "the lighthouse keeper counts seven white ships").status == 0
    assert run("remember", "the lighthouse has 112 steps").status == 0
    there = tmp_path / "cloned"
    shutil.copytree(root, there, symlinks=True)
    return there


def conversation_of(root: Path) -> str:
    return next(path.stem for path in (root / "conversations").glob("*.md"))


@pytest.mark.parametrize("words", READING)
def test_an_untrusted_workspace_can_be_read_and_nothing_below_it_changes(
    cloned: Path, bare: Run, words: tuple[str, ...]
) -> None:
    before = tree(cloned)
    done = bare("--workspace", str(cloned), *words)
    assert tree(cloned) == before
    assert done.status in {0, 1}, done.err
    if words[0] in {"search", "recall", "stats", "memory", "conversations", "check"}:
        assert done.status == 0, done.err
        assert done.err.count("palimpsest trust") == 1, done.err


def test_a_search_of_an_untrusted_workspace_finds(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "search", "lighthouse", "--json")
    assert len(done.json["hits"]) >= 2


@pytest.mark.parametrize("words", WRITING)
def test_what_writes_to_an_untrusted_workspace_is_refused(cloned: Path, bare: Run, words: tuple[str, ...]) -> None:
    Path("notes.jsonl").write_text('{"text": "a"}\n')
    Path("notes.md").write_text("# Notes\n\nSeven ships.\n")
    words = tuple(conversation_of(cloned) if word == "CONVERSATION" else word for word in words)
    before = tree(cloned)
    done = bare("--workspace", str(cloned), *words)
    assert tree(cloned) == before
    assert done.status == 1, done.err + done.out
    assert f"palimpsest trust {cloned}" in done.err


def test_a_journal_that_holds_words_is_read_from_a_copy(cloned: Path, bare: Run, root: Path) -> None:
    """The newest words stand in cold.db-wal alone, as a kill leaves them."""
    with_journal = cloned.with_name("with-journal")
    memory = Memory.open(Workspace(root))
    conversation = memory.cold.latest()
    assert conversation is not None
    from foundation.privacy import clear
    from memory.cold import Draft, EntryKind
    from models.messages import Role

    memory.cold.append(
        Draft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=clear("a pelican at noon"),
        )
    )
    shutil.copytree(root, with_journal, symlinks=True)
    memory.close()
    assert (with_journal / ".palimpsest" / "cold.db-wal").stat().st_size > 0
    before = tree(with_journal)
    done = bare("--workspace", str(with_journal), "search", "pelican", "--json")
    assert tree(with_journal) == before
    assert len(done.json["hits"]) == 1
    assert "a pelican at noon" in json.dumps(done.json["hits"])


def test_nothing_is_left_in_the_temporary_folder(
    cloned: Path, bare: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    bare("--workspace", str(cloned), "search", "lighthouse")
    bare("--workspace", str(cloned), "-p", "hello")
    assert list(scratch.iterdir()) == []


def test_trust_lets_a_workspace_be_written_to(cloned: Path, bare: Run) -> None:
    done = bare("trust", str(cloned))
    assert done.status == 0
    assert "trusted now" in done.err
    done = bare("--workspace", str(cloned), "-p", "hello")
    assert done.status == 0, done.err
    assert "palimpsest trust" not in done.err
    assert str(cloned) in bare("trust", "--list").out
    assert bare("trust", "--remove", str(cloned)).status == 0
    assert bare("--workspace", str(cloned), "-p", "hello").status == 1


def test_hints_name_the_folder(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "doctor")
    assert f"palimpsest trust {cloned}" in done.out + done.err
    assert f"palimpsest trust --remove {cloned}" in bare("trust", str(cloned)).err
    Workspace(cloned).config.write_text("archive:\n  storage: s3://theirs/packs\n")
    skill = cloned / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words for the model.\n---\nDo it.\n")
    done = bare("--workspace", str(cloned), "context")
    assert "config.yaml (archive.storage), skills/theirs/SKILL.md are not in force" in done.err
    assert f"To allow it: palimpsest trust {cloned}" in done.err
    assert "`palimpsest trust`" not in done.out + done.err
    session = Memory.open(Workspace(cloned))
    shelf = WorkspaceShelf(session.workspace, session.hot, SystemClock(), session.access.has_skill)
    assert shelf.refresh() == ()  # what was so at opening, `access.notice` says
    later = skill.parent.parent / "later" / "SKILL.md"
    later.parent.mkdir()
    later.write_text(skill.read_text().replace("theirs", "later"))
    notices = shelf.refresh()
    session.close()
    assert any(f"`palimpsest trust {cloned}` allows it" in str(notice) for notice in notices)


@pytest.mark.parametrize("words", [("-p", "hello"), ("search", "x"), ("context",), ("config", "show")])
def test_what_is_not_in_force_is_said_in_one_sentence_with_one_command(
    run: Run, root: Path, words: tuple[str, ...]
) -> None:
    assert run("-p", "hello").status == 0
    Workspace(root).config.write_text("archive:\n  storage: s3://theirs/packs\nmodel: openai:theirs@http://theirs\n")
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil.\n---\nDo it.\n")
    done = run(*words)
    assert done.err.count("since you trusted") == 1, done.err
    assert done.err.count("palimpsest trust") == 1, done.err
    assert "config.yaml (archive.storage, model), skills/theirs/SKILL.md are not in force" in done.err


def test_a_setting_that_needs_no_trust_holds_and_nothing_is_said(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    Workspace(root).config.write_text("models:\n  retries: 7\n")
    assert run("config", "show", "models.retries").out.strip() == "7"
    assert "in force" not in run("-p", "hello").err


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_hint_for_a_link_names_the_folder(cloned: Path, bare: Run, tmp_path: Path) -> None:
    assert bare("trust", str(cloned)).status == 0
    (cloned / "MEMORY.md").unlink()
    (cloned / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("# Memory\n")
    assert f"palimpsest trust --allow MEMORY.md {cloned}" in bare("--workspace", str(cloned), "remember", "that").err


@pytest.mark.parametrize("words", [("context",), ("search", "lighthouse"), ("config", "show")])
def test_a_read_only_opening_says_one_sentence(cloned: Path, bare: Run, words: tuple[str, ...]) -> None:
    Workspace(cloned).config.write_text("archive:\n  storage: s3://theirs/packs\nmodel: openai:theirs@http://theirs\n")
    done = bare("--workspace", str(cloned), *words)
    expected = (
        f"{cloned} was not made here, or not by this version, so it is open read-only. "
        f"If it is yours: palimpsest trust {cloned}"
    )
    assert done.err.splitlines()[0] == expected
    assert done.err.count("palimpsest trust") == 1
    assert all("theirs" not in line for line in done.err.splitlines())
    assert "is left out" not in done.out


def test_a_folder_that_is_no_workspace_is_not_trusted(bare: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for name in ("plain", "gone"):
        done = bare("trust", str(tmp_path / name))
        assert done.status == 2
        assert f"There is no workspace in {tmp_path / name}." in done.err
    assert trust_store(os.environ).records() == ()


@pytest.mark.parametrize("damaged", [b"[]}", b"\xff\xfe", b'{"workspaces": [{"pa'])
def test_a_damaged_store_is_kept_beside_and_told(cloned: Path, bare: Run, damaged: bytes) -> None:
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    trusted.write_bytes(damaged)
    done = bare("trust", str(cloned))
    assert done.status == 0
    (kept,) = trusted.parent.glob("trusted.json.damaged-*")
    assert kept.read_bytes() == damaged
    assert done.err.count(kept.name) == 1
    assert kept.name not in bare("trust", str(cloned)).err
    assert [record.path for record in trust_store(os.environ).records()] == [str(cloned)]


def test_the_trust_of_a_search_is_its_own(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "search", "lighthouse", "--trust", "exact", "--json")
    assert done.status == 0
    assert {hit["trust"] for hit in done.json["hits"]} == {"exact"}
    assert not trust_store(os.environ).standing(Workspace(cloned)).trusted
    assert bare("--workspace", str(cloned), "--trust", "search", "lighthouse", "--trust", "exact").status == 0
    assert trust_store(os.environ).standing(Workspace(cloned)).trusted


def test_the_flag_trusts_and_runs(cloned: Path, bare: Run) -> None:
    assert bare("--workspace", str(cloned), "--trust", "-p", "hello").status == 0
    assert bare("--workspace", str(cloned), "-p", "hello").status == 0


def test_what_the_program_makes_is_trusted(bare: Run, tmp_path: Path) -> None:
    place = tmp_path / "made"
    kept = archive_conversation("seven white ships", "ships", place)
    assert recall_memory("ships", place) == "seven white ships"
    assert kept["pages"]
    assert bare("--workspace", str(place), "remember", "that").status == 0


def test_the_library_reads_an_untrusted_workspace_and_refuses_to_write_to_it(tmp_path: Path) -> None:
    place = tmp_path / "made"
    archive_conversation("seven white ships", "ships", place)
    there = tmp_path / "copied"
    shutil.copytree(place, there, symlinks=True)
    before = tree(there)
    assert recall_memory("ships", there) == "seven white ships"
    with pytest.raises(ReadOnly, match="not made here"):
        archive_conversation("another", "another", there)
    assert tree(there) == before


def test_another_folder_at_the_same_path_is_not_trusted(run: Run, root: Path, tmp_path: Path) -> None:
    """S6.7: trust was of a path."""
    assert run("-p", "hello").status == 0
    other = tmp_path / "other"
    shutil.copytree(root, other, symlinks=True)
    root.rename(tmp_path / "moved-away")
    other.rename(root)
    done = run("remember", "that")
    assert done.status == 1
    assert "not the folder that you trusted" in done.err


def test_another_store_in_the_same_folder_is_not_trusted(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    db = apsw.Connection(str(Workspace(root).database))
    execute(db, "UPDATE entries SET id = 'e_000000000000' WHERE seq = 1")
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    assert run("remember", "that").status == 1


def test_another_device_number_alone_does_not_end_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    store = json.loads(trusted.read_text())
    store["workspaces"][0]["device"] += 1
    trusted.write_text(json.dumps(store))
    assert run("remember", "that").status == 0
    store["workspaces"][0]["inode"] += 1
    trusted.write_text(json.dumps(store))
    assert run("remember", "that").status == 1


def test_a_list_of_paths_from_before_gets_its_identity_at_the_first_opening(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    trusted.write_text(json.dumps([str(root)]))
    assert run("remember", "that").status == 0
    (record,) = json.loads(trusted.read_text())["workspaces"]
    assert record["inode"] == root.stat().st_ino
    assert len(record["first_entries"]) == 1


def test_deleting_the_first_conversation_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    first = conversation_of(root)
    assert run("-p", "a second one").status == 0
    assert run("conversations", "delete", first, "--yes").status == 0
    assert run("remember", "that").status == 0


def test_a_kill_after_the_first_conversation_was_deleted_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    assert run("-p", "a second one").status == 0
    memory = Memory.open(Workspace(root))
    memory.vault.delete_conversation(1)
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    as_killed = trusted.read_bytes()
    memory.close()
    trusted.write_bytes(as_killed)  # as if the process had ended before it closed
    assert run("remember", "that").status == 0


def test_a_configuration_that_changes_under_us_is_not_in_force_until_it_is_trusted(run: Run, root: Path) -> None:
    """S6.7: what a `git pull` changes was in force at once."""
    assert run("-p", "hello").status == 0
    config = Workspace(root).config
    config.write_text("archive:\n  storage: s3://theirs/packs\n")
    done = run("config", "show", "archive.storage")
    assert done.out.strip() != "s3://theirs/packs"
    done = run("remember", "that")
    assert done.status == 0
    assert "config.yaml (archive.storage) is not in force" in done.err
    assert run("config", "set", "tools.result_chars", "900").status == 0
    assert run("config", "show", "archive.storage").out.strip() != "s3://theirs/packs"  # our own change is no consent
    assert run("trust").status == 0
    assert run("config", "show", "archive.storage").out.strip() == "s3://theirs/packs"


def test_a_setting_of_our_own_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    assert run("config", "set", "archive.storage", "ssh://mine/packs").status == 0
    assert run("config", "show", "archive.storage").out.strip() == "ssh://mine/packs"


def test_a_skill_that_changes_under_us_is_left_out_until_it_is_trusted(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words for the model.\n---\nDo it.\n")
    done = run("context", "--json")
    assert "Evil words" not in done.out
    assert "skills/theirs/SKILL.md is not in force" in done.err
    assert run("trust").status == 0
    assert "Evil words" in run("context", "--json").out


def test_the_chat_says_how_a_workspace_stands(run: Run, root: Path) -> None:
    assert "all that it brings is in force" in run("-p", "/trust").out
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words.\n---\nDo it.\n")
    done = run("-p", "/trust")
    assert "`skills/theirs/SKILL.md`" in done.out
    assert f"`palimpsest trust {root}`" in done.out


def test_writers_of_the_trust_store_do_not_lose_each_other(tmp_path: Path) -> None:
    import threading

    store = TrustStore(config_dir(os.environ))
    spaces = [Workspace(tmp_path / f"space-{n}") for n in range(24)]
    for space in spaces:
        space.root.mkdir()
    threads = [threading.Thread(target=store.trust, args=(space, "")) for space in spaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {record.path for record in store.records()} == {str(space.root) for space in spaces}


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM labels; END",
        "ALTER TABLE labels RENAME TO l; CREATE VIEW labels AS SELECT * FROM l",
    ],
)
def test_a_store_with_foreign_parts_is_refused_and_none_of_them_runs(run: Run, root: Path, sql: str) -> None:
    assert run("-p", "hello").status == 0
    db = apsw.Connection(str(Workspace(root).database))
    execute(db, sql)
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    done = run("remember", "that")
    done = run("search", "hello")
    assert done.status == 1
    assert "no version of this program made" in done.err
    assert trust_store(os.environ).standing(Workspace(root)).trusted
    assert run("check", "--repair").status in {0, 1}
    assert run("search", "hello").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_out_of_the_workspace_is_followed_once_it_is_allowed(run: Run, root: Path, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "memory.md").write_text("# Memory\n\n- the lighthouse has 112 steps\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(dotfiles / "memory.md")
    assert "112 steps" not in run("memory", "list").out
    assert run("remember", "that").status == 1
    assert run("trust", "--allow", "MEMORY.md").status == 0
    assert run("search", "112 steps", "--json").json["hits"]
    assert run("remember", "seven white ships").status == 0
    assert "seven white ships" in (dotfiles / "memory.md").read_text()
    assert (root / "MEMORY.md").is_symlink()
    assert any(".palimpsest/versions" in str(path) for path in Workspace(root).versions.rglob("*.md"))
    (dotfiles / "other.md").write_text("# Memory\n\n- a forged note\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(dotfiles / "other.md")
    assert "forged" not in run("memory", "list").out
    assert run("remember", "that").status == 1
