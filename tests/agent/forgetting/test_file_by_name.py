"""A file is named by the end of its name, and goes whole; where only its name goes, the plan and the receipt say so."""

import re
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, Proposal
from foundation.paths import Workspace
from tests.agent.conftest import Run
from tests.agent.forgetting.entrances import page_texts
from tests.agent.sessions import open_session
from tests.loopback import Loopback
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

TEXT = "my private zqletter says zqaxolotls 77\n"


@pytest.fixture
def letters(run: Run) -> Path:
    """A folder of the current one with a letter, which was added."""
    folder = Path.cwd() / "kn5"
    folder.mkdir()
    (folder / "letter.txt").write_text(TEXT, "utf-8")
    assert run("knowledge", "add", "kn5").status == 0
    return folder


def is_kept(root: Path, word: str) -> bool:
    """Whether a file of the workspace or one of its pages, which are pictures, holds the word."""
    return bool(places_of(root, [word])) or any(word in text for text in page_texts(Workspace(root)))


def names(run: Run) -> list[str]:
    """The files that `knowledge list` shows."""
    return [memory["name"] for memory in run("knowledge", "list", "--json").json["memories"]]


def test_each_way_to_name_it_takes_the_whole_text(run: Run, letters: Path, root: Path) -> None:
    ways = ["letter.txt", "kn5/letter.txt", "./kn5/letter.txt", str(letters / "letter.txt"), "here/kn5/letter.txt"]
    for way in ways:
        run("knowledge", "add", "kn5")
        assert is_kept(root, "zqaxolotls")
        planned = run("forget", way, "--dry-run").out
        assert "the file kn5/letter.txt with its whole text" in planned, way
        assert f"to delete only this text: `palimpsest forget --words {way}`" in planned
        done = run("forget", way, "--yes")
        assert (done.status, names(run)) == (0, []), way
        assert not is_kept(root, "zqaxolotls"), way


def test_an_older_version_goes_with_it_also_by_its_id(run: Run, letters: Path, root: Path) -> None:
    (letters / "letter.txt").write_text("It says zqnewts now.\n", "utf-8")
    run("knowledge", "add", "kn5")
    assert is_kept(root, "zqaxolotls")
    (memory,) = run("knowledge", "list", "--json").json["memories"]
    planned = run("forget", memory["id"], "--dry-run", "--json").json
    assert (len(planned["conversations"]), planned["file_name"]) == (2, "")
    assert run("forget", memory["id"], "--yes").status == 0
    assert not is_kept(root, "zqaxolotls") and not is_kept(root, "zqnewts")


def test_several_files_of_that_name_are_named_and_none_goes(run: Run, letters: Path) -> None:
    other = letters.parent / "kn6"
    other.mkdir()
    (other / "letter.txt").write_text("Another one.\n", "utf-8")
    run("knowledge", "add", "kn6")
    refused = run("forget", "letter.txt", "--yes")
    assert refused.status == 2
    assert all(part in refused.err for part in ("means 2 files", "kn5/letter.txt (k_", "kn6/letter.txt (k_"))
    assert names(run) == ["kn5/letter.txt", "kn6/letter.txt"]
    assert run("forget", "kn6/letter.txt", "--yes").status == 0
    assert names(run) == ["kn5/letter.txt"]


def test_two_files_of_one_listed_name_are_told_apart(run: Run, letters: Path) -> None:
    other = letters.parent / "deep" / "kn5"
    other.mkdir(parents=True)
    (other / "letter.txt").write_text("Another one.\n", "utf-8")
    run("knowledge", "add", "deep/kn5")
    assert names(run) == ["kn5/letter.txt"] * 2
    assert run("forget", "kn5/letter.txt", "--yes").status == 2
    assert run("forget", "./deep/kn5/letter.txt", "--yes").status == 0
    assert names(run) == ["kn5/letter.txt"]


@pytest.mark.parametrize("phrase", ["letter", "kn5", "tter.txt"])
def test_a_word_of_a_name_is_a_phrase_and_the_text_that_stays_is_named(
    run: Run, letters: Path, root: Path, phrase: str
) -> None:
    (letters / "letter.txt").write_text("It says zqnewts now.\n", "utf-8")
    run("knowledge", "add", "kn5")
    run("-p", f"Where is the {phrase}?")
    (memory,) = run("knowledge", "list", "--json").json["memories"]
    sentence = f"`palimpsest forget {memory['id']}` forgets the text"
    planned = run("forget", "--words", phrase, "--dry-run")
    assert "Stays: the text of kn5/letter.txt." in planned.out and sentence in planned.out
    if phrase == "letter":
        assert "whole text" in run("forget", "letter.txt", "--dry-run").out
    shown = run("forget", phrase, "--dry-run", "--json").json
    assert shown["file_name"] == ""
    done = run("forget", phrase, "--yes")
    assert done.status == 0
    assert "[forgotten]" in done.out and sentence in done.out
    assert sentence in run("forget").out, "the last receipt says it, too"
    assert is_kept(root, "zqnewts")
    assert run("forget", memory["id"], "--yes").status == 0
    assert not is_kept(root, "zqnewts")
    assert names(run) == []


def test_a_plain_word_that_is_a_whole_name_is_a_phrase_unless_it_is_the_listed_name(run: Run, letters: Path) -> None:
    (letters / "Makefile").write_text("all:\n\techo zqnewts\n", "utf-8")
    run("knowledge", "add", "kn5")
    planned = run("forget", "Makefile", "--dry-run").out
    assert "Would be deleted of “Makefile”" in planned
    assert "Stays: the text of kn5/Makefile." in planned
    (letters.parent / "Makefile").write_text("all:\n\techo zqtoads\n", "utf-8")
    run("knowledge", "add", "Makefile")
    assert "Would be deleted of the file Makefile with" in run("forget", "Makefile", "--dry-run").out


def test_the_words_alone_can_be_named(run: Run, letters: Path) -> None:
    run("-p", "Where is letter.txt?")
    done = run("forget", "--words", "letter.txt", "--yes")
    assert done.status == 0
    assert "Stays: the text of kn5/[forgotten]" in done.out
    assert names(run) == ["kn5/[forgotten]"]
    assert run("forget", "--words", "", "--yes").status == 2
    assert run("forget", "kn5", "--words", "kn5", "--yes").status == 2


def test_a_note_is_named_by_the_end_of_its_name_too(run: Run, root: Path) -> None:
    note = root / "memory" / "zqpeople.md"
    note.write_text("# People\n\n- Ann is zqtall.\n", "utf-8")
    run("memory", "list")
    for way in ("zqpeople.md", "memory/zqpeople.md", str(note)):
        assert "all of memory/zqpeople.md" in run("forget", way, "--dry-run").out, way
    planned = run("forget", "zqpeople", "--dry-run").out
    assert "the text of memory/zqpeople.md" in planned and "`palimpsest forget memory/zqpeople.md`" in planned
    note.unlink()
    run("memory", "list")
    assert "in old versions of it;" in run("forget", "zqpeople.md", "--dry-run").out
    assert run("forget", "zqpeople.md", "--yes").status == 0
    assert places_of(root, ["zqtall"]) == {}


def test_the_comment_among_the_notes_is_no_second_readme(run: Run, root: Path, letters: Path) -> None:
    assert (root / "memory" / "README.md").exists()
    (letters / "README.md").write_text("A readme.\n", "utf-8")
    run("knowledge", "add", "kn5")
    assert "the file kn5/README.md with" in run("forget", "README.md", "--dry-run").out


def test_a_note_that_gets_another_name_is_named_in_the_receipt(run: Run, root: Path) -> None:
    (root / "memory" / "zqpeople.md").write_text("# People\n\n- Ann is tall.\n", "utf-8")
    run("memory", "list")
    done = run("forget", "zqpeople", "--yes")
    new = re.search(r"`palimpsest forget (memory/note-[0-9a-f]+\.md)` forgets the text", done.out)
    assert new is not None, done.out
    assert run("forget", new[1], "--yes").status == 0
    assert [path.name for path in (root / "memory").glob("*.md")] == ["README.md"]


@pytest.mark.parametrize("word", ["~nosuchuser/zqx", ".", "./zqx", "a\x00b.md", "..."])
def test_what_looks_like_a_path_and_is_none_is_a_phrase(run: Run, letters: Path, word: str) -> None:
    refused = run("forget", word, "--dry-run")
    assert refused.err.startswith(("Nothing to forget", "Too short")), refused.err


async def test_in_the_chat_the_plan_names_the_file_and_the_way_to_the_words(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    folder = tmp_path / "kn5"
    folder.mkdir()
    (folder / "letter.txt").write_text(TEXT, "utf-8")
    session = open_session(workspace, tmp_path, server)
    session.memory.knowledge.add([folder])
    outcome = await registry.run(session, "/forget letter.txt")
    assert isinstance(outcome, Proposal)
    assert "kn5/letter.txt with its whole text" in outcome.title
    assert any("`palimpsest forget --words letter.txt`" in sentence for _, sentence in outcome.rows)
    words = await registry.run(session, "/forget --words letter.txt")
    assert isinstance(words, Proposal)
    assert ("“letter.txt”" in words.title, [row for row in words.rows if row[0] == "goes"]) == (True, [])
    assert any("the text of kn5/letter.txt" in sentence for kind, sentence in words.rows if kind == "stays")
    (folder / "sub").mkdir()
    (folder / "sub" / "letter.txt").write_text("Another one.\n", "utf-8")
    session.memory.knowledge.add([folder])
    refused = await registry.run(session, "/forget letter.txt")
    assert isinstance(refused, CommandFailed)
    assert "means 2 files" in refused.error.message
    await session.close()
