"""Words that only copies hold: old versions, checkpoints, drafts, typed prompts, what is kept for other devices."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.services.drafts import Drafts
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.cold.sql import run as execute
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of
from tui.widgets.prompt.history import PromptHistory

pytestmark = pytest.mark.timeout(60)

WORD = "zqblombastic"


def removed_by_hand(run: Run, root: Path) -> None:
    run("remember", f"{WORD} one")
    run("memory", "list")
    (root / "MEMORY.md").write_text("# Notes\n", "utf-8")
    run("memory", "log")


def replaced_by_the_program(run: Run, root: Path) -> None:
    run("remember", f"{WORD} one")
    (note,) = run("memory", "list", "--json").json["notes"]
    assert run("memory", "edit", note["id"], "Another one").status == 0


def a_file_that_is_gone(run: Run, root: Path) -> None:
    note = root / "memory" / "c.md"
    note.write_text(f"# House\n\n- the {WORD} boiler\n", "utf-8")
    run("memory", "log")
    note.unlink()
    run("memory", "log")


def instructions(run: Run, root: Path) -> None:
    before = (root / "AGENTS.md").read_text("utf-8")
    (root / "AGENTS.md").write_text(f"{before}\nAsk {WORD}.\n", "utf-8")
    run("-p", "Hello.")
    (root / "AGENTS.md").write_text(before, "utf-8")
    run("-p", "Hello again.")


def a_checkpoint(run: Run, root: Path) -> None:
    folder = root.parent / "project"
    folder.mkdir()
    old = "".join(f"line {number} of {WORD}\n" for number in range(9)).encode()
    (folder / "a.txt").write_bytes(old)
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock(), (folder,))
    checkpoints.begin_turn("c_1", "e_1")
    change = FileChange(folder=folder, path="a.txt", expected=old, new=old + b"one line more\n")
    checkpoints.apply([change], "e_2", label="edit_file")


def a_prompt_and_a_draft(run: Run, root: Path) -> None:
    history = PromptHistory(Workspace(root).prompt_history)
    history.remember(f"/search {WORD}")
    history.write()
    Drafts(Workspace(root).drafts).save("new", f"as I said: {WORD}")


def a_kept_mirror(run: Run, root: Path) -> None:
    folder = root / ".palimpsest" / "versions"
    folder.mkdir(exist_ok=True)
    (folder / "conversations-c_1.md").write_text(f"a line of {WORD}\n", "utf-8")


def an_old_title(run: Run, root: Path) -> None:
    run("-p", "Hello.")
    (root.parent / "place").mkdir()
    assert run("sync", "add", str(root.parent / "place"), "--no-encrypt").status == 0
    memory = Memory.open(Workspace(root), SystemClock())

    def put(db: apsw.Connection) -> None:
        sql = "INSERT INTO sync_values (conversation, field, value, clock, device) VALUES (1, '', ?, 1, 'd_far')"
        execute(db, sql, (f"About {WORD}".encode(),))

    memory.cold.write(put)
    memory.close()


def in_other_letters(run: Run, root: Path) -> None:
    (root / "MEMORY.md").write_text("- zqBlomBAStic one\n", "utf-8")
    run("memory", "log")
    (root / "MEMORY.md").write_text("", "utf-8")
    run("memory", "log")


WAYS: dict[Callable[[Run, Path], None], str] = {
    removed_by_hand: "earlier versions of your files",
    replaced_by_the_program: "earlier versions of your files",
    a_file_that_is_gone: "earlier versions of your files",
    instructions: "earlier versions of your files",
    a_checkpoint: "checkpoints of files that tools changed",
    a_prompt_and_a_draft: "typed prompts",
    a_kept_mirror: "copies from before a change",
    an_old_title: "rows of the database, such as an old title or label",
    in_other_letters: "earlier versions of your files",
}


@pytest.mark.parametrize("leave", WAYS, ids=lambda leave: leave.__name__)
def test_they_are_found_and_go(run: Run, root: Path, leave: Callable[[Run, Path], None]) -> None:
    leave(run, root)
    shown = run("forget", WORD, "--dry-run", "--json")
    assert shown.status == 0, shown.err
    assert WAYS[leave] in shown.json["copies"]
    assert "Only copies contain it: " in run("forget", WORD, "--dry-run").out
    done = run("forget", WORD, "--yes")
    assert (done.status, "no occurrences left in Palimpsest's files" in done.out) == (0, True), done.err
    assert places_of(root, [WORD, "zqBlomBAStic"]) == {}
    again = run("forget", WORD, "--yes")
    assert (again.status, "nothing contains this text" in again.err) == (1, True)
    assert run("check").status == 0


def test_a_note_that_is_gone_is_forgotten_by_its_name(run: Run, root: Path) -> None:
    a_file_that_is_gone(run, root)
    assert "lines in old versions of it; the file no longer exists" in run("forget", "memory/c.md", "--dry-run").out
    assert run("forget", "memory/c.md", "--yes").status == 0
    assert places_of(root, [WORD]) == {}
    assert run("forget", "memory/c.md", "--yes").status == 1


def test_files_of_the_persons_own_are_named_and_never_denied(run: Run, root: Path) -> None:
    (root / "AGENTS.md").write_text(f"Ask {WORD}.\n", "utf-8")
    refused = run("forget", WORD, "--yes")
    assert (refused.status, "AGENTS.md contains it and is your own file" in refused.err) == (1, True)
    assert "nothing contains this text" not in refused.err


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_notes_that_cannot_be_read_are_named(run: Run, root: Path, encoding: str) -> None:
    (root / "MEMORY.md").write_bytes(f"- {WORD} é\n".encode(encoding))
    refused = run("forget", WORD, "--yes")
    assert (refused.status, "Not searched: " in refused.err, "MEMORY.md" in refused.err) == (1, True, True)
    assert "MEMORY.md contains it and is your own file" in refused.err
    run("-p", f"I said {WORD}.")
    done = run("forget", WORD, "--yes")
    assert (done.status, "Not changed, because this file is your own: MEMORY.md" in done.out) == (0, True), done.err
    assert "MEMORY.md" in done.out.splitlines()[-1], "and why it was not read"


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_notes_that_are_no_file_are_named(run: Run, root: Path, kind: str) -> None:
    (root / "MEMORY.md").unlink()
    if kind == "folder":
        (root / "MEMORY.md").mkdir()
    else:
        (root.parent / "mine.md").write_text(f"- {WORD}\n", "utf-8")
        (root / "MEMORY.md").symlink_to(root.parent / "mine.md")
    refused = run("forget", WORD, "--yes")
    assert (refused.status, "Not searched: " in refused.err) == (1, True), refused.err


def test_other_files_beside_the_notes_do_not_keep_a_job_open(run: Run, root: Path) -> None:
    (root / "memory" / "list.txt").write_text(WORD, "utf-8")
    run("-p", f"I said {WORD}.")
    done = run("forget", WORD, "--yes")
    assert (done.status, "memory/list.txt" in done.out) == (0, True), done.err


def test_a_command_without_a_screen_fails_where_nothing_is_found(run: Run) -> None:
    refused = run("-p", "/forget zqnowhere")
    assert (refused.status, "nothing contains this text" in refused.err) == (1, True)


def test_accents_are_the_same_composed_and_decomposed(run: Run, root: Path) -> None:
    composed = "zqZoëlümp Straße"
    run("-p", unicodedata.normalize("NFD", composed))
    run("-p", composed.upper())
    assert run("forget", composed, "--yes").status == 0
    left = places_of(root, [unicodedata.normalize("NFD", "zqZoëlümp"), "zqZoëlümp", "ZQZOËLÜMP"])
    assert left == {}


def test_the_names_of_folders_are_looked_through(run: Run, root: Path) -> None:
    (root / "memory" / "zqskwelf-2.md").write_text("- zqskwelf lives here\n", "utf-8")
    run("memory", "log")
    assert run("forget", "zqskwelf", "--yes").status == 0
    assert [path for path in root.rglob("*") if "zqskwelf" in path.name] == []


def test_a_file_of_notes_is_forgotten_with_its_file(run: Run, root: Path) -> None:
    note = root / "memory" / "house.md"
    note.write_text(f"# House\n\n- {WORD}\n", "utf-8")
    assert run("forget", "memory/house.md", "--yes").status == 0
    assert not note.exists()
    assert places_of(root, [WORD]) == {}
    assert run("check").status == 0
