"""A deletion on the command line, what is told beside it, and what goes on around it."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.services.archive_older import archive_older
from foundation.paths import Workspace
from memory.archive.vault import Vault
from memory.cold.sql import run as execute
from memory.memory import Memory
from memory.records import Conversation
from tests.agent.cli.test_archive_maintenance import OLD, age, talk
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def talked(run: Run, root: Path, tmp_path: Path) -> Run:
    for name in ("harbour", "island"):
        talk(run, tmp_path / f"{name}.jsonl", name, [OLD, OLD])
    return age(run, root, {"harbour": OLD, "island": OLD})


def test_a_second_time_it_says_that_it_is_done(talked: Run) -> None:
    assert talked("conversations", "delete", "harbour", "--yes").status == 0
    again = talked("conversations", "delete", "harbour", "--yes")
    assert (again.status, "was deleted on" in again.out) == (0, True)
    assert talked("conversations", "delete", "never", "--yes").status != 0


def test_what_a_kill_left_is_told_by_check_and_finished_by_deleting_again(
    talked: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert talked("archive", "--growing", "--older-than", "1d").status == 0

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Vault, "release", killed)
        talked("conversations", "delete", "harbour", "--yes")
    said = talked("check")
    assert said.status == 1
    assert "is not finished" in said.out
    assert "All is intact" not in said.out + said.err
    assert talked("conversations", "delete", "harbour", "--yes").status == 0
    assert talked("check").status == 0
    assert len(list((root / ".palimpsest" / "packs").glob("*.pages"))) == 1


def test_copies_from_before_a_change_go_with_it(talked: Run, root: Path) -> None:
    state = root / ".palimpsest"
    kept = (state / "damaged" / "20260101-000000" / "x.db", state / "versions" / "conversations-harbour-2026.md")
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"SQLite format 3\0" if path.suffix == ".db" else b"<!-- harbour -->\n" + words(talked))
    talked("conversations", "delete", "harbour", "--yes")
    assert not any(path.exists() for path in kept)


def words(talked: Run) -> bytes:
    return talked("conversations", "show", "harbour").out.encode()


def test_its_words_go_from_the_searchs_files_too(talked: Run, root: Path, tmp_path: Path) -> None:
    talk(talked, tmp_path / "secret.jsonl", "pangolin", [OLD])
    with contextlib.closing(Memory.open(Workspace(root))) as memory:
        memory.search.update()
    assert b"pangolin" in in_files_of(root)
    assert talked("conversations", "delete", "pangolin", "--yes").status == 0
    assert b"pangolin" not in in_files_of(root)
    assert list(Workspace(root).postings.glob("*.bin"))


def in_files_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in Workspace(root).postings.iterdir())


@pytest.mark.parametrize("when", ["listed", "drawn"])
def test_what_is_deleted_while_others_are_archived_is_passed_over(
    talked: Run, root: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    memory = Memory.open(Workspace(root))
    seq = memory.cold.conversation("harbour").seq
    gone = list[int]()

    def delete() -> None:
        if not gone:
            gone.append(seq)
            memory.cold.delete_conversation(seq)

    if when == "listed":
        at = memory.cold.conversation_at

        def conversation_at(one: int) -> Conversation:
            delete()
            return at(one)

        monkeypatch.setattr(memory.cold, "conversation_at", conversation_at)
    else:
        archive = memory.vault.archive_entries

        def archived(*given: object, **named: object) -> object:
            delete()
            return archive(*given, **named)

        monkeypatch.setattr(memory.vault, "archive_entries", archived)
    archive_older(memory, NOW)
    assert [row.label for row in memory.vault.archives()] == ["island"]
    assert [*memory.cold.check(), *memory.vault.check()] == []
    memory.close()


def test_an_export_marks_what_is_not_to_the_letter(talked: Run, root: Path) -> None:
    memory = Memory.open(Workspace(root))
    memory.cold.write(lambda db: execute(db, "UPDATE entries SET sha256 = ? WHERE id = 'harbour1'", (bytes(32),)))
    memory.close()
    said = talked("export", "harbour", "--to", "jsonl")
    first, second = (json.loads(line)["palimpsest"] for line in said.out.splitlines())
    assert (said.status, first.get("trust"), second.get("trust")) == (1, None, "approximate")
    assert "harbour1" in said.err
    said = talked("export", "harbour")
    assert (said.status, said.out.count("*(approximate:")) == (1, 1)
    assert "harbour1" in said.err


def test_an_export_gives_no_words_of_another_page(talked: Run, root: Path) -> None:
    assert talked("archive", "--growing", "--older-than", "1d").status == 0
    packs = sorted((root / ".palimpsest" / "packs").glob("*.pages"))
    packs[0].rename(packs[0].with_suffix(".x"))
    packs[1].rename(packs[0])
    packs[0].with_suffix(".x").rename(packs[1])
    said = talked("export", "--to", "jsonl")
    assert said.status == 1
    for line in map(json.loads, said.out.splitlines()):
        assert ("island" in line["text"], line["palimpsest"]["trust"]) == (False, "approximate") or line[
            "conversation"
        ] == "island"
        assert "harbour" not in line["text"] or line["conversation"] == "harbour"
    assert talked("check", "--repair").status == 0
    assert talked("export", "--to", "jsonl").status == 0


def test_what_was_typed_and_the_draft_go_with_the_conversation(run: Run, root: Path) -> None:
    from agent.services.drafts import PASTE_BEGINS, PASTE_ENDS, Drafts
    from tui.widgets.prompt.history import PromptHistory

    space = Workspace(root)
    history = PromptHistory(space.prompt_history)
    for text in ("the zorkmessage that I typed", "another one, of another talk"):
        history.remember(text, text.replace("zorkmessage", f"{PASTE_BEGINS}zorkmessage{PASTE_ENDS}"))
        history.write()
    first = run("-p", "the zorkmessage that I typed", "--json").json["conversation"]
    run("-p", "another one, of another talk")
    Drafts(space.drafts).save(first, "zorkdraft")
    Drafts(space.drafts).save(f"{first}-2", "the zorkdraft of a second window")
    said = run("conversations", "delete", first, "--yes")
    assert "1 typed prompt" in said.err
    assert not list(space.drafts.iterdir())
    left = PromptHistory(space.prompt_history)
    left.load()
    assert left.entries == ("another one, of another talk",)


def test_the_kept_text_of_a_deleted_archive_goes_unless_it_was_edited(run: Run, root: Path, tmp_path: Path) -> None:
    for name in ("alone", "edited"):
        (tmp_path / f"{name}.txt").write_text(f"The zork{name} file, to be forgotten.\n" * 40, "utf-8")
        assert run("archive", str(tmp_path / f"{name}.txt"), "--label", name).status == 0
    kept = Workspace(root).kept_texts
    (kept / "edited.md").write_text("my own words of zorkedited\n", "utf-8")
    memory = Memory.open(Workspace(root))
    ids = [conversation.id for conversation in memory.cold.conversations(kind="archive")]
    memory.close()
    assert len(ids) == 2
    for id_ in ids:
        assert run("conversations", "delete", id_, "--yes").status == 0
    assert [path.name for path in kept.iterdir()] == ["edited.md"]


def test_what_the_person_keeps_of_it_themselves_is_named(run: Run, root: Path) -> None:
    words = "the zorkwords that are remembered too"
    first = run("-p", words, "--json").json["conversation"]
    run("remember", words)
    said = run("conversations", "delete", first, "--yes")
    assert "MEMORY.md:" in said.err
    assert words in (root / "MEMORY.md").read_text()


def test_a_pasted_image_goes_with_the_only_conversation_that_attaches_it(run: Run, root: Path) -> None:
    from agent.services.drafts import Drafts

    space = Workspace(root)
    space.pasted_images.mkdir(parents=True)
    alone, shared = (space.pasted_images / f"clipboard-{digit * 12}.png" for digit in "ab")
    for path in (alone, shared):
        path.write_bytes(b"no picture")
    first = run("-p", f"what is in {alone} and in {shared}", "--json").json["conversation"]
    Drafts(space.drafts).save("another", f'@"{shared}" again')
    said = run("conversations", "delete", first, "--yes")
    assert "1 pasted image" in said.err
    assert list(space.pasted_images.iterdir()) == [shared]
