"""Each window has a draft of its own, and a draft whose window has ended goes to the next one."""

from pathlib import Path

import pytest

from agent.services.drafts import DRAFTS_AT_MOST, NEW, Draft, Drafts
from agent.services.window_drafts import WindowDrafts


def test_a_draft_of_an_open_window_is_not_offered_to_another(tmp_path: Path) -> None:
    first, second = WindowDrafts(tmp_path), WindowDrafts(tmp_path)
    first.save("c_1", "half a thought 半")
    assert second.load("c_1") == Draft()
    first.release()
    assert second.load("c_1").text == "half a thought 半"
    assert first.load("c_1") == Draft()


def test_what_a_second_window_writes_and_deletes_leaves_the_draft_of_the_first(tmp_path: Path) -> None:
    first, second = WindowDrafts(tmp_path), WindowDrafts(tmp_path)
    first.save(NEW, "the first's")
    second.save(NEW, "the second's", "e_1")
    assert Drafts(tmp_path).load(NEW).text == "the first's"
    second.save(NEW, "")
    assert [path.name for path in tmp_path.glob("*.md")] == ["new.md"]
    second.save(NEW, "the second's")
    first.release()
    second.release()
    third, fourth = WindowDrafts(tmp_path), WindowDrafts(tmp_path)
    assert (third.load(NEW).text, fourth.load(NEW).text) == ("the first's", "the second's")


def test_a_draft_that_was_never_taken_up_is_not_overwritten(tmp_path: Path) -> None:
    Drafts(tmp_path).save("c_1", "from before")
    WindowDrafts(tmp_path).save("c_1", "typed before the draft was restored")
    assert WindowDrafts(tmp_path).load("c_1").text == "from before"


def test_a_draft_that_was_sent_leaves_no_file_and_no_lock(tmp_path: Path) -> None:
    window = WindowDrafts(tmp_path)
    window.save("c_1", "half")
    assert len(list((tmp_path / "locks").iterdir())) == 1
    window.save("c_1", "")
    assert not list(tmp_path.glob("*.md"))
    assert not list((tmp_path / "locks").iterdir())


def test_a_conversation_has_a_limit_of_drafts(tmp_path: Path) -> None:
    for number in range(DRAFTS_AT_MOST):
        WindowDrafts(tmp_path).save("c_1", f"thought {number}")
    with pytest.raises(OSError, match="this conversation has 20 drafts"):
        WindowDrafts(tmp_path).save("c_1", "one too many")


def test_a_draft_is_read_where_no_lock_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Drafts(tmp_path).save("c_1", "half")

    def refuse(_: Path) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("agent.services.window_drafts.make_private_folder", refuse)
    assert WindowDrafts(tmp_path).load("c_1").text == "half"
